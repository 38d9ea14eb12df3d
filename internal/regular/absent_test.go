package regular_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/regular"
)

// Only an error that says so means that a file is not there.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, gone := os.Lstat(filepath.Join(dir, "gone"))
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, below := os.Lstat(filepath.Join(dir, "file", "x"))
	for _, err := range []error{gone, below, fmt.Errorf("read: %w", gone)} {
		if !regular.Absent(err) || regular.Unseen(err) {
			t.Errorf("%v: nothing is there", err)
		}
	}
	for _, err := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EIO, syscall.ELOOP, syscall.ENOSPC} {
		if err := (&fs.PathError{Op: "open", Path: "x", Err: err}); regular.Absent(err) || !regular.Unseen(err) {
			t.Errorf("%v: want an error that leaves open whether the file exists", err)
		}
	}
	if regular.Unseen(nil) || regular.Unseen(fs.ErrInvalid) {
		t.Error("an error of copse is not one of the system")
	}
}
