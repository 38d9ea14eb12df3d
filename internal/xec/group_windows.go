package xec

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: what the started program starts belongs to it too,
// and closing the job ends them all, even if this process is killed.
type group struct{ job windows.Handle }

func newGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	g := &group{job}
	if err := g.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		g.close()
		return nil, err
	}
	// Not in this console's group, so that Ctrl-C reaches this process alone,
	// which then ends its children.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
	return g, nil
}

// limit sets the limits of the job.
func (g *group) limit(flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	_, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return fmt.Errorf("limit job object: %w", err)
	}
	return nil
}

// outlive lets the group continue when this process is killed.
func (g *group) outlive() error { return g.limit(0) }

// adopt puts the started program into the job. What it started in the moment
// before is not in the job, which no program is fast enough to do.
func (g *group) adopt(p *os.Process) error {
	var assign error
	err := p.WithHandle(func(h uintptr) {
		assign = windows.AssignProcessToJobObject(g.job, windows.Handle(h))
	})
	if err == nil {
		err = assign
	}
	if err != nil {
		return fmt.Errorf("assign to job object: %w", err)
	}
	return nil
}

func (g *group) kill() error { return windows.TerminateJobObject(g.job, 1) }

func (g *group) close() { _ = windows.CloseHandle(g.job) }

// ask does nothing: there is no way to ask that every program understands.
func (g *group) ask() bool { return false }

// ownSession has nothing to do: the program has no console.
func ownSession(*exec.Cmd) {}

// detached lets the program outlive its parent's console.
func detached(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
