//go:build unix

package xec_test

import (
	"errors"
	"os/exec"
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
