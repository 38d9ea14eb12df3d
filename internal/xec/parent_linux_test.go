package xec_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// ofKilled returns the connection of a program whose caller has been killed.
func ofKilled(t *testing.T, mode string) *net.TCPConn {
	t.Helper()
	l := listen(t)
	caller := exec.CommandContext(t.Context(), os.Args[0], l.Addr().String())
	caller.Env = append(os.Environ(), modeVar+"="+mode)
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	conn := accept(t, l).(*net.TCPConn)
	t.Cleanup(func() { _ = conn.Close() })
	if err := caller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = caller.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	return conn
}

// A program ends when the process that runs it is killed.
func TestRunEndsWithCaller(t *testing.T) {
	t.Parallel()
	if _, err := io.Copy(io.Discard, ofKilled(t, "run-hang")); err != nil {
		t.Errorf("the program continues: %v", err)
	}
}

// A program that outlives its caller finishes its work.
func TestRunOutlivesCaller(t *testing.T) {
	t.Parallel()
	conn := ofKilled(t, "run-answer")
	if _, err := conn.Write([]byte("go on")); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(conn); err != nil || string(said) != "go on" {
		t.Errorf("got %q, %v", said, err)
	}
}
