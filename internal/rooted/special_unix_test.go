//go:build unix

package rooted_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/rooted"
)

// wantKind reads something that is not a file; the error comes at once, without a wait.
func wantKind(t *testing.T, r *rooted.Root, name, want string) {
	t.Helper()
	for _, err := range []error{second(r.Read(name, 10)), second(r.Open(name))} {
		special, ok := errors.AsType[*rooted.NotRegularError](err)
		if !ok || special.Kind != want {
			t.Errorf("%s: %v, want a %s", name, err, want)
		}
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", filepath.Join(root, "to-pipe")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pipe": "named pipe", "to-pipe": "named pipe", "dir": "directory", "inner": "directory", "abs-root": "directory"} {
		wantKind(t, r, name, want)
	}
	if _, err := r.ReadDir("pipe"); !errors.Is(err, rooted.ErrNotDir) {
		t.Errorf("a named pipe is listed: %v", err)
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "r") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip("no sockets here: ", err)
	}
	defer socket.Close()
	r, err := rooted.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantKind(t, r, "s", "socket")
}

func TestDevices(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	if err := os.Symlink("/dev/zero", filepath.Join(root, "zero")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read("zero", 10); !errors.Is(err, rooted.ErrOutside) {
		t.Errorf("a link to a device: %v", err)
	}
	dev, err := rooted.Open("/dev")
	if err != nil {
		t.Skip("no devices here: ", err)
	}
	defer dev.Close()
	wantKind(t, dev, "zero", "device")
}

// What becomes a named pipe between the look at it and the opening blocks nobody.
func TestSwapForPipe(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	path := filepath.Join(root, "swap.txt")
	done := make(chan error, 1)
	go func() {
		for range 500 {
			err := errors.Join(os.WriteFile(path+".new", []byte("a"), 0o600), os.Rename(path+".new", path), syscall.Mkfifo(path+".new", 0o600), os.Rename(path+".new", path))
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		if data, err := r.Read("swap.txt", 10); err == nil && string(data) != "a" {
			t.Fatalf("read %q", data)
		}
	}
}
