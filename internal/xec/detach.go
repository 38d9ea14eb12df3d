package xec

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a program that continues after this process and its terminal have ended, and
// returns its process number. Its output goes to log. Of c, only Name, Args, Dir, and Env are used.
func Detach(c Command, log *os.File) (pid int, err error) {
	found, err := c.program()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(found.path) //nolint:noctx // it outlives every context
	cmd.Args, cmd.Env = found.argv, found.env
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", c.Name, err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
