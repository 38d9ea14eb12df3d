package samedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A directory that gets the number of a removed one is another one.
func TestIdentity(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	for range 100 {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		before, err := identify(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if now, err := identify(path); err != nil || !now.same(before) {
			t.Fatalf("the same directory is %+v and %+v, %v", before, now, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // the kernel's clock is coarse
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		after, err := identify(path)
		if err != nil {
			t.Fatal(err)
		}
		if before.born != 0 && after.same(before) {
			t.Fatalf("another directory is %+v, too", after)
		}
		if before.born != 0 && after.inode == before.inode {
			return
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
