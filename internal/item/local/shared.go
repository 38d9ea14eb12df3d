package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/rooted"
)

// Shared reports whether the store is the one that all worktrees share.
func (s *Store) Shared() bool {
	dir, err := s.search.Find()
	return err == nil && dir.Path() == s.search.Shared
}

// Path returns the directory of the store.
func (s *Store) Path() (string, error) {
	dir, err := s.search.Find()
	return dir.Path(), err
}

// Watched returns the directories whose changes can affect the content of the store: its own, and
// that of its claims if they are elsewhere.
func (s *Store) Watched() ([]string, error) {
	dir, err := s.search.Find()
	if err != nil {
		return nil, err
	}
	dirs := []string{dir.Path()}
	if claims, ok := claimbook.Open(dir, s.search, s.now).Elsewhere(); ok {
		dirs = append(dirs, claims)
	}
	return dirs, nil
}

// InitShared creates the store that all worktrees share, unless it exists. It gets a copy of the
// items in this worktree's tree, with their histories; from is their directory, empty if there are
// none.
func (s *Store) InitShared(ctx context.Context) (created bool, from string, err error) {
	if s.search.Shared == "" {
		return false, "", &item.InvalidError{Problem: "A shared store requires a worktree that git recognizes, and this directory is not in one. If git's directory is separate from the worktree, run `git config core.worktree \"$PWD\"` in the root first"}
	}
	if s.search.HasShared() {
		if _, err := os.Lstat(filepath.Join(s.search.Shared, layout.Config)); err == nil {
			return false, "", nil
		}
	}
	var files exchange.Files
	var histories Histories
	switch dir, err := s.search.Find(); {
	case errors.Is(err, storage.ErrNoProject):
	case err != nil:
		return false, "", err
	case dir.Path() != s.search.Shared:
		from = dir.Path()
		if files, histories, err = content(ctx, writer.Open(dir, s.search, reader.Options{Done: s.done, Space: s.space}, s.now)); err != nil {
			return false, "", fmt.Errorf("copy the items of %s: %w", location.Name, err)
		}
	}
	if err := s.search.CreateShared(); err != nil {
		return false, "", fmt.Errorf("create the shared store: %w", rooted.WithoutPath(err))
	}
	if !s.search.HasShared() {
		return false, "", errors.New("create the shared store: a file of another kind has its name in git's directory")
	}
	err = s.at(s.search.SharedDir()).Change(ctx, func(w *writer.Writer) error {
		if len(files) > 0 {
			return errors.Join(w.WriteHistories(files, histories), exchange.Replace(w.Tx, nil, files, ""))
		}
		_, err := w.Initialize()
		return err
	})
	return err == nil, from, err
}

// content returns all files of a store that is usable and has no more items than another one can keep, and
// the histories of its items.
func content(ctx context.Context, f *writer.Directory) (files exchange.Files, histories Histories, err error) {
	defer f.Close()
	if _, err := f.Config(); err != nil {
		return nil, nil, err
	}
	err = f.Change(ctx, func(w *writer.Writer) error {
		if files, histories, err = w.Everything(); err != nil {
			return err
		}
		return w.CheckFiles(nil, files)
	})
	return files, histories, err
}

// Mode is how a store is kept.
type Mode string

// How a store is kept.
const (
	Committed Mode = "committed" // in the tree, versioned with the code
	Private   Mode = "private"   // in the tree, or outside git, and not versioned
	InCommon  Mode = "shared"    // for all worktrees, outside their trees
)

// Mode returns how the store is kept. Without git, that is Private.
func (s *Store) Mode(ctx context.Context) Mode {
	path, err := s.Path()
	switch {
	case err != nil || s.git == nil:
		return Private
	case path == s.search.Shared:
		return InCommon
	}
	repo, err := git.Discover(ctx, filepath.Dir(path), *s.git)
	if err != nil {
		return Private
	}
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return Private
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return Private
	}
	if inside, err := filepath.Rel(repo.Root(), path); err == nil && tracked.HasBelow(filepath.ToSlash(inside)) {
		return Committed
	}
	return Private
}
