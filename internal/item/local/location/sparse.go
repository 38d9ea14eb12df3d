package location

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Sparse finds the stores that a sparse checkout leaves out. It is safe for concurrent use.
type Sparse struct {
	o git.Options

	mu    sync.Mutex
	repos map[string]*git.Repo // by the directory from which they were found
}

// NewSparse returns a Sparse that asks repositories with these options.
func NewSparse(o git.Options) *Sparse { return &Sparse{o: o, repos: make(map[string]*git.Repo)} }

// check returns an error if a sparse checkout leaves out files of a store, which can be missing as a whole.
// They are items all the same: a store without them would take them for deleted, and give out their numbers.
func (s *Sparse) check(store rooted.Dir) error {
	if s == nil {
		return nil
	}
	from, inside := store.Path(), "."
	for {
		info, err := os.Lstat(from)
		if err == nil && info.IsDir() {
			break
		}
		if target, err := os.Readlink(from); err == nil && inside == "." { // a link whose target can be left out
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(from), target)
			}
			from = target
		}
		if from == filepath.Dir(from) {
			return nil
		}
		from, inside = filepath.Dir(from), filepath.Join(filepath.Base(from), inside)
	}
	missing, name, err := s.missing(from, inside)
	switch {
	case err != nil:
		return unseen(Name, err)
	case missing == 0:
		return nil
	}
	return &storage.StoreError{
		Problem: fmt.Sprintf("a sparse checkout leaves out %s of %s, and copse does not use a part of the items", cleantext.Count(missing, "tracked file"), name),
		Next:    "Run `" + cleantext.Command("git", "sparse-checkout", "add", name) + "` in the root of that worktree. If files are still missing, run `git sparse-checkout disable`.",
		Err:     ErrLeftOut,
	}
}

// missing returns how many tracked files of a directory a sparse checkout leaves out, and the name of the
// directory from the root of its worktree. Inside is its path below the directory from.
func (s *Sparse) missing(from, inside string) (files int, name string, err error) {
	repo, paths, err := s.leftOut(from)
	if err != nil || paths.Len() == 0 {
		return 0, "", err
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return 0, "", err
	}
	below, err := filepath.Rel(repo.Root(), filepath.Join(real, inside))
	if err != nil {
		return 0, "", err
	}
	name = filepath.ToSlash(below)
	tracked := paths.Below(name)
	if paths.Has(name) { // a link, or a submodule
		tracked = []string{name}
	}
	for _, path := range tracked {
		// Another program may have written it.
		if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path))); regular.Absent(err) {
			files++
		}
	}
	return files, name, nil
}

// leftOut returns the repository of a directory, and the files that a sparse checkout leaves out of its
// worktree, none outside git.
func (s *Sparse) leftOut(from string) (*git.Repo, index.Paths, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := context.Background() // it reads some files
	if known := s.repos[from]; known != nil {
		if paths, err := known.LeftOut(ctx); err == nil {
			return known, paths, nil
		}
	}
	delete(s.repos, from) // it may be another repository by now
	repo, err := git.Discover(ctx, from, s.o)
	if err != nil {
		return nil, index.Paths{}, nil // Search.Unseen says what cannot be seen
	}
	s.repos[from] = repo
	paths, err := repo.LeftOut(ctx)
	return repo, paths, err
}
