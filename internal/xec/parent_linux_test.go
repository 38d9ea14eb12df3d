package xec_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A program ends when the process that runs it is killed.
func TestRunEndsWithCaller(t *testing.T) {
	t.Parallel()
	l := listen(t)
	caller := exec.CommandContext(t.Context(), os.Args[0], l.Addr().String())
	caller.Env = append(os.Environ(), modeVar+"=run-hang")
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	conn := accept(t, l)
	defer conn.Close()
	if err := caller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = caller.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the program continues: %v", err)
	}
}
