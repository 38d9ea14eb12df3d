package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
)

// inGit returns a store with two items in a worktree, and where it looks for others.
func inGit(t *testing.T) (*local.Store, location.Search) {
	t.Helper()
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	search := location.Search{Dir: root, Root: root, Shared: filepath.Join(root, ".git", "copse", "tic")}
	s := local.New(search, time.Now)
	t.Cleanup(func() { _ = s.Close() })
	_, err := s.Init(t.Context())
	must(t, err)
	for _, title := range []string{"one", "two"} {
		_, err = s.Create(t.Context(), item.Draft{Title: title})
		must(t, err)
	}
	return s, search
}

// A process that ended early leaves an incomplete store under another name. The items stay where they
// were, and the next call copies them.
func TestIncompleteSharedStore(t *testing.T) {
	t.Parallel()
	s, search := inGit(t)
	half := search.Shared + ".new"
	must(t, os.MkdirAll(filepath.Join(half, "items"), 0o700))
	for name, text := range map[string]string{"config.yml": "next_id: 1\n", "items/9.md": itemText("9")} {
		must(t, os.WriteFile(filepath.Join(half, filepath.FromSlash(name)), []byte(text), 0o600))
	}
	const want = "1 one, 2 two"
	if got, _ := titles(t, s); got != want {
		t.Errorf("got %q beside an incomplete store", got)
	}
	created, from, err := s.InitShared(t.Context())
	if err != nil || !created || from == "" {
		t.Fatalf("got %v, %q, %v", created, from, err)
	}
	if got, _ := titles(t, s); got != want || !s.Shared() {
		t.Errorf("the shared store has %q", got)
	}
	if _, err := os.Lstat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the incomplete store is left: %v", err)
	}
	if it, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil || it.ID != 3 {
		t.Errorf("the next item is #%d, %v", it.ID, err)
	}
}

// A shared store without a configuration is not made an empty one: its items, or those of the tree,
// would be lost from sight, and their numbers given out again.
func TestSharedWithoutConfig(t *testing.T) {
	t.Parallel()
	s, search := inGit(t)
	must(t, os.MkdirAll(search.Shared, 0o700))
	created, _, err := s.InitShared(t.Context())
	if _, refused := errors.AsType[*storage.StoreError](err); !refused || created {
		t.Errorf("got %v, %v", created, err)
	}
	if _, err := os.Lstat(filepath.Join(search.Shared, "config.yml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty store was made: %v", err)
	}
}

// Who works on an item is known in the shared store, too.
func TestSharedKeepsClaims(t *testing.T) {
	t.Parallel()
	s, _ := inGit(t)
	ada, bob := claim.WithAgent(t.Context(), itemtest.Agent("ada")), claim.WithAgent(t.Context(), itemtest.Agent("bob"))
	_, err := s.Claim(ada, storage.ClaimRequest{ID: 1})
	must(t, err)
	_, _, err = s.InitShared(t.Context())
	must(t, err)
	_, err = s.Claim(bob, storage.ClaimRequest{ID: 1})
	if _, held := errors.AsType[*storage.HeldError](err); !held {
		t.Errorf("a second agent got the item: %v", err)
	}
	_, err = s.Claim(ada, storage.ClaimRequest{ID: 1})
	must(t, err)
}
