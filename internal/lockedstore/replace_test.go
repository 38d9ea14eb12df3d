package lockedstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/lockedstore"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "file")
	if err := lockedstore.Replace(path, nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := lockedstore.Replace(link, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if err := lockedstore.Replace(path, []byte("one"), []byte("three")); !errors.Is(err, lockedstore.ErrChanged) {
		t.Errorf("got %v", err)
	}
	data, err := os.ReadFile(path)
	info, _ := os.Lstat(path)
	if err != nil || string(data) != "two" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", data, info.Mode(), err)
	}
	if at, err := os.Lstat(link); err != nil || at.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is none any more")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
