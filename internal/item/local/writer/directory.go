// Package writer changes the files of a store: a [Directory] runs a [Writer] under the lock of the
// store, after it has finished what a killed process began.
package writer

import (
	"context"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/historydir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
)

// lockWait is how long a change waits for other changes.
const lockWait = 10 * time.Second

// Directory is one directory of a store. It is safe for concurrent use.
type Directory struct {
	*reader.Reader
	Locked  *lockedstore.Store
	Claims  *claimbook.Book
	History historydir.Dir
	// Shared means that all worktrees share the store. A repository can contain the private files of
	// any other store.
	Shared bool

	owned func() bool // nil is true
	now   func() time.Time
}

// Open returns the store in a directory. It reads nothing yet.
func Open(dir rooted.Dir, search location.Search, o reader.Options, now func() time.Time) *Directory {
	return &Directory{
		Reader:  reader.Open(dir, o),
		Locked:  lockedstore.NewIn(dir, layout.Lock, lockWait),
		Claims:  claimbook.Open(dir, search, now),
		History: historydir.In(dir.Path(), search),
		Shared:  dir.Path() == search.Shared,
		owned:   search.Owned,
		now:     now,
	}
}

// WithClaims returns the snapshot with the valid claims, according to the current configuration.
// Others report an unreadable configuration.
func (f *Directory) WithClaims(s *item.Snapshot) (*item.Snapshot, error) {
	c, err := f.Config()
	if err != nil {
		c = item.Config{}
	}
	return f.Claims.Live(s, c)
}

// Change calls do while nobody else changes the store, after completing the work of a killed
// process.
func (f *Directory) Change(ctx context.Context, do func(*Writer) error) error {
	return f.change(ctx, &Writer{}, do)
}

// Sync calls do as Change does, for a part of an exchange with a remote. A store whose items move
// takes part in it, because the remote must have the mark.
func (f *Directory) Sync(ctx context.Context, do func(*Writer) error) error {
	return f.change(ctx, &Writer{despiteMark: true}, do)
}

func (f *Directory) change(ctx context.Context, w *Writer, do func(*Writer) error) error {
	w.by = claim.AgentOf(ctx)
	err := f.run(ctx, w, do)
	if err == nil || storage.IsRefusal(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("change the items in %s: %w", location.Name, err)
}

// Move calls do as Change does, for items that move to or from another store. do must obey the mark
// of the store.
func (f *Directory) Move(ctx context.Context, do func(*Writer, moved.Mark) error) error {
	return f.run(ctx, &Writer{despiteMark: true}, func(w *Writer) error {
		mark, err := f.Mark()
		if err != nil {
			return err
		}
		return do(w, mark)
	})
}

func (f *Directory) run(ctx context.Context, w *Writer, do func(*Writer) error) error {
	return f.Locked.Change(ctx, func(tx *lockedstore.Tx) error {
		w.Directory, w.Tx = f, tx
		if err := w.prepare(); err != nil {
			return err
		}
		return do(w)
	})
}
