//go:build unix

package cachedfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/cachedfile"
)

func wantNotRegular(t *testing.T, path string, mode fs.FileMode, text string) {
	t.Helper()
	_, err := cachedfile.New(path, limit, upper).Get()
	irregular, ok := errors.AsType[*cachedfile.NotRegularError](err)
	if !ok || irregular.Mode&mode == 0 {
		t.Fatalf("Get() error = %v, want a NotRegularError of %v", err, mode)
	}
	if err.Error() != text {
		t.Errorf("Get() error = %q, want %q", err, text)
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	wantNotRegular(t, pipe, fs.ModeNamedPipe, "is a named pipe, not a regular file")
	wantNotRegular(t, os.DevNull, fs.ModeDevice, "is a device, not a regular file")

	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	wantNotRegular(t, socket, fs.ModeSocket, "is a socket, not a regular file")
}

func TestFileThatBecomesAPipeWhileItIsOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	f := cachedfile.New(path, limit, upper)
	f.OnOpen(func(int) {
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Error(err)
		}
	})
	_, err := f.Get()
	if _, ok := errors.AsType[*cachedfile.NotRegularError](err); !ok {
		t.Errorf("Get() error = %v, want a NotRegularError", err)
	}
}

func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two, link := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "link")
	write(t, one, "one")
	write(t, two, "two")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	f := cachedfile.New(link, limit, upper)
	wantGet(t, f, "ONE")
	if err := errors.Join(os.Remove(link), os.Symlink(two, link)); err != nil {
		t.Fatal(err)
	}
	wantGet(t, f, "TWO")
}
