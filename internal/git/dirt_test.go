package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// age makes everything in a worktree look settled.
func age(t *testing.T, dir string) {
	t.Helper()
	long := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Chtimes(path, long, long)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each change of the worktree shows, whether the answer before was remembered or not.
func TestDirt(t *testing.T) {
	t.Parallel()
	for _, settled := range []bool{false, true} {
		g := gittest.New(t)
		dir := g.Init()
		gittest.Write(t, join(dir, "sub/a"), "a\n")
		gittest.Write(t, join(dir, ".gitignore"), "*.o\n")
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-q", "-m", "first")
		if err := os.MkdirAll(join(dir, "empty/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		r := discover(t, g, dir)
		dirt := git.NewDirt(r)
		for _, step := range []struct {
			what string
			do   func()
			want int
		}{
			{"clean", func() {}, 0},
			{"a changed file", func() { gittest.Write(t, join(dir, "sub/a"), "b\n") }, 1},
			{"the file as it was", func() { gittest.Write(t, join(dir, "sub/a"), "a\n") }, 0},
			{"a new file", func() { gittest.Write(t, join(dir, "sub/b"), "b\n") }, 1},
			{"an ignored file", func() { gittest.Write(t, join(dir, "sub/x.o"), "x\n") }, 1},
			{"a file in an empty directory", func() { gittest.Write(t, join(dir, "empty/deep/c"), "c\n") }, 2},
			{"other patterns", func() { gittest.Write(t, join(dir, ".gitignore"), "*.oo\nb\n") }, 3},
			{"a commit", func() {
				g.Run(dir, "add", "-A")
				g.Run(dir, "commit", "-q", "-m", "second")
			}, 0},
			{"a deleted file", func() { remove(t, join(dir, "sub/a")) }, 1},
			{"a reset", func() { g.Run(dir, "reset", "-q", "--hard") }, 0},
			{"another commit", func() { g.Run(dir, "reset", "-q", "--soft", "HEAD~") }, 3},
		} {
			step.do()
			if settled {
				age(t, dir)
			}
			for range 2 {
				if n, err := dirt.Count(t.Context()); err != nil || n != step.want {
					t.Errorf("%s, settled %t: %d files, %v; want %d", step.what, settled, n, err, step.want)
				}
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := dirt.Count(t.Context()); err == nil {
			t.Error("a worktree that is gone has an answer")
		}
	}
}

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
		got, err := discover(t, g, dir).Published(t.Context(), "feat/a")
		if err != nil || len(got) != len(step.want) || got[0] != step.want[0] || got[len(got)-1] != step.want[len(step.want)-1] {
			t.Errorf("after %v: got %v, %v, want %v", step.config, got, err, step.want)
		}
	}
}
