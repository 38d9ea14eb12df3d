package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/historydir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
)

// lockWait is how long a change waits for other changes.
const lockWait = 10 * time.Second

// directory is one directory of a store. It is safe for concurrent use.
type directory struct {
	*reader.Reader
	now     func() time.Time
	locked  *lockedstore.Store
	claims  *claimbook.Book
	history historydir.Dir
	// shared means that all worktrees share the store. A repository can contain the private files of
	// any other store.
	shared bool

	mu   sync.Mutex
	repo *gitmerge.Repo // nil before it is needed, and outside git
}

func openDir(dir rooted.Dir, search location.Search, o reader.Options, now func() time.Time) *directory {
	return &directory{
		Reader:  reader.Open(dir, o),
		now:     now,
		locked:  lockedstore.NewIn(dir, layout.Lock, lockWait),
		claims:  claimbook.Open(dir, search, now),
		history: historydir.In(dir.Path(), search),
		shared:  dir.Path() == search.Shared,
	}
}

// withClaims returns the snapshot with the valid claims, according to the current configuration.
// Others report an unreadable configuration.
func (f *directory) withClaims(s *item.Snapshot) (*item.Snapshot, error) {
	c, err := f.Config()
	if err != nil {
		c = item.Config{}
	}
	return f.claims.Live(s, c)
}

// change calls do while nobody else changes the store, after completing the work of a killed
// process.
func (f *directory) change(ctx context.Context, do func(*writer) error) error {
	return f.changeBy(ctx, writer{}, do)
}

// changeBy is change with a writer that is configured.
func (f *directory) changeBy(ctx context.Context, with writer, do func(*writer) error) error {
	err := f.locked.Change(ctx, func(tx *lockedstore.Tx) error {
		w := &with
		w.directory, w.tx, w.by = f, tx, claim.AgentOf(ctx)
		if err := w.prepare(); err != nil {
			return err
		}
		return do(w)
	})
	if err == nil || storage.IsRefusal(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("change the items in %s: %w", location.Name, err)
}
