package lockedstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

func appendTo(text string) func([]byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) { return append(old, text...), nil }
}

func TestEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	for _, text := range []string{"a", "b"} {
		if err := lockedstore.EditPrivate(t.Context(), path, patience, appendTo(text)); err != nil {
			t.Fatal(err)
		}
	}
	refused := errors.New("refused")
	err := lockedstore.EditPrivate(t.Context(), path, patience, func([]byte) ([]byte, error) { return nil, refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "ab" {
		t.Errorf("file has %q", got)
	}
	if err := lockedstore.EditPrivate(t.Context(), dir, patience, appendTo("x")); err == nil {
		t.Error("a folder was edited")
	}
}

func TestEditFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	target, link := filepath.Join(dir, "real"), filepath.Join(home, "link")
	if err := os.WriteFile(target, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	if err := lockedstore.EditPrivate(t.Context(), link, patience, appendTo("b")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "ab" {
		t.Errorf("file has %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

// No file becomes larger than one that is read, and a larger one is not edited.
func TestEditLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "large")
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	edits := map[string]func(edit func([]byte) ([]byte, error)) error{
		"EditPrivate": func(edit func([]byte) ([]byte, error)) error {
			return lockedstore.EditPrivate(t.Context(), path, patience, edit)
		},
		"EditIn": func(edit func([]byte) ([]byte, error)) error {
			return lockedstore.EditIn(t.Context(), rooted.Dir{Wall: dir, Name: "."}, "large", patience, edit)
		},
	}
	for name, edit := range edits {
		err := edit(func([]byte) ([]byte, error) { return make([]byte, lockedstore.MaxEdit+1), nil })
		if err == nil || !strings.Contains(err.Error(), "is not changed: it would have 33554433 bytes") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != "a" {
			t.Errorf("%s: the file has %d bytes", name, len(got))
		}
	}
	if err := os.Truncate(path, lockedstore.MaxEdit+1); err != nil {
		t.Fatal(err)
	}
	for name, edit := range edits {
		err := edit(func([]byte) ([]byte, error) {
			t.Errorf("%s: a file that is too large is read", name)
			return nil, nil
		})
		if _, ok := errors.AsType[*regular.TooLargeError](err); !ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// EditIn follows no link, and EditPrivate makes a file that its user alone can read.
func TestEditIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	in := rooted.Dir{Wall: dir, Name: "."}
	if err := lockedstore.EditIn(t.Context(), in, "link", patience, appendTo("b")); !errors.Is(err, rooted.ErrOutside) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(target); string(got) != "a" {
		t.Errorf("the target has %q", got)
	}
	if err := lockedstore.EditPrivate(t.Context(), filepath.Join(dir, "private"), patience, appendTo("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "private")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
