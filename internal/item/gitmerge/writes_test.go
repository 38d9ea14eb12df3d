package gitmerge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
)

// conflicted leaves a repository with an item in the middle of a merge.
func conflicted(t *testing.T, g *gittest.Git, dir string) (item string) {
	t.Helper()
	item = filepath.Join(dir, ".tic", "items", "1.md")
	commit := func(text string) {
		gittest.Write(t, item, text)
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", "x")
	}
	commit("base\n")
	g.Run(dir, "checkout", "-qb", "other")
	commit("theirs\n")
	g.Run(dir, "checkout", "-q", "main")
	commit("ours\n")
	if _, err := g.Try(dir, "merge", "other"); err == nil {
		t.Fatal("no conflict")
	}
	return item
}

func merging(t *testing.T, g *gittest.Git, dir string) (*gitmerge.Repo, *gitmerge.Merge) {
	t.Helper()
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	m, err := repo.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return repo, m
}

// Git that writes its configuration ends by itself: if it gets a signal, it can leave a lock.
func TestDriverIsComplete(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, conflicted(t, g, dir), "merged\n")
	set, stop := context.WithCancel(t.Context())
	sets := g.During("merge.copse.name", stop)
	repo, _ := merging(t, g, dir)
	// The name and the program belong together.
	if err := repo.SetDriver(set, "copse", "copse item merge-driver"); err != nil || sets() != 1 {
		t.Errorf("%d runs, %v", sets(), err)
	}
	if driver := g.Run(dir, "config", "merge.copse.driver"); !strings.HasPrefix(driver, "copse item merge-driver ") {
		t.Errorf("the driver is %q", driver)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, conflicted(t, g, dir), "merged\n")
	added, stop := context.WithCancel(t.Context())
	adds := g.During("add", stop)
	_, m := merging(t, g, dir)
	if err := m.Add(added); !errors.Is(err, context.Canceled) || adds() != 1 {
		t.Errorf("%d runs, %v", adds(), err)
	}
	if err := m.Add(t.Context()); err != nil {
		t.Error(err)
	}
	if left := g.Run(dir, "ls-files", "--unmerged"); left != "" {
		t.Errorf("unmerged: %s", left)
	}
}

// Git would run what the own configuration of a submodule in the store names.
func TestAddRunsNothing(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	sub := filepath.Join(dir, ".tic", "items", "sub")
	g.Run(dir, "init", "-q", sub)
	gittest.Write(t, filepath.Join(sub, ".gitattributes"), "* filter=s\n")
	gittest.Write(t, filepath.Join(sub, "s.txt"), "s\n")
	g.Run(sub, "add", ".")
	g.Commit(sub, "s")
	conflicted(t, g, dir)
	canary := filepath.Join(gittest.Dir(t), "canary")
	g.Run(sub, "config", "filter.s.clean", "touch '"+canary+"'; cat")
	gittest.Write(t, filepath.Join(sub, "s.txt"), "t\n")
	_, m := merging(t, g, dir)
	if err := m.Add(t.Context()); err == nil || !strings.Contains(err.Error(), ".tic/items/sub is a submodule") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a filter of the submodule has run")
	}
	g.Run(dir, "add", "-A")
	if _, err := os.Stat(canary); err != nil {
		t.Errorf("git itself runs no filter: %v", err)
	}
}
