// Package historydir stores the changes of the items of a store in files, one for each item.
//
// [In] returns the [Dir] of a store. [Dir.Of] returns the history of an item, and [Dir.With] the
// file to write together with a change of the item, so a change is in the history or did not
// happen. Reading takes no lock. Package changelog defines the format of the files, and their
// limits.
//
// In a store that clones share, the histories are a part of the store. Other stores have them in
// their private directory: there, git has the history of the files.
package historydir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/historyfile"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Dir is the name of the directory of the histories in a store.
type Dir string

// In returns the directory of the histories of the store at a path, which a search found.
func In(store string, search location.Search) Dir {
	if search.Shared != "" && store == search.Shared {
		return historyfile.Directory
	}
	return layout.Private + "/" + historyfile.Directory
}

// Has reports whether a file of the store is in the directory.
func (d Dir) Has(name string) bool { return path.Dir(name) == string(d) }

func (d Dir) name(it *item.Summary) string {
	return path.Join(string(d), historyfile.Name(it.ID, it.Created))
}

// read returns the history of an item, also what it has under earlier numbers. moved are the
// records of all items.
func (d Dir) read(root *os.Root, it *item.Summary, moved []renumbered.Record) (historyfile.Log, error) {
	ids := []item.ID{it.ID}
	for _, r := range renumbered.Of(moved, it.ID, it.Created) {
		ids = append(ids, r.From)
	}
	var logs []historyfile.Log
	for _, id := range ids {
		name := d.name(&item.Summary{ID: id, Created: it.Created})
		text, err := itemdir.ReadFile(root, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return historyfile.Log{}, fmt.Errorf("the history %q %w", name, err)
		}
		if text != "" {
			logs = append(logs, historyfile.Parse(text))
		}
	}
	if len(logs) == 1 {
		return logs[0], nil
	}
	return historyfile.Union(logs...), nil
}

// readOne reads the history of one item, also under its former numbers.
func (d Dir) readOne(root *os.Root, it *item.Summary) (historyfile.Log, error) {
	records, err := layout.Renumberings(root)
	if err != nil {
		return historyfile.Log{}, err
	}
	return d.read(root, it, records)
}

// Of returns the history of an item as far as it happened: a killed process may have written the
// history of a change that it did not make.
func (d Dir) Of(root *os.Root, it *item.Item) (historyfile.Log, error) {
	log, err := d.readOne(root, &it.Summary)
	if n := len(log.Changes); n > 0 && !log.Changes[n-1].Happened(it) {
		log.Changes = log.Changes[:n-1]
	}
	for i := range log.Changes {
		log.Changes[i].Item = it.ID
	}
	return log, err
}

// Knows reports whether the history of an item has a change with an ID, whether or not the
// change was made.
func (d Dir) Knows(root *os.Root, it *item.Summary, change string) (bool, error) {
	log, err := d.readOne(root, it)
	return slices.ContainsFunc(log.Changes, func(c changes.Change) bool { return c.ID == change }), err
}

// With returns the file of the history of an item with one more change; nil adds only that the
// item was updated at a time. before is the item as it is without the change.
func (d Dir) With(tx *lockedstore.Tx, before *item.Item, c *changes.Change, updated string) (lockedstore.File, error) {
	log, err := d.Of(tx.Root(), before)
	if err != nil {
		return lockedstore.File{}, err
	}
	if c == nil {
		log.Seen = updated
	} else {
		log.Changes = append(log.Changes, *c)
	}
	return d.file(tx, &before.Summary, log)
}

// File returns the file of the history of an item that has these changes.
func (d Dir) File(tx *lockedstore.Tx, it *item.Summary, changes []changes.Change) (lockedstore.File, error) {
	return d.file(tx, it, historyfile.Log{Changes: changes})
}

func (d Dir) file(tx *lockedstore.Tx, it *item.Summary, log historyfile.Log) (lockedstore.File, error) {
	text, err := log.Text()
	if err != nil {
		return lockedstore.File{}, err
	}
	for _, dir := range []string{path.Dir(string(d)), string(d)} {
		if dir == "." {
			continue
		}
		if err := tx.MakeDir(dir); err != nil {
			return lockedstore.File{}, err
		}
	}
	return lockedstore.File{Name: d.name(it), Data: []byte(text)}, nil
}

// Remove removes the history of a purged item.
func (d Dir) Remove(tx *lockedstore.Tx, it *item.Summary) error {
	if err := tx.Remove(d.name(it)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Latest returns the latest changes of items, the latest last. It reads only the histories that
// there are. items is called only if there are any.
func (d Dir) Latest(root *os.Root, items func() ([]*item.Summary, error)) ([]changes.Change, error) {
	names, err := layout.Names(root, string(d))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	list, err := items()
	if err != nil {
		return nil, err
	}
	records, err := layout.Renumberings(root)
	if err != nil {
		return nil, err
	}
	moved := map[item.ID]bool{}
	for _, r := range records {
		moved[r.To] = true
	}
	var all []changes.Change
	for _, it := range list {
		if !has[historyfile.Name(it.ID, it.Created)] && !moved[it.ID] {
			continue
		}
		log, err := d.read(root, it, records)
		if err != nil {
			return nil, err
		}
		for _, c := range log.Changes {
			c.Item = it.ID
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b changes.Change) int { return cmp.Compare(a.At, b.At) })
	return changes.Bounded(all), nil
}
