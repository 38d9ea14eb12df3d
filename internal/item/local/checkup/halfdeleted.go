package checkup

import (
	"maps"
	"os"
	"slices"

	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
)

// HalfDeleted are the items that one side of git's open merge deleted and the other changed. Git
// moves the change to the trash, which no list shows, and stops there. Each item has both versions,
// marked.
type HalfDeleted map[item.ID]item.Item

// FindHalfDeleted returns those of a store. open opens its directory. repo can be nil: without git,
// no merge is open. The items take at most the space.
func FindHalfDeleted(repo *gitmerge.Repo, open func() (*os.Root, error), space itemdir.Space) (HalfDeleted, error) {
	if repo == nil || operation.Read(repo.Git().GitDir()) == nil {
		return nil, nil
	}
	root, err := open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := layout.Names(root, layout.Trash)
	if err != nil {
		return nil, err
	}
	found := make(HalfDeleted)
	var total int64
	for _, name := range names {
		id, err := itemdir.Number(name)
		if err != nil {
			continue // not ours
		}
		text, err := itemdir.ReadFile(root, layout.Trash+"/"+name)
		if err != nil {
			continue // restored meanwhile, or not readable: the check of the trash says so
		}
		if it, ok := itemdir.Unmerged(id, text); ok {
			size := int64(len(text))
			if total += size; !space.Allows(total, size) {
				break // the list of the trash reports the size
			}
			it.Link = layout.ReadLink(root, it.Created)
			found[id] = it
		}
	}
	return found, nil
}

// In returns the snapshot with the items.
func (h HalfDeleted) In(all *item.Snapshot) *item.Snapshot {
	entries := make(map[item.ID]*item.Entry, len(h))
	warnings := slices.Clone(all.Warnings)
	for _, id := range slices.Sorted(maps.Keys(h)) {
		if _, err := all.Find(id); err == nil {
			continue
		}
		it := h[id]
		entries[id] = item.NewEntry(&it)
		warnings = append(warnings, item.Warning{
			File: layout.Trashed(id), Reason: "was deleted on one side of the merge and changed on the other; run `copse item doctor --repair` to keep it",
		})
	}
	if len(entries) == 0 {
		return all
	}
	return all.With(entries, warnings)
}
