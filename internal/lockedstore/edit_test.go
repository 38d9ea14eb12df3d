package lockedstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/lockedstore"
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
