package local

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/numbers"
	"github.com/copse-dev/copse/internal/item/remerge"
)

// InGit lets the store ask git what is unmerged, and what was before a merge. It is to
// be called before the store is used.
func (s *Store) InGit(options git.Options) *Store {
	s.git = &options
	return s
}

// openRepo returns the repository that the store is in; nil if there is none.
func (s *Store) openRepo(ctx context.Context, f *folder) (*gitmerge.Repo, error) {
	if s.git == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.repo != nil {
		return f.repo, nil
	}
	repo, err := gitmerge.OpenRepo(ctx, f.dir.Path(), *s.git)
	if errors.Is(err, gitmerge.ErrNoRepository) {
		return nil, nil // there can be one later
	}
	f.repo = repo
	return repo, err
}

// book returns the numbers that are in use elsewhere in the repository; nil if the store
// is in none.
func (s *Store) book(ctx context.Context, f *folder) *numbers.Book {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil // a number that is free here is good enough
	}
	return numbers.Open(repo.Git().Program(), repo.Git().CommonDir(), repo.Prefix())
}

// Merging returns the merge of the store that git has open; nil if there is none.
func (s *Store) Merging(ctx context.Context) (*gitmerge.Merge, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil, err
	}
	return repo.Find(ctx)
}

// afterRebase returns a warning if a rebase that was repaired is done, but not what its
// last commits refer to.
func (s *Store) afterRebase(ctx context.Context, f *folder) []item.Warning {
	info, err := f.dir.In().Stat(privateFolder + "/" + remerge.RewrittenNote)
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
	return []item.Warning{{File: itemsFolder, Reason: "can have references to old numbers after a rebase; run doctor --repair once more"}}
}
