package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Deleted returns the items in the trash, by number, and what in it cannot be read.
func (s *Store) Deleted(ctx context.Context) ([]item.Trashed, []item.Warning, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, nil, err
	}
	return f.deleted()
}

func (f *folder) deleted() ([]item.Trashed, []item.Warning, error) {
	root, err := f.dir.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	names, err := readNames(root, trashFolder)
	if err != nil {
		return nil, nil, err
	}
	var found []item.Trashed
	var warnings []item.Warning
	for _, name := range names {
		id, err := itemfolder.Number(name)
		if err != nil {
			continue // not ours
		}
		content, it, err := f.open(root, trashFolder, id)
		if broken, ok := errors.AsType[*item.BrokenError](err); ok {
			warnings = append(warnings, item.Warning{File: broken.File, Reason: broken.Reason})
			continue
		}
		if err != nil {
			continue // restored meanwhile
		}
		found = append(found, item.Trashed{Summary: it.Summary, At: content.Deleted()})
	}
	slices.SortFunc(found, func(a, b item.Trashed) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(warnings, func(a, b item.Warning) int { return cmp.Compare(a.File, b.File) })
	return found, warnings, nil
}

// Purge removes items from the trash for good. Their numbers are not used again.
// If one of them is not there, nothing is removed.
func (s *Store) Purge(ctx context.Context, ids ...item.ID) error {
	return s.change(ctx, func(w *writer) error {
		for _, id := range ids {
			if _, err := w.tx.Root().Lstat(trashName(id)); errors.Is(err, os.ErrNotExist) {
				return &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not in the trash", id)}
			} else if err != nil {
				return fmt.Errorf("look at %q: %w", trashName(id), lockedstore.WithoutPath(err))
			}
		}
		for _, id := range ids {
			_, it, openErr := w.open(w.tx.Root(), trashFolder, id)
			if err := w.tx.Remove(trashName(id)); err != nil {
				return err
			}
			if openErr != nil {
				continue // what cannot be read can be purged
			}
			if err := errors.Join(w.removeLink(it.Created), w.removeHistory(&it.Summary)); err != nil {
				return err
			}
		}
		return nil
	})
}

func trashName(id item.ID) string { return trashFolder + "/" + itemfolder.FileName(id) }
