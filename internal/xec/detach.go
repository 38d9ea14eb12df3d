package xec

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a program that goes on when this process and its terminal are gone, and
// returns its number. What it prints goes to log. Of c only Name, Args, Dir and Env
// count.
func Detach(c Command, log *os.File) (pid int, err error) {
	path, err := c.Env.LookPath(c.Name)
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", c.Name, err)
	}
	cmd := exec.Command(path, c.Args...) //nolint:noctx // it is to outlive every context
	cmd.Dir = c.Dir
	cmd.Env = c.Env.inherited()
	cmd.Stdout, cmd.Stderr = log, log
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", c.Name, err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
