package cachedfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// A file in a directory is reached through the directory alone, whatever becomes of it.
func TestFileInADir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, outside, "secret")
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })

	f := cachedfile.NewIn(root, "f", limit, upper)
	f.SetClock(time.Hour) // so that an unchanged file is not opened
	if _, err := f.Get(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no file: %v", err)
	}
	write(t, filepath.Join(inside, "f"), "one")
	wantGet(t, f, "ONE")
	wantGet(t, f, "ONE")

	if err := errors.Join(os.Remove(filepath.Join(inside, "f")), os.Symlink("../out", filepath.Join(inside, "f"))); err != nil {
		t.Skip(err)
	}
	if got, err := f.Get(); err == nil {
		t.Fatalf("a link that points outside the folder gives %q", got)
	}
	if err := os.Remove(filepath.Join(inside, "f")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(inside, "f"), "two")
	wantGet(t, f, "TWO")
}
