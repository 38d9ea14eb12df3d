package lockedstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
)

// Replace writes nothing that Read refuses.
func TestReplaceWritesWhatReadReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "directory", "file")
	file := lockedstore.ForeignAt(path).AtMost(4)
	err := file.Replace(nil, []byte("12345"))
	if err == nil || !strings.Contains(err.Error(), "it would have 5 bytes; the limit is 4") {
		t.Errorf("a content above the limit: %v", err)
	}
	if _, err := os.Lstat(filepath.Dir(path)); err == nil {
		t.Error("a refused content creates the directory")
	}
	if err := errors.Join(file.Replace(nil, []byte("1234")), file.Replace([]byte("1234"), []byte("5678"))); err != nil {
		t.Error(err)
	}
	if file.Replace([]byte("5678"), []byte("12345")) == nil {
		t.Error("a content above the limit replaces another")
	}
	if data, err := file.Read(); err != nil || string(data) != "5678" {
		t.Errorf("%q, %v", data, err)
	}
}

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

// What a killed process left is private, and the next change removes it; what another
// process writes just now stays.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, left, used := filepath.Join(dir, "file"), filepath.Join(dir, ".copse-tmp-left"), filepath.Join(dir, ".copse-tmp-used")
	for _, name := range []string{path, left, used} {
		if err := os.WriteFile(name, []byte("one"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lock := flock.New(used)
	if locked, err := lock.TryLock(); !locked {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := lockedstore.Replace(path, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left behind is still there: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Error("a file in use was removed")
	}
}

// Files of a project stay in it.
func TestForeignIn(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	for _, escape := range rootedtest.Escapes(root) {
		path := escape
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, filepath.FromSlash(path))
		}
		if path == filepath.Join(root, "a.txt") {
			continue // cleaned, it is inside
		}
		file := lockedstore.ForeignIn(root, path)
		if data, err := file.Read(); err == nil {
			t.Errorf("%s: read %q", escape, data)
		}
		if err := file.Replace([]byte(rootedtest.Secret), []byte("overwritten")); err == nil {
			t.Errorf("%s was replaced", escape)
		}
	}
	for _, kept := range []string{"secret.txt", "outside/b.txt", "project-more/x.txt"} {
		if data, err := os.ReadFile(filepath.Join(filepath.Dir(root), kept)); err != nil || string(data) != rootedtest.Secret {
			t.Errorf("%s has %q, %v", kept, data, err)
		}
	}
	nothing := filepath.Join(root, "to-nothing")
	if err := os.Symlink("nothing", nothing); err != nil {
		t.Fatal(err)
	}
	if err := lockedstore.ForeignIn(root, nothing).Replace(nil, []byte("written")); err == nil || !strings.Contains(err.Error(), "symbolic link to nothing") {
		t.Errorf("a link to nothing: %v", err)
	}
	if to, err := os.Readlink(nothing); err != nil || to != "nothing" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	for name, real := range map[string]string{"dir/new/file.json": "dir/new/file.json", "to-a": "a.txt", "inner/b.txt": "dir/b.txt", "abs-file": "a.txt"} {
		file := lockedstore.ForeignIn(root, filepath.Join(root, filepath.FromSlash(name)))
		old, _ := file.Read()
		if err := file.Replace(old, []byte(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(real))); err != nil || string(data) != name {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// Another program that edits the same file loses next to nothing, and a link that is swapped
// meanwhile leads nowhere.
func TestReplaceWhileLinksSwap(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	dir, kept, link := filepath.Join(root, "swap"), filepath.Join(root, "kept"), filepath.Join(root, "link")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for range 500 {
			// A directory that appears in between is in the way.
			_ = os.Rename(dir, kept)
			_ = os.RemoveAll(dir)
			_ = os.Symlink(filepath.Join("..", "outside"), dir)
			_ = os.Rename(dir, link)
			_ = os.RemoveAll(dir)
			if err := errors.Join(os.Rename(kept, dir), os.Remove(link)); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, os.ErrNotExist) {
				done <- err
				return
			}
		}
		done <- nil
	}()
	file := lockedstore.ForeignIn(root, filepath.Join(dir, "b.txt"))
	for writes := 0; ; writes++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			outside := filepath.Join(filepath.Dir(root), "outside")
			if data, err := os.ReadFile(filepath.Join(outside, "b.txt")); err != nil || string(data) != rootedtest.Secret {
				t.Errorf("outside has %q, %v", data, err)
			}
			if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
				t.Errorf("outside has %v, %v", list, err)
			}
			t.Logf("%d writes", writes)
			return
		default:
		}
		old, err := file.Read()
		if err == nil && string(old) == rootedtest.Secret {
			t.Fatal("read from outside")
		}
		_ = file.Replace(old, []byte("ours"))
	}
}
