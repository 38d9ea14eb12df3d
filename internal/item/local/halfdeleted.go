package local

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// halfDeleted returns the items that one side of the merge which git has open deleted and
// the other changed. Git moves the change to the trash, where no list looks, and stops there.
// Each item has both versions, marked.
func (s *Store) halfDeleted(ctx context.Context, f *folder) (map[item.ID]item.Item, error) {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil || operation.Read(repo.Git().GitDir()) == nil {
		return nil, nil // where git cannot be asked, no merge is open
	}
	root, err := f.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	names, err := readNames(root, trashFolder)
	if err != nil {
		return nil, err
	}
	found := make(map[item.ID]item.Item)
	for _, name := range names {
		id, err := itemfolder.Number(name)
		if err != nil {
			continue // not ours
		}
		text, err := itemfolder.ReadFile(root, trashFolder+"/"+name)
		if err != nil {
			continue // restored meanwhile, or not readable: the check of the trash says so
		}
		if it, ok := itemfolder.Unmerged(id, text); ok {
			it.Link = readLink(root, it.Created)
			found[id] = it
		}
	}
	return found, nil
}

// withHalfDeleted returns the snapshot with the items of [Store.halfDeleted].
func (s *Store) withHalfDeleted(ctx context.Context, f *folder, all *item.Snapshot) (*item.Snapshot, error) {
	found, err := s.halfDeleted(ctx, f)
	if err != nil {
		return nil, err
	}
	entries := make(map[item.ID]*item.Entry, len(found))
	warnings := slices.Clone(all.Warnings)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if _, err := all.Find(id); err == nil {
			continue
		}
		it := found[id]
		entries[id] = item.NewEntry(&it)
		warnings = append(warnings, item.Warning{
			File: trashName(id), Reason: "was deleted on one side of the merge and changed on the other; run doctor --repair to keep it",
		})
	}
	if len(entries) == 0 {
		return all, nil
	}
	return all.With(entries, warnings), nil
}
