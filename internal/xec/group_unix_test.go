//go:build unix

package xec_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

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

// A program with a grace is asked to end, and killed when that has passed.
func TestRunGrace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		want   string
	}{
		"ends":      {"trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done", time.Minute, "up\nbye\n"},
		"stubborn":  {"trap '' TERM; echo up; while :; do sleep 0.01; done", 50 * time.Millisecond, "up\n"},
		"not asked": {"trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done", 0, "up\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := shell(c.script)
			command.Grace, command.Timeout = c.grace, 3*time.Second
			res, err := xec.Run(t.Context(), command)
			if !errors.Is(err, context.DeadlineExceeded) || string(res.Stdout) != c.want {
				t.Errorf("got %q, %v", res.Stdout, err)
			}
		})
	}
}
