//go:build unix

package xec_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// A process outside the group is not killed with it, but it must not keep Run
// from returning.
func TestRunIsNotHeldUpByAnEscapedProcess(t *testing.T) {
	t.Parallel()
	l := listen(t)
	res, err := xec.Run(t.Context(), self(t, "parent-of-escaped", l.Addr().String()))
	if err != nil || string(res.Stdout) != "parent done\n" {
		t.Errorf("got %q and error %v, want the parent's output", res.Stdout, err)
	}
	_ = accept(t, l).Close() // which ends it
}

func TestRunKilledBySignal(t *testing.T) {
	t.Parallel()
	_, err := xec.Run(t.Context(), self(t, "suicide"))
	exit, ok := errors.AsType[*xec.ExitError](err)
	if !ok || exit.Code != -1 || exit.State != "signal: killed" {
		t.Errorf("error is %#v, want one that names the signal", err)
	}
}

// A program has a session of its own, and so no terminal: ssh with a question would be suspended.
func TestRunHasNoTerminal(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc to ask for a session")
	}
	res, err := xec.Run(t.Context(), shell("echo $$; cat /proc/$$/stat"))
	if err != nil {
		t.Fatal(err)
	}
	pid, stat, _ := strings.Cut(string(res.Stdout), "\n")
	_, rest, _ := strings.Cut(stat, ") ")
	if fields := strings.Fields(rest); len(fields) < 4 || fields[3] != pid {
		t.Errorf("the session of process %s is in %q", pid, rest)
	}
}
