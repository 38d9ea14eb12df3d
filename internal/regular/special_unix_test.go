//go:build unix

package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/regular"
)

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	listener, listenErr := net.Listen("unix", socket)
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), listenErr, os.Symlink("/dev/zero", link)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for path, kind := range map[string]string{
		pipe: "named pipe", socket: "socket", link: "device", "/dev/zero": "device", "/dev/tty": "device",
	} {
		wantNotRegular(t, path, kind)
	}
}

// A pipe that replaces the file between the look and the opening is not waited for.
func TestFlagsDoNotWait(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(pipe, regular.Flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*regular.NotRegularError](regular.Check(info, 1)); !ok {
		t.Error("the pipe passes for a regular file")
	}
}

// A file that never answers, as on a network, keeps nobody waiting.
func TestReadAllHasDeadline(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	late := time.AfterFunc(20*time.Second, func() { _ = write.Close() }) // or the test would wait, too
	defer late.Stop()
	if _, err := regular.ReadAll(read, 1, 10); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("ReadAll error = %v, want a deadline", err)
	}
}

// A file larger than any memory is refused by its size, and a link counts as what it
// leads to.
func TestSparse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40), os.Symlink(path, link)); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{path, link} {
		_, err := regular.Read(path, 1<<20)
		if large, ok := errors.AsType[*regular.TooLargeError](err); !ok || large.Size != 1<<40 {
			t.Errorf("Read error = %v, want a TooLargeError", err)
		}
	}
}
