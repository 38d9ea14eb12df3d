package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
)

// Checkouts says what Worktrees says, of what is worked on.
func TestCheckouts(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "first")
	side := filepath.Join(t.TempDir(), "side")
	g.Run(dir, "worktree", "add", "-q", "-b", "topic", side)
	gone := filepath.Join(t.TempDir(), "gone")
	g.Run(dir, "worktree", "add", "-q", "-b", "old", gone)
	detached := filepath.Join(t.TempDir(), "detached")
	g.Run(dir, "worktree", "add", "-q", "--detach", detached)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, side} {
		r := discover(t, g, from)
		got, err := r.Checkouts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := r.Worktrees(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, w := range all {
			if !w.Prunable && w.Branch != "" {
				want[w.Path] = w.Branch
			}
		}
		if len(want) != 2 || len(got) != len(want) {
			t.Errorf("got %+v, want %v", got, want)
		}
		for _, w := range got {
			if want[w.Path] != w.Branch {
				t.Errorf("%s has %q, want %q", w.Path, w.Branch, want[w.Path])
			}
		}
	}
}

func TestCommitsOfAndPublished(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "first")
	first := g.Run(dir, "rev-parse", "HEAD")[:40]
	g.Run(dir, "branch", "feat/a")
	g.Run(dir, "update-ref", "refs/remotes/origin/feat/a", first)
	g.Run(dir, "pack-refs", "--all")
	r := discover(t, g, dir)
	tips, err := r.CommitsOf(t.Context(), []string{"refs/heads/feat/a", "refs/heads/feat", "refs/heads/gone", "refs/remotes/origin/feat/a", "not a ref"})
	if err != nil || len(tips) != 2 || tips["refs/heads/feat/a"] != first || tips["refs/remotes/origin/feat/a"] != first {
		t.Errorf("got %v, %v", tips, err)
	}
	for _, step := range []struct {
		config []string
		want   []string
	}{
		{nil, []string{"refs/remotes/origin/feat/a"}},
		{[]string{"branch.feat/a.remote", "fork"}, []string{"refs/remotes/fork/feat/a"}},
		{[]string{"branch.feat/a.merge", "refs/heads/ada/a"}, []string{"refs/remotes/fork/feat/a", "refs/remotes/fork/ada/a"}},
		{[]string{"remote.pushDefault", "mine"}, []string{"refs/remotes/mine/feat/a", "refs/remotes/fork/ada/a"}},
		{[]string{"branch.feat/a.remote", "."}, []string{"refs/remotes/mine/feat/a"}},
	} {
		if step.config != nil {
			g.Run(dir, append([]string{"config"}, step.config...)...)
		}
		all, err := discover(t, g, dir).Published(t.Context(), []string{"feat/a", "main"})
		got := all["feat/a"]
		if err != nil || len(got) != len(step.want) || got[0] != step.want[0] || got[len(got)-1] != step.want[len(step.want)-1] {
			t.Errorf("after %v: got %v, %v, want %v", step.config, got, err, step.want)
		}
	}
}
