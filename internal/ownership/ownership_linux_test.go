package ownership_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// What root creates in another user's directory is that user's, whatever was there before keeps its owner,
// and root's own directories stay root's.
func TestOwners(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	base := t.TempDir()
	home, link := filepath.Join(base, "home"), filepath.Join(base, "link")
	if err := os.MkdirAll(filepath.Join(home, "roots"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "kept"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, otheruser.UID, otheruser.UID); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home/.config/copse/", "link/by/link", "home/roots", "home/roots/below", "own/below"} {
		for range 2 {
			if err := ownership.MakeAll(filepath.Join(base, dir)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"home/.config/copse/log", "home/kept"} {
		f, err := ownership.Open(filepath.Join(base, name), os.O_WRONLY)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	for name, want := range map[string]uint32{
		"home/.config": otheruser.UID, "home/.config/copse": otheruser.UID, "home/by/link": otheruser.UID, "home/.config/copse/log": otheruser.UID,
		"home/roots": 0, "home/roots/below": 0, "home/kept": 0, "own/below": 0,
	} {
		info, err := os.Stat(filepath.Join(base, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != want || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s belongs to %d, not %d, with mode %s", name, stat.Uid, want, info.Mode())
		}
	}
	if ownership.MakeAll(filepath.Join(home, "kept", "x")) == nil || ownership.MakeAll(filepath.Join(home, "kept")) == nil {
		t.Error("a file is a directory")
	}
}
