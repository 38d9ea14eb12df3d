package itemsync

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/userdir"
)

// Processes that approve a store at the same time all succeed, and then it is approved.
func TestApprovedAtOnce(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	if err := os.Mkdir(filepath.Join(store, ".copse"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := Approved{Dir: userdir.Dir(filepath.Join(t.TempDir(), "stores"))}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := a.add(store); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !a.Has(store) {
		t.Error("the store is not approved")
	}
}
