package samedir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/samedir"
)

func TestNow(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	path := filepath.Join(base, "above", "dir")
	other := filepath.Join(base, "other", "dir")
	if err := errors.Join(os.MkdirAll(path, 0o700), os.MkdirAll(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	d := samedir.At(path)
	want := func(what string, state samedir.State) {
		t.Helper()
		if got := d.Now(); got != state {
			t.Errorf("%s: %d, want %d", what, got, state)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	want("unchanged", samedir.Same)
	move(path, path+".old")
	want("gone", samedir.Same)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	want("another one", samedir.Replaced)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	move(path+".old", path)
	want("back", samedir.Same)
	above := filepath.Dir(path)
	move(above, above+".old")
	if err := os.Symlink(filepath.Dir(other), above); err != nil {
		t.Skip(err)
	}
	want("a link above", samedir.Elsewhere)
	if err := os.Remove(above); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(above+".old", above); err != nil {
		t.Fatal(err)
	}
	want("the same one through a link", samedir.Same)
	if none := samedir.At(""); none.Now() != samedir.Same {
		t.Error("no path has changed")
	}
}
