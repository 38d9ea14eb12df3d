package lockedstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// theirs makes a directory that belongs to another account, below one that does, too.
func theirs(t *testing.T) string {
	t.Helper()
	otheruser.Need(t)
	home := filepath.Join(t.TempDir(), "home")
	dir := filepath.Join(home, "dir")
	for path := range map[string]bool{filepath.Dir(filepath.Dir(home)): true, filepath.Dir(home): true} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, dir} {
		if err := os.Chown(path, otheruser.UID, otheruser.UID); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// With sudo, what copse writes into the user's directory belongs to the user, and not to root: the user's own
// copse could not lock it, and an editor not change it. Only what root alone may read stays root's.
func TestRootLeavesFilesToTheUser(t *testing.T) {
	t.Parallel()
	dir := theirs(t)
	err := lockedstore.New(dir, "made/by/lock", patience).Change(t.Context(), func(tx *lockedstore.Tx) error {
		if err := tx.MakeDir("items"); err != nil {
			return err
		}
		return tx.Write(lockedstore.File{Name: "items/1.md", Data: []byte("x")}, lockedstore.File{Name: "token", Private: true, Secret: true}, lockedstore.File{Name: "ports", Private: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(client, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(client, otheruser.UID, otheruser.UID); err != nil {
		t.Fatal(err)
	}
	if err := lockedstore.Replace(client, nil, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{
		"made": otheruser.UID, "made/by": otheruser.UID, "made/by/lock": otheruser.UID, "items": otheruser.UID, "items/1.md": otheruser.UID,
		"mcp.json": otheruser.UID, "ports": otheruser.UID, "token": 0,
	} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != want {
			t.Errorf("%s belongs to %d, not %d", name, stat.Uid, want)
		}
	}
	otheruser.Do(t, func() {
		if err := lockedstore.New(dir, "made/by/lock", patience).Change(t.Context(), func(tx *lockedstore.Tx) error { return nil }); err != nil {
			t.Errorf("the user cannot use it: %v", err)
		}
	})
}

// The error about a lock of another account says whose it is. What root made with sudo, a command gives back.
func TestErrorsNameTheOwner(t *testing.T) {
	t.Parallel()
	for owner, want := range map[int]string{0: "chown -R 65534 ", 4242: "belongs to the account 4242"} {
		dir := theirs(t)
		store := lockedstore.New(dir, "claims/lock", patience)
		if err := store.Change(t.Context(), func(*lockedstore.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"claims/lock", "claims"} {
			if err := os.Chown(filepath.Join(dir, name), owner, owner); err != nil {
				t.Fatal(err)
			}
		}
		otheruser.Do(t, func() {
			err := store.Change(t.Context(), func(*lockedstore.Tx) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(dir, "claims")) || strings.Contains(err.Error(), "claims/lock`") {
				t.Errorf("got %v", err)
			}
		})
	}
}
