package userdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/copse-dev/copse/internal/userdir"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	d := userdir.Dir(filepath.Join(t.TempDir(), "a", "b"))
	for _, text := range []string{"one", "two"} {
		if err := d.Replace("x", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read("x", 10); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if len(d.List()) != 1 {
		t.Errorf("temporary files stay: %v", d.List())
	}
	if runtime.GOOS != "windows" {
		dir, _ := os.Stat(string(d))
		file, _ := os.Stat(d.Path("x"))
		if dir.Mode().Perm() != 0o700 || file.Mode().Perm() != 0o600 {
			t.Errorf("others can read: %v %v", dir.Mode(), file.Mode())
		}
	}
	if _, err := d.Read("x", 2); err == nil {
		t.Error("a file that is too large is read")
	}
}

// A directory that others can enter, or a link, is not used.
func TestOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a user's profile is the user's on Windows")
	}
	base := t.TempDir()
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, "x"), []byte("planted"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // the point
		t.Fatal(err)
	}
	readable := filepath.Join(base, "readable")
	if err := os.Mkdir(readable, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(readable, 0o755); err != nil { //nolint:gosec // the point
		t.Fatal(err)
	}
	for _, d := range []userdir.Dir{"", userdir.Dir(open), userdir.Dir(link), userdir.Dir(readable)} {
		if err := d.Replace("y", nil); !errors.Is(err, userdir.ErrUnusable) {
			t.Errorf("%s: written: %v", d, err)
		}
		if got, err := d.Read("x", 100); !errors.Is(err, userdir.ErrUnusable) {
			t.Errorf("%s: read %q, %v", d, got, err)
		}
		if len(d.List()) != 0 {
			t.Errorf("%s: listed", d)
		}
	}
}
