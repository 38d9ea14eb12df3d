// Package local stores work items in the files of a .tic directory, as tic 1.26
// does; package ticfile defines their format.
//
// [New] returns a [Store], a [storage.Backend]. It finds the directory again for each
// call, so it can exist before the directory, and [Store.Init] creates the directory. The packages
// below this one have one job each: location finds the directory, layout names its files, reader
// reads it, writer changes it under one lock, births records new items, claimbook and historydir
// store claims and changes, trash deletes and restores, exchange replaces many files at once, and
// checkup finds and repairs damage. A Store combines them. It guarantees that
//
//   - any number of processes can change the store at once, without a daemon:
//     changes run one after the other under a lock, on the current files;
//   - an acknowledged change is on disk, and a killed process
//     does no harm: single files are replaced as a whole, and a change of several
//     (deleting, restoring) is recorded first and finished by the next change;
//   - reading takes no lock, and sees all earlier changes, including those of
//     an editor or git; see [itemdir.Index] for details, and for three exceptions;
//   - a number is assigned to one item only, including deleted ones;
//   - an item has one holder at a time, in all worktrees of a repository;
//   - each change is in the history of its item, or did not happen;
//   - a file that is not an item, or a second file of one, or an unmerged one, is a
//     warning of the snapshot and does not affect others;
//   - outside the directory, it reads and writes only the claims of a store in a
//     repository and the cache of [Store.CachedIn], and no error names a path of this machine.
//
// Besides the files of tic, there are trash/, which has deleted items with the relations that
// their deletion removed from others, and .copse/, which has the lock and changes
// in progress, and which git ignores.
package local

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/trash"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/rooted"
)

// Store contains the items of the directory that a search finds. It is safe for concurrent use.
type Store struct {
	search   location.Search
	now      func() time.Time
	watching bool
	caches   string
	space    itemdir.Space // what the files of all items together can take
	done     func() ([]string, error)
	git      *git.Options // nil disables git

	changed  atomic.Bool
	claimed  atomic.Bool
	onChange func() // nil if nobody is to know

	mu        sync.Mutex
	directory *directory // the last that was found
}

// directory is the store in one directory, with the repository that it is in.
type directory struct {
	*writer.Directory

	mu   sync.Mutex
	repo *gitmerge.Repo // nil before it is needed, and outside git
}

var _ storage.Store = (*Store)(nil)

// New returns the store that a search finds. It reads nothing yet.
func New(search location.Search, now func() time.Time) *Store {
	return &Store{search: search, now: now, watching: true}
}

// CachedIn lets the store cache large stores in a directory of the user, so the next process need
// not parse all files. Call it before the store is used.
func (s *Store) CachedIn(dir string) *Store {
	s.caches = dir
	return s
}

// DoneBy sets a function that returns the statuses that mean done if the store's configuration does
// not. Call it before the store is used.
func (s *Store) DoneBy(done func() ([]string, error)) *Store {
	s.done = done
	return s
}

// Close releases the system resources of the store. Further use acquires them again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.directory != nil {
		s.directory.Close()
		s.directory = nil
	}
	return nil
}

// find returns the directory that is the store now.
func (s *Store) find(ctx context.Context) (*directory, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := s.search.Find()
	if err != nil {
		return nil, err
	}
	return s.at(dir), nil
}

// at returns the directory of a directory.
func (s *Store) at(dir rooted.Dir) *directory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.directory == nil || s.directory.Dir() != dir {
		if s.directory != nil {
			s.directory.Close()
		}
		options := reader.Options{Watching: s.watching, Caches: s.caches, Space: s.space, Done: s.done}
		s.directory = &directory{Directory: writer.Open(dir, s.search, options, s.now)}
	}
	return s.directory
}

// Init creates a project, with its directory in the working directory, unless there is one. created
// reports which.
func (s *Store) Init(ctx context.Context) (created bool, err error) {
	dir, err := s.search.Find()
	if errors.Is(err, storage.ErrNoProject) {
		dir, err = s.place(ctx).Create()
	}
	if err != nil {
		return false, err
	}
	f := s.at(dir)
	err = f.Change(ctx, func(w *writer.Writer) error {
		created, err = w.Initialize()
		return err
	})
	if book := s.book(ctx, f); created && err == nil && book != nil {
		book.Forget(ctx)
	}
	return created, err
}

// Config implements [storage.Backend].
func (s *Store) Config(ctx context.Context) (item.Config, error) {
	f, err := s.reading(ctx)
	if err != nil {
		return item.Config{}, err
	}
	config, err := f.Config()
	if err == nil {
		config.Warnings = slices.Concat(config.Warnings, s.afterRebase(ctx, f), f.movedWarning(), f.failedSync())
	}
	return config, err
}

// Snapshot implements [storage.Backend].
func (s *Store) Snapshot(ctx context.Context) (*item.Snapshot, error) {
	f, err := s.reading(ctx)
	if err != nil {
		return nil, err
	}
	all, err := f.Snapshot()
	if err != nil {
		return nil, err
	}
	half, err := s.halfDeleted(ctx, f)
	if err != nil {
		return nil, err
	}
	return f.WithClaims(half.In(all))
}

