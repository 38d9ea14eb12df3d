package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A claim that cannot be read, as that of another account, may hold its item.
func TestUnreadableClaim(t *testing.T) {
	t.Parallel()
	otheruser.ObeyModes(t)
	s, search := inGit(t)
	ada, bob := claim.WithAgent(t.Context(), itemtest.Agent("ada")), claim.WithAgent(t.Context(), itemtest.Agent("bob"))
	_, err := s.Claim(ada, storage.ClaimRequest{ID: 1})
	must(t, err)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(search.Shared), "claims", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v", files, err)
	}
	must(t, os.Chmod(files[0], 0))
	for what, call := range map[string]func() error{
		"claim":   func() error { _, err := s.Claim(bob, storage.ClaimRequest{ID: 1}); return err },
		"release": func() error { _, _, err := s.Release(bob, 1, false); return err },
		"finish":  func() error { _, err := s.Update(bob, 1, item.Patch{Status: new("done")}); return err },
		"delete":  func() error { return s.Delete(bob, 1, "", false) },
		"share":   func() error { _, _, err := s.InitShared(bob); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if got, err := s.Claim(bob, storage.ClaimRequest{}); err != nil || got.Item.ID != 2 {
		t.Errorf("the next item is #%d, %v", got.Item.ID, err)
	}
	all, err := s.Snapshot(bob)
	if err != nil || len(all.Warnings) != 1 || !strings.Contains(all.Warnings[0].Reason, "permission denied") {
		t.Errorf("got %v, %v", all.Warnings, err)
	}
}

// Those who can change the claims of a repository can read them.
func TestClaimsForAllWriters(t *testing.T) {
	t.Parallel()
	s, search := inGit(t)
	dir := filepath.Join(filepath.Dir(search.Shared), "claims")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.Chmod(dir, 0o2770)) //nolint:gosec // a directory of a group
	_, err := s.Claim(claim.WithAgent(t.Context(), itemtest.Agent("ada")), storage.ClaimRequest{ID: 1})
	must(t, err)
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o060 != 0o060 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

// A store that cannot be seen is not one that is missing: no other one takes its place.
func TestUnseenStore(t *testing.T) {
	t.Parallel()
	otheruser.ObeyModes(t)
	s, search := inGit(t)
	_, _, err := s.InitShared(t.Context())
	must(t, err)
	closed := filepath.Dir(search.Shared)
	must(t, os.Chmod(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) }) //nolint:gosec // a directory
	if _, err := s.Create(t.Context(), item.Draft{Title: "x"}); err == nil || !strings.Contains(err.Error(), "cannot be seen") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Init(t.Context()); err == nil {
		t.Error("another store was made")
	}
	if got, err := filepath.Glob(filepath.Join(search.Root, ".tic", "items", "*")); err != nil || len(got) != 2 {
		t.Errorf("the store in the tree has %v, %v", got, err)
	}
}

// While one of its own files cannot be read, a store makes no change that would be wrong if the file is
// there, and does not lose what the file has.
func TestUnseenFiles(t *testing.T) {
	t.Parallel()
	otheruser.ObeyModes(t)
	s, search := inGit(t)
	ada := claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	store := filepath.Join(search.Root, location.Name)
	_, err := s.Update(ada, 1, item.Patch{Branch: new("topic"), Worktree: new("/work")})
	must(t, err)
	for name, change := range map[string]func() error{
		"moved":               func() error { _, err := s.Create(ada, item.Draft{Title: "x"}); return err },
		".copse/pending.json": func() error { _, err := s.Create(ada, item.Draft{Title: "x"}); return err },
		"renumbered.tsv":      func() error { _, err := s.Claim(ada, storage.ClaimRequest{ID: 1}); return err },
		"links":               func() error { _, err := s.Update(ada, 1, item.Patch{Branch: new("other")}); return err },
		"config.yml":          func() error { _, err := s.Create(ada, item.Draft{Title: "x"}); return err },
		".copse/history":      func() error { _, err := s.Update(ada, 1, item.Patch{Title: new("x")}); return err },
	} {
		path := filepath.Join(store, filepath.FromSlash(name))
		_, err := os.Lstat(path)
		made := os.IsNotExist(err)
		if made {
			must(t, os.WriteFile(path, nil, 0o600))
		}
		before, err := os.Stat(path)
		must(t, err)
		must(t, os.Chmod(path, 0))
		if err := change(); err == nil || !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: got %v", name, err)
		}
		must(t, os.Chmod(path, before.Mode().Perm()))
		if made {
			must(t, os.Remove(path))
		}
	}
	got, err := s.Item(ada, 1)
	if err != nil || got.Link.Branch != "topic" || got.Link.Worktree != "/work" {
		t.Errorf("got %+v, %v", got.Link, err)
	}
}
