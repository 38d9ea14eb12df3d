package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
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

// making is what the name of a shared store has at its end until the store is complete.
const making = ".new"

// makeWait is how long the creation of a shared store waits for another one to end.
const makeWait = 10 * time.Second

// errMade reports that another process has created the shared store in the meantime.
var errMade = errors.New("another process created it")

// InitShared creates the store that all worktrees share, unless it exists. It gets a copy of the
// items in this worktree's tree, with their histories and valid claims; from is their directory,
// empty if there are none. The store is there once it is complete: after a failure or a kill, the
// worktrees use the items that they had, and the next call starts from the beginning.
func (s *Store) InitShared(ctx context.Context) (created bool, from string, err error) {
	if s.search.Shared == "" {
		return false, "", &item.InvalidError{Problem: "A shared store requires a worktree that git recognizes, and this directory is not in one. If git's directory is separate from the worktree, run `git config core.worktree \"$PWD\"` in the root first"}
	}
	if shared, err := s.search.HasShared(); shared || err != nil {
		return false, "", errors.Join(err, s.checkShared(ctx))
	}
	dir, err := s.search.Find()
	if errors.Is(err, storage.ErrNoProject) {
		err = s.makeShared(ctx, func(w *writer.Writer) error {
			_, err := w.Initialize()
			return err
		})
		if errors.Is(err, errMade) {
			return false, "", nil
		}
		return err == nil, "", err
	}
	if err != nil {
		return false, "", err
	}
	err = s.share(ctx, writer.Open(dir, s.search, reader.Options{Done: s.done, Space: s.space}, s.now))
	if errors.Is(err, errMade) {
		return false, "", nil
	}
	if err != nil {
		return false, "", fmt.Errorf("copy the items of %s: %w", location.Name, err)
	}
	return true, dir.Path(), nil
}

// checkShared returns an error if the existing shared store has no configuration, even after the completion
// of an interrupted exchange.
func (s *Store) checkShared(ctx context.Context) error {
	config := filepath.Join(s.search.Shared, layout.Config)
	if _, err := os.Lstat(config); !regular.Absent(err) {
		return err
	}
	if err := s.at(s.search.SharedDir()).Change(ctx, func(*writer.Writer) error { return nil }); err != nil {
		return err
	}
	if _, err := os.Lstat(config); !regular.Absent(err) {
		return err
	}
	return &storage.StoreError{
		Problem: "there is a shared store without " + layout.Config + ", and without a copy of the items",
		Next:    "Restore that file if the store has items that you need. Otherwise move `.git/" + s.search.SharedDir().Name + "` elsewhere, and repeat the command.",
	}
}

// share makes a shared store with the content of a store that is usable and has no more items than another
// one can keep. Nobody changes or claims an item in the meantime.
func (s *Store) share(ctx context.Context, f *writer.Directory) error {
	defer f.Close()
	config, err := f.Config()
	if err != nil {
		return err
	}
	return f.Change(ctx, func(w *writer.Writer) error {
		files, histories, err := w.Everything()
		if err != nil {
			return err
		}
		if err := w.CheckFiles(nil, files); err != nil {
			return err
		}
		all, err := w.Snapshot()
		if err != nil {
			return err
		}
		return w.Claims.Change(ctx, w.Tx, func(*claimbook.Tx) error {
			claims, err := w.Claims.Files(all, config)
			if err != nil {
				return err
			}
			maps.Copy(files, claims)
			return s.makeShared(ctx, func(w *writer.Writer) error {
				return errors.Join(w.WriteHistories(files, histories), exchange.Replace(w.Tx, nil, files, ""))
			})
		})
	})
}

// makeShared creates the shared store: fill writes it under another name, and then it gets its own.
func (s *Store) makeShared(ctx context.Context, fill func(*writer.Writer) error) error {
	unfinished := s.search
	unfinished.Shared += making
	dir := unfinished.SharedDir()
	locked := lockedstore.NewIn(rooted.Dir{Wall: dir.Wall, Name: "."}, dir.Name+".lock", makeWait)
	err := locked.Change(ctx, func(tx *lockedstore.Tx) error {
		if there, err := s.search.HasShared(); there || err != nil {
			return cmp.Or(err, errMade)
		}
		if _, err := os.Lstat(s.search.Shared); !errors.Is(err, fs.ErrNotExist) {
			return errors.New("a file of another kind has its name in git's directory")
		}
		if err := tx.Root().RemoveAll(dir.Name); err != nil { // of a killed process
			return rooted.WithoutPath(err)
		}
		if err := unfinished.CreateShared(); err != nil {
			return rooted.WithoutPath(err)
		}
		if ok, err := unfinished.HasShared(); !ok || err != nil {
			return cmp.Or(err, errors.New("git's directory has a link in its place"))
		}
		f := writer.Open(dir, unfinished, reader.Options{Space: s.space}, s.now)
		err := f.Change(ctx, fill)
		f.Close()
		if err != nil {
			_ = tx.Root().RemoveAll(dir.Name) // if this fails, the next call removes the directory
			return err
		}
		return tx.Move(dir.Name, s.search.SharedDir().Name)
	})
	if err != nil && !storage.IsRefusal(err) {
		return fmt.Errorf("create the shared store: %w", err)
	}
	return err
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
