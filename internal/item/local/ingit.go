package local

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/local/checkup"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/numbers"
	"github.com/copse-dev/copse/internal/item/remerge"
)

// InGit lets the store ask git about unmerged files, the state before a merge, and what a sparse
// checkout leaves out. Call it before the store is used.
func (s *Store) InGit(options git.Options) *Store {
	s.git, s.search.Sparse = &options, location.NewSparse(options)
	return s
}

// openRepo returns the repository that the store is in; nil if there is none.
func (s *Store) openRepo(ctx context.Context, f *directory) (*gitmerge.Repo, error) {
	if s.git == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.repo != nil {
		return f.repo, nil
	}
	repo, err := gitmerge.OpenRepo(ctx, f.Dir().Path(), *s.git)
	if errors.Is(err, gitmerge.ErrNoRepository) {
		return nil, nil // there can be one later
	}
	f.repo = repo
	return repo, err
}

// place returns where a new store is created. A store that git ignores, in a linked worktree, is one that all
// worktrees share, so it belongs to the main one: it would end with the linked one.
func (s *Store) place(ctx context.Context) location.Search {
	place := s.search
	if s.git == nil || place.Main == "" || place.Main == place.Root {
		return place
	}
	repo, err := git.Discover(ctx, place.Dir, *s.git)
	if err != nil {
		return place
	}
	real, err := filepath.EvalSymlinks(place.Dir)
	if err != nil {
		return place
	}
	inside, err := filepath.Rel(repo.Root(), real)
	if err != nil {
		return place
	}
	if _, err := repo.Program().Run(ctx, "check-ignore", "--quiet", "--", filepath.ToSlash(inside)+"/"+location.Name+"/"); err == nil {
		place.Dir = place.Main
	}
	return place
}

// book returns the numbers in use elsewhere in the repository; nil if the store is in none.
func (s *Store) book(ctx context.Context, f *directory) *numbers.Book {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil || !repo.Git().Owned() {
		return nil // a number that is free here is sufficient
	}
	return numbers.Open(repo.Git().Program(), repo.Git().CommonDir(), repo.Prefix())
}

// afterRebase returns a warning if a repaired rebase is done, but not the references of its last
// commits.
func (s *Store) afterRebase(ctx context.Context, f *directory) []item.Warning {
	info, err := f.Dir().In().Stat(layout.Private + "/" + remerge.RewrittenNote)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil
	}
	if _, going := repo.Rewritten(); going {
		return nil
	}
	return []item.Warning{{File: layout.Items, Reason: "can have references to old numbers after a rebase; run `copse item doctor --repair` once more"}}
}

// halfDeleted returns the items that one side of an open merge deleted and the other changed.
func (s *Store) halfDeleted(ctx context.Context, f *directory) (checkup.HalfDeleted, error) {
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return nil, nil //nolint:nilerr // where git cannot be asked, no merge is open
	}
	return checkup.FindHalfDeleted(repo, f.Root, f.Space())
}

// Check returns the problems of the store: unreadable and unmerged files, dangling references, and
// cycles. It fails only if it cannot check.
func (s *Store) Check(ctx context.Context) ([]item.Warning, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return nil, err
	}
	return checkup.Check(ctx, checkup.Options{
		Reader: f.Reader, Repo: repo, Committed: s.Mode(ctx) == Committed,
		Noted: slices.Concat(f.movedWarning(), s.afterRebase(ctx, f), f.failedSync()),
	})
}

// Repair repairs the problems of Check that need no decision; see [checkup.Repair].
func (s *Store) Repair(ctx context.Context) (done remerge.Result, err error) {
	f, err := s.find(ctx)
	if err != nil {
		return remerge.Result{}, err
	}
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return remerge.Result{}, err
	}
	err = s.changeIn(ctx, f, func(w *writer.Writer) error {
		done, err = checkup.Repair(ctx, checkup.Changing{
			Reader: f.Reader, Tx: w.Tx, Trash: w.Trash(), Repo: repo, Now: s.now(), Config: w.Configuration, NextID: w.NextID,
			Space: func(old, with merge.Tree) error { return w.CheckFiles(exchange.Files(old), exchange.Files(with)) },
		})
		return err
	})
	return done, err
}