// Item implements [storage.Backend].
func (s *Store) Item(ctx context.Context, id item.ID) (item.Item, error) {
	f, err := s.reading(ctx)
	if err != nil {
		return item.Item{}, err
	}
	it, err := f.Item(id)
	if both, ok := f.Unmerged(err); ok {
		return both, nil
	}
	if item.IsNotFound(err) {
		if found, _ := s.halfDeleted(ctx, f); found[id].ID != 0 { // it is not found if that fails
			return found[id], nil
		}
	}
	return it, err
}

// File returns the path of an item's file, for an editor. It may be broken.
func (s *Store) File(ctx context.Context, id item.ID) (path string, err error) {
	f, err := s.reading(ctx)
	if err != nil {
		return "", err
	}
	if _, err := f.Item(id); item.IsNotFound(err) {
		return "", err
	}
	name := layout.Item(id)
	if err := checkFile(f.Dir(), name); err != nil {
		return "", &storage.BrokenError{ID: id, File: name, Reason: err.Error()}
	}
	return filepath.Join(f.Dir().Path(), filepath.FromSlash(name)), nil
}

// checkFile refuses what another program must not open: links, and what is not a file.
func checkFile(dir rooted.Dir, name string) error {
	root, err := dir.Open()
	if err != nil {
		return itemdir.Unreadable(err)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return itemdir.Unreadable(err)
	}
	return itemdir.CheckRegular(info.Mode())
}

// Create implements [storage.Backend].
func (s *Store) Create(ctx context.Context, d item.Draft) (it item.Item, err error) {
	f, err := s.find(ctx)
	if err != nil {
		return item.Item{}, err
	}
	book := s.book(ctx, f)
	err = s.changeIn(ctx, f, func(w *writer.Writer) error {
		if book != nil {
			w.Elsewhere = func(minimum item.ID) item.ID { return book.Next(ctx, minimum) }
		}
		it, err = w.Create(d)
		return err
	})
	return it, err
}

// Update implements [storage.Backend].
func (s *Store) Update(ctx context.Context, id item.ID, p item.Patch) (it item.Item, err error) {
	err = s.change(ctx, func(w *writer.Writer) error {
		it, err = w.Update(ctx, id, p)
		return err
	})
	return it, err
}

// AddComment implements [storage.Backend].
func (s *Store) AddComment(ctx context.Context, id item.ID, author, text string) (item.Comment, error) {
	c, err := item.CheckComment(cmp.Or(author, claim.AgentOf(ctx).Name), text)
	if err != nil {
		return item.Comment{}, err
	}
	err = s.change(ctx, func(w *writer.Writer) error {
		c, err = w.AddComment(id, c)
		return err
	})
	return c, err
}

// Delete implements [storage.Backend]. The item goes to the trash.
func (s *Store) Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
	return s.change(ctx, func(w *writer.Writer) error { return w.Delete(ctx, id, seen, steal) })
}

// Restore implements [storage.Backend]. The item comes from the trash.
func (s *Store) Restore(ctx context.Context, id item.ID) (it item.Item, err error) {
	err = s.change(ctx, func(w *writer.Writer) error {
		it, err = w.Restore(id)
		return err
	})
	return it, err
}

// Deleted returns the items in the trash, by number, and what in it cannot be read.
func (s *Store) Deleted(ctx context.Context) ([]storage.Trashed, []item.Warning, error) {
	f, err := s.reading(ctx)
	if err != nil {
		return nil, nil, err
	}
	root, err := f.Root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return trash.List(root, f.Space())
}

// Purge removes items from the trash for good. Their numbers are not used again. If one of them
// is not there, nothing is removed.
func (s *Store) Purge(ctx context.Context, ids ...item.ID) error {
	return s.change(ctx, func(w *writer.Writer) error { return w.Trash().Purge(ids...) })
}

// Links returns the links of all items that have one.
func (s *Store) Links(ctx context.Context) (map[item.ID]item.Link, error) {
	f, err := s.reading(ctx)
	if err != nil {
		return nil, err
	}
	return f.Links()
}

// SetIteration implements [storage.Backend].
func (s *Store) SetIteration(ctx context.Context, name string) error {
	return s.change(ctx, func(w *writer.Writer) error { return w.SetIteration(name) })
}

// Capabilities implements [storage.Backend]: the store can do all of it.
func (s *Store) Capabilities() storage.Capabilities { return storage.Capabilities{} }

// SetDoneStatuses sets the statuses that mean done. None restores the default.
func (s *Store) SetDoneStatuses(ctx context.Context, statuses []string) error {
	return s.change(ctx, func(w *writer.Writer) error { return w.SetDoneStatuses(statuses) })
}

// OnChange calls do after each change that Changed reports. Call it before the store is used. do
// must return immediately.
func (s *Store) OnChange(do func()) { s.onChange = do }

// Changed reports whether an item or the configuration was changed by way of this
// Store.
func (s *Store) Changed() bool { return s.changed.Load() }

func (s *Store) change(ctx context.Context, do func(*writer.Writer) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return s.changeIn(ctx, f, do)
}

// changeIn is change for a directory that was found.
func (s *Store) changeIn(ctx context.Context, f *directory, do func(*writer.Writer) error) error {
	if err := f.Change(ctx, do); err != nil {
		return err
	}
	s.changed.Store(true)
	if s.onChange != nil {
		s.onChange()
	}
	return nil
}
