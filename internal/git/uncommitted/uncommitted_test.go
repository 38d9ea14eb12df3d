package uncommitted_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/uncommitted"
)

// The changes are counted as "git status" lists them, so that all surfaces report the same number.
func TestCount(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	write := func(name, text string) { gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text) }
	for _, name := range []string{"a", "b", "c", "kept/file", "gone/file", "moved/file"} {
		write(name, name+" has a text of its own, long enough to be recognized\n")
	}
	write(".gitignore", "*.o\n")
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-q", "-m", "first")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	finder := uncommitted.New(nil, time.Now)
	for _, step := range []struct {
		what                          string
		do                            func()
		changed, untracked, conflicts int
	}{
		{"clean", func() {}, 0, 0, 0},
		{"a file that is staged and changed again", func() {
			write("a", "staged\n")
			g.Run(dir, "add", "a")
			write("a", "changed again\n")
		}, 1, 0, 0},
		{"a renamed file", func() { g.Run(dir, "mv", "moved/file", "kept/moved") }, 2, 0, 0},
		{"another file of the old name", func() { write("moved/file", "new\n") }, 2, 1, 0},
		{"a directory without tracked files", func() {
			write("new/one", "1\n")
			write("new/deep/two", "2\n")
			write("new/deep/three", "3\n")
		}, 2, 2, 0},
		{"files beside tracked ones", func() {
			write("kept/one", "1\n")
			write("kept/deep/two", "2\n")
			write("kept.txt", "3\n")
		}, 2, 5, 0},
		{"ignored files", func() { write("objects/x.o", "x\n") }, 2, 5, 0},
		{"a directory whose tracked file is deleted", func() {
			write("gone/new", "1\n")
			if err := os.Remove(filepath.Join(dir, "gone", "file")); err != nil {
				t.Fatal(err)
			}
		}, 3, 6, 0},
		{"a repository", func() {
			write("nested/file", "1\n")
			nested := filepath.Join(dir, "nested")
			g.Run(nested, "init", "-q")
			g.Run(nested, "add", "-A")
			g.Run(nested, "commit", "-q", "-m", "nested")
		}, 3, 7, 0},
		{"a conflict", func() {
			if err := os.RemoveAll(filepath.Join(dir, "nested")); err != nil {
				t.Fatal(err)
			}
			g.Run(dir, "add", "-A")
			g.Run(dir, "commit", "-q", "-m", "ours")
			g.Run(dir, "checkout", "-q", "-b", "theirs", "HEAD~")
			write("a", "theirs\n")
			g.Run(dir, "commit", "-q", "-a", "-m", "theirs")
			if _, err := g.Try(dir, "merge", "-q", "-"); err == nil {
				t.Fatal("there is no conflict")
			}
			write("another", "1\n")
		}, 10, 1, 1},
	} {
		step.do()
		head, err := repo.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state, err := finder.State(t.Context(), repo, head.Branch, nil)
		if err != nil {
			t.Fatal(step.what, err)
		}
		if state.Edits.Changed != step.changed || state.Untracked != step.untracked || state.Edits.Conflicted != step.conflicts {
			t.Errorf("%s: %d changed, %d untracked, %d in conflict; want %d, %d, %d", step.what,
				state.Edits.Changed, state.Untracked, state.Edits.Conflicted, step.changed, step.untracked, step.conflicts)
		}
		_, listed, err := repo.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if state.Count() != len(listed) {
			t.Errorf("%s: %d changes, but git lists %+v", step.what, state.Count(), listed)
		}
	}
}
