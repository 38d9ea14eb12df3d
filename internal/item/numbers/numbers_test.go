package numbers_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/numbers"
)

// counted counts how often git is run.
type counted struct {
	numbers.Git
	runs int
}

func (c *counted) Feed(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	c.runs++
	return c.Git.Feed(ctx, input, args...)
}

func programIn(g *gittest.Git, dir string) numbers.Git {
	g.TB.Helper()
	repo, err := git.Discover(g.TB.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		g.TB.Fatal(err)
	}
	return repo.Program()
}

func commit(g *gittest.Git, dir, branch string, names ...string) {
	g.Run(dir, "checkout", "-q", "-B", branch)
	for _, name := range names {
		gittest.Write(g.TB, filepath.Join(dir, ".tic", name), "x")
	}
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-qm", "x")
}

// A branch from before the first item takes away nothing of what is known.
func TestBranchWithoutItems(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	program := &counted{Git: programIn(g, dir)}
	book := numbers.Open(program, filepath.Join(dir, ".git"), ".tic/")
	commit(g, dir, "main", "config.yml")
	for want := item.ID(1); want < 4; want++ {
		if got := book.Next(t.Context(), 1); got != want { // given out in another worktree each time
			t.Errorf("got %d, want %d", got, want)
		}
	}
	book = numbers.Open(program, filepath.Join(dir, ".git"), ".tic/")
	book.Forget(t.Context())
	if got := book.Next(t.Context(), 1); got != 1 {
		t.Errorf("after a new beginning: %d", got)
	}
	if got := book.Next(t.Context(), 1); got != 2 {
		t.Errorf("after the first item: %d", got)
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	program := &counted{Git: programIn(g, dir)}
	book := numbers.Open(program, filepath.Join(dir, ".git"), ".tic/")
	next := func(least, want item.ID) {
		t.Helper()
		if got := book.Next(t.Context(), least); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	next(1, 1)
	next(1, 2) // given out in another worktree, say
	commit(g, dir, "main", "items/1.md", "items/notes.md")
	commit(g, dir, "feature", "items/7.md", "trash/9.md", "items/9007199254740991.md")
	g.Run(dir, "checkout", "-q", "main")
	next(2, 10)
	clone := filepath.Join(gittest.Dir(t), "clone")
	g.Run(g.Home, "clone", "-q", dir, clone)
	if got := numbers.Open(programIn(g, clone), filepath.Join(clone, ".git"), ".tic/").Next(t.Context(), 2); got != 10 {
		t.Errorf("in a clone: %d", got)
	}
	// Old refs are not read again.
	old := time.Now().Add(-time.Minute)
	err := filepath.WalkDir(filepath.Join(dir, ".git", "refs"), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	next(2, 11)
	program.runs = 0
	next(2, 12)
	if program.runs > 0 {
		t.Errorf("git was run %d times though no ref had changed", program.runs)
	}
	g.Run(dir, "branch", "-q", "-D", "feature")
	commit(g, dir, "later", "items/30.md")
	next(2, 31)
	// A damaged file counts as a missing one.
	gittest.Write(t, filepath.Join(dir, ".git", numbers.FileName), `{"stores": {".tic/": null}}`)
	next(2, 31)
	book.Forget(t.Context()) // not while a ref has items
	next(2, 32)
}

func TestForget(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	book := numbers.Open(programIn(g, dir), filepath.Join(dir, ".git"), ".tic/")
	book.Next(t.Context(), 5)
	book.Forget(t.Context())
	if got := book.Next(t.Context(), 1); got != 1 {
		t.Errorf("got %d", got)
	}
}

// Nobody else gets the same number.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	var mu sync.Mutex
	seen := map[item.ID]bool{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			book := numbers.Open(programIn(g, dir), filepath.Join(dir, ".git"), ".tic/")
			for range 5 {
				id := book.Next(t.Context(), 1)
				mu.Lock()
				if seen[id] {
					t.Errorf("%d was given out twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

// Nothing is written through a link that a repository brought along.
func TestLinks(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, outside := g.Init(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".git", "copse")); err != nil {
		t.Skip(err)
	}
	if got := numbers.Open(programIn(g, dir), filepath.Join(dir, ".git"), ".tic/").Next(t.Context(), 3); got != 3 {
		t.Errorf("got %d", got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v %v", entries, err)
	}
}
