package itemsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/git/sidebranch"
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
	remote := &sidebranch.Remote{Fetch: "../hub.git"}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := a.add(store, remote); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := a.Check(store, remote); err != nil {
		t.Error(err)
	}
}

// Accounts and containers with other home directories use the same store, and each approves it for itself.
func TestApprovedByTwo(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	if err := os.Mkdir(filepath.Join(store, ".copse"), 0o700); err != nil {
		t.Fatal(err)
	}
	remote := &sidebranch.Remote{Fetch: "../hub.git"}
	one, other := Approved{Dir: userdir.Dir(filepath.Join(t.TempDir(), "stores"))}, Approved{Dir: userdir.Dir(filepath.Join(t.TempDir(), "stores"))}
	if err := one.add(store, remote); err != nil {
		t.Fatal(err)
	}
	if err := other.Check(store, remote); !errors.Is(err, ErrNotApproved) {
		t.Errorf("the approval of another one counts: %v", err)
	}
	if err := other.add(store, remote); err != nil {
		t.Fatal(err)
	}
	for i, a := range []Approved{one, other} {
		if err := a.Check(store, remote); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// An approval is for addresses, and the last ones remain.
func TestApprovedAddresses(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	if err := os.Mkdir(filepath.Join(store, ".copse"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := Approved{Dir: userdir.Dir(filepath.Join(t.TempDir(), "stores"))}
	to := func(i int) *sidebranch.Remote { return &sidebranch.Remote{Fetch: fmt.Sprintf("/srv/%d.git", i)} }
	if err := a.Check(store, to(0)); !errors.Is(err, ErrNotApproved) {
		t.Errorf("got %v", err)
	}
	if err := a.add(store, nil); err != nil {
		t.Fatal(err)
	}
	for i := range maxRemotes + 1 {
		if err := a.Check(store, to(i)); !errors.Is(err, ErrOtherAddress) {
			t.Errorf("%d: got %v", i, err)
		}
		if err := a.add(store, to(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxRemotes + 1 {
		if err := a.Check(store, to(i)); (err == nil) != (i > 0) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}
