//go:build unix

package netrc_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/netrc"
)

func TestReadDoesNotWaitForAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := netrc.Read(pipe); !errors.Is(err, netrc.ErrNotRegular) {
		t.Errorf("got %v, want ErrNotRegular", err)
	}
}

func TestReadWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	path := filepath.Join(t.TempDir(), "closed")
	write(t, path, "machine a login u password p")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := netrc.Read(path); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want a permission error", err)
	}
}
