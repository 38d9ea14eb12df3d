package control

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The socket returns after the directory is removed, as at the user's last logout, and another process
// cannot supervise beside it.
func TestRemoved(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "c") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	dir := filepath.Join(parent, "run")
	socket, err := take(dir, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(socket, nil, Options{}) }()
	for _, aside := range []string{dir + "1", dir + "2"} {
		if err := os.Rename(dir, aside); err != nil {
			t.Fatal(err)
		}
		err := errors.New("not asked")
		for deadline := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			err = NewClient(dir).alive(t.Context())
		}
		if err != nil {
			t.Fatal("the socket is gone:", err)
		}
		if _, err := Take(dir); !errors.Is(err, ErrTaken) {
			t.Errorf("another process supervises: %v", err)
		}
	}
	// What another process has taken in the meantime is its own.
	socket.mu.Lock()
	if err := os.Rename(dir, dir+"3"); err != nil {
		t.Fatal(err)
	}
	other, err := Take(dir)
	socket.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(socket.Close(), <-served); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, socketName)); err != nil {
		t.Error("the socket of another process is gone:", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}
