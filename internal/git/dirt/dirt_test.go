package dirt_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/dirt"
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
		gittest.Write(t, filepath.Join(dir, "sub/a"), "a\n")
		gittest.Write(t, filepath.Join(dir, ".gitignore"), "*.o\n")
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-q", "-m", "first")
		if err := os.MkdirAll(filepath.Join(dir, "empty/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
		if err != nil {
			t.Fatal(err)
		}
		counter := dirt.New(r)
		for _, step := range []struct {
			what string
			do   func()
			want int
		}{
			{"clean", func() {}, 0},
			{"a changed file", func() { gittest.Write(t, filepath.Join(dir, "sub/a"), "b\n") }, 1},
			{"the file as it was", func() { gittest.Write(t, filepath.Join(dir, "sub/a"), "a\n") }, 0},
			{"a new file", func() { gittest.Write(t, filepath.Join(dir, "sub/b"), "b\n") }, 1},
			{"an ignored file", func() { gittest.Write(t, filepath.Join(dir, "sub/x.o"), "x\n") }, 1},
			{"a file in an empty directory", func() { gittest.Write(t, filepath.Join(dir, "empty/deep/c"), "c\n") }, 2},
			{"other patterns", func() { gittest.Write(t, filepath.Join(dir, ".gitignore"), "*.oo\nb\n") }, 3},
			{"a commit", func() {
				g.Run(dir, "add", "-A")
				g.Run(dir, "commit", "-q", "-m", "second")
			}, 0},
			{"a deleted file", func() { os.Remove(filepath.Join(dir, "sub/a")) }, 1},
			{"a reset", func() { g.Run(dir, "reset", "-q", "--hard") }, 0},
			{"another commit", func() { g.Run(dir, "reset", "-q", "--soft", "HEAD~") }, 3},
		} {
			step.do()
			if settled {
				age(t, dir)
			}
			for range 2 {
				if n, err := counter.Count(t.Context()); err != nil || n != step.want {
					t.Errorf("%s, settled %t: %d files, %v; want %d", step.what, settled, n, err, step.want)
				}
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := counter.Count(t.Context()); err == nil {
			t.Error("a worktree that is gone has an answer")
		}
	}
}
