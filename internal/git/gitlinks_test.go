package git_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
)

// A repository with more submodules than are checked before each command of git is refused.
func TestManySubmodules(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	commit := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
	links := func(n int) {
		add := []string{"update-index", "--add"}
		for i := range n {
			at := filepath.Join(dir, ".git", "modules", strconv.Itoa(i))
			gittest.Write(t, filepath.Join(at, "HEAD"), commit+"\n")
			gittest.Write(t, filepath.Join(dir, "s", strconv.Itoa(i), ".git"), "gitdir: "+at+"\n")
			add = append(add, "--cacheinfo", fmt.Sprintf("160000,%s,s/%d", commit, i))
		}
		g.Run(dir, add...)
	}
	links(3)
	if _, err := discover(t, g, dir).Edits(t.Context()); err != nil {
		t.Errorf("three submodules: %v", err)
	}
	links(1001)
	if _, err := discover(t, g, dir).Edits(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 1000 submodules") {
		t.Errorf("got %v", err)
	}
}

// Submodules that share a git directory cost the checks of one, before each command of git.
//
//nolint:paralleltest // counts allocations
func TestSharedSubmodules(t *testing.T) {
	const links, perLink = 500, 100
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	commit := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
	shared := filepath.Join(dir, ".git", "modules", "x")
	g.Run(dir, "init", "-q", "--bare", shared)
	add := []string{"update-index", "--add"}
	for i := range links {
		gittest.Write(t, filepath.Join(dir, "s", fmt.Sprint(i), ".git"), "gitdir: "+shared+"\n")
		add = append(add, "--cacheinfo", fmt.Sprintf("160000,%s,s/%d", commit, i))
	}
	g.Run(dir, add...)
	repo := discover(t, g, dir)
	used := testing.AllocsPerRun(3, func() {
		if _, err := repo.Worktrees(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if used > links*perLink {
		t.Errorf("%d links to one directory took %.0f allocations, more than %d each", links, used, perLink)
	}
}
