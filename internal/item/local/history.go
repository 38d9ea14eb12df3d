package local

import (
	"context"
	"os"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/trash"
	"github.com/copse-dev/copse/internal/item/local/writer"
)

// History implements [storage.Backend].
func (s *Store) History(ctx context.Context, id item.ID) ([]changes.Change, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := f.Config(); err != nil {
		return nil, err
	}
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if id == 0 {
		return f.History.Latest(root, func() ([]*item.Summary, error) { return f.everyItem(root) })
	}
	it, _, err := reader.Anywhere(root, id)
	if err != nil {
		return nil, err
	}
	log, err := f.History.Of(root, &it)
	if changes.After(it.Updated, log.Last()) {
		log.Changes = append(log.Changes, changes.Change{Item: id, At: it.Updated, Kind: changes.Elsewhere})
	} else if chosen, ok := changes.Chosen(log.Changes, &it); ok {
		log.Changes = append(log.Changes, chosen)
	}
	return changes.Bounded(log.Changes), err
}

// everyItem returns the items that there are, deleted ones included.
func (f *directory) everyItem(root *os.Root) ([]*item.Summary, error) {
	snapshot, err := f.Snapshot()
	if err != nil {
		return nil, err
	}
	items := snapshot.List(item.Config{}, item.Filter{All: true})
	deleted, _, err := trash.List(root, f.Space())
	for i := range deleted {
		items = append(items, &deleted[i].Summary)
	}
	return items, err
}

// Undo implements [storage.Backend].
func (s *Store) Undo(ctx context.Context, id item.ID, change string, steal bool) (c changes.Change, err error) {
	err = s.change(ctx, func(w *writer.Writer) error {
		c, err = w.Undo(ctx, id, change, steal)
		return err
	})
	return c, err
}
