//go:build unix

package xec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is the process group whose leader is the started program. It has a session of its own: a program
// that opened the terminal of the caller's session, such as ssh with a question, would be suspended there.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) (*group, error) {
	ownSession(cmd)
	return &group{cmd}, nil
}

func (g *group) adopt(*os.Process) error { return nil }

// outlive lets the group continue when this process is killed, which it does by itself.
func (g *group) outlive() error { return nil }

// kill ends every process of the group. After the leader's end its number
// stays taken while a member lives; if none does, the kill finds nobody, as
// systems do not hand out a number again at once.
func (g *group) kill() error {
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func (g *group) close() {}

// ask asks every process of the group to stop, and reports whether the system can.
func (g *group) ask() bool {
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM)
	return true
}

// ownSession makes the program the leader of a session, and so of a group.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// detached lets the program outlive its parent's session.
func detached(cmd *exec.Cmd) { ownSession(cmd) }
