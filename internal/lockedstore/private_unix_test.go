//go:build unix

package lockedstore_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Another user who can read the lock file could hold the lock.
func TestLockIsPrivate(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	if err := store.Change(t.Context(), write(file("a", "1"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(lockName)))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the lock is %v, %v", info.Mode(), err)
	}
}
