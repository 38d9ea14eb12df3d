package local_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
)

// A store that a sparse checkout leaves out of the worktree, as a whole or in part, is there all the
// same: nothing is made in its place, nothing is read of the rest, and no relation counts as broken.
func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	if !g.AtLeast(2, 27) {
		t.Skip("this git has no sparse checkouts of directories")
	}
	root := g.Init()
	store := func(search location.Search) *local.Store {
		s := local.New(search, time.Now).InGit(git.Options{Env: g.Env})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := store(location.Search{Dir: root, Root: root})
	if _, err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, d := range []item.Draft{{Title: "one"}, {Title: "two", Parent: 1, DependsOn: []item.ID{1}}} {
		if _, err := s.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Write(t, filepath.Join(root, "svc", "f"), "x\n")
	g.Run(root, "add", "-A")
	g.Commit(root, "start")
	linked := filepath.Join(g.Home, "linked")
	g.Run(root, "worktree", "add", "-q", "-b", "linked", linked)
	clone := filepath.Join(g.Home, "clone")
	g.Run(g.Home, "clone", "-q", root, clone)
	refused := func(name string, search location.Search, at string) {
		t.Helper()
		s := store(search)
		_, listing := s.Snapshot(t.Context())
		_, reading := s.Item(t.Context(), 2)
		_, initializing := s.Init(t.Context())
		_, creating := s.Create(t.Context(), item.Draft{Title: "new"})
		_, checking := s.Check(t.Context())
		_, repairing := s.Repair(t.Context())
		for what, err := range map[string]error{"list": listing, "read": reading, "init": initializing, "create": creating, "check": checking, "repair": repairing} {
			if err == nil || !strings.Contains(err.Error(), "git sparse-checkout add .tic") {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if got := g.Run(at, "status", "--short"); got != "" {
			t.Errorf("%s: changed: %s", name, got)
		}
	}
	for _, tree := range []string{clone, linked} {
		g.Run(tree, "sparse-checkout", "set", "--cone", "svc")
		refused("all of it", location.Search{Dir: filepath.Join(tree, "svc"), Root: tree, Main: root}, tree)
		g.Run(tree, "sparse-checkout", "set", "--no-cone", "/*", "!/.tic/items/1.md")
		refused("one item", location.Search{Dir: tree, Root: tree, Main: root}, tree)
	}
	if got := g.Run(root, "status", "--short"); got != "" {
		t.Errorf("the main worktree is changed: %s", got)
	}
	// A worktree that has no store of its own does not use a part of the main one's.
	g.Run(linked, "sparse-checkout", "disable")
	g.Run(linked, "rm", "-q", "-r", ".tic")
	g.Run(linked, "commit", "-q", "-m", "without items")
	g.Run(root, "sparse-checkout", "set", "--cone", "svc")
	refused("main", location.Search{Dir: linked, Root: linked, Main: root}, linked)
	g.Run(root, "sparse-checkout", "add", ".tic")
	s = store(location.Search{Dir: linked, Root: linked, Main: root})
	if all, err := s.Snapshot(t.Context()); err != nil || len(all.List(item.Config{}, item.Filter{All: true})) != 2 {
		t.Errorf("after the command: %v", err)
	}
}
