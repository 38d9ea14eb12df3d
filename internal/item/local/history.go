package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changelog"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// historyFolder returns the directory of the histories: a part of a store that clones share,
// and private to other stores. There git has the history of the files.
func historyFolder(dir string, place Location) string {
	if place.Shared != "" && dir == place.Shared {
		return changelog.Folder
	}
	return privateFolder + "/" + changelog.Folder
}

// readLog reads the history of an item, also what it has under earlier numbers.
func (f *folder) readLog(root *os.Root, it *item.Summary) (changelog.Log, error) {
	ids := []item.ID{it.ID}
	if records, err := itemfolder.ReadFile(root, renumbered.Name); err == nil {
		for _, r := range renumbered.Of(renumbered.Parse(records), it.ID, it.Created) {
			ids = append(ids, r.From)
		}
	}
	var logs []changelog.Log
	for _, id := range ids {
		text, err := itemfolder.ReadFile(root, path.Join(f.history, changelog.Name(id, it.Created)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changelog.Log{}, err
		}
		if text != "" {
			logs = append(logs, changelog.Parse(text))
		}
	}
	if len(logs) == 1 {
		return logs[0], nil
	}
	return changelog.Union(logs...), nil
}

// logOf returns the history of an item as far as it happened: a process that was killed can
// have written the history of a change that it did not come to make.
func (f *folder) logOf(root *os.Root, it *item.Item) (changelog.Log, error) {
	log, err := f.readLog(root, &it.Summary)
	if n := len(log.Changes); n > 0 && !log.Changes[n-1].Happened(it) {
		log.Changes = log.Changes[:n-1]
	}
	for i := range log.Changes {
		log.Changes[i].Item = it.ID
	}
	return log, err
}

// logFile returns the file of the history of an item with one more change; nil adds only that
// it was updated. before is the item as it is without the change.
func (w *writer) logFile(before *item.Item, c *item.Change, updated string) (lockedstore.File, error) {
	log, err := w.logOf(w.tx.Root(), before)
	if err != nil {
		return lockedstore.File{}, err
	}
	if c == nil {
		log.Seen = updated
	} else {
		c.Undoes = w.undoes
		log.Changes = append(log.Changes, *c)
	}
	text, err := log.Text()
	if err != nil {
		return lockedstore.File{}, err
	}
	for _, folder := range []string{path.Dir(w.history), w.history} {
		if folder == "." {
			continue
		}
		if err := w.tx.MakeFolder(folder); err != nil {
			return lockedstore.File{}, err
		}
	}
	return lockedstore.File{Name: path.Join(w.history, changelog.Name(before.ID, before.Created)), Data: []byte(text)}, nil
}

// record adds a change to the history of an item whose file stays as it is.
func (w *writer) record(it *item.Item, c item.Change) error {
	made := item.NewChange(c.Kind, it.ID, w.by, w.timestamp())
	made.StolenFrom = c.StolenFrom
	file, err := w.logFile(it, &made, "")
	if err != nil {
		return err
	}
	return w.tx.Write(file)
}

// removeHistory removes the history of an item that is gone for good.
func (w *writer) removeHistory(it *item.Summary) error {
	err := w.tx.Remove(path.Join(w.history, changelog.Name(it.ID, it.Created)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// anywhere reads an item that may be deleted.
func (f *folder) anywhere(root *os.Root, id item.ID) (it item.Item, deleted bool, err error) {
	_, it, err = f.open(root, itemsFolder, id)
	if item.IsNotFound(err) {
		if _, it, err = f.open(root, trashFolder, id); err == nil {
			deleted = true
		}
	}
	if err == nil {
		it.Link = readLink(root, it.Created)
	}
	return it, deleted, err
}

// History is of item.Backend.
func (s *Store) History(ctx context.Context, id item.ID) ([]item.Change, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := f.readConfig(); err != nil {
		return nil, err
	}
	root, err := f.dir.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if id == 0 {
		return f.latest(root)
	}
	it, _, err := f.anywhere(root, id)
	if err != nil {
		return nil, err
	}
	log, err := f.logOf(root, &it)
	if item.After(it.Updated, log.Last()) {
		log.Changes = append(log.Changes, item.Change{Item: id, At: it.Updated, Kind: item.Elsewhere})
	}
	return item.Bounded(log.Changes), err
}

// latest returns the latest changes of all items that there are, deleted ones included.
func (f *folder) latest(root *os.Root) ([]item.Change, error) {
	names, err := readNames(root, f.history)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	snapshot, err := f.snapshot()
	if err != nil {
		return nil, err
	}
	items := snapshot.List(item.Config{}, item.Filter{All: true})
	deleted, _, err := f.deleted()
	if err != nil {
		return nil, err
	}
	for i := range deleted {
		items = append(items, &deleted[i].Summary)
	}
	moved := map[item.ID]bool{}
	for _, r := range f.renumberings() {
		moved[r.To] = true
	}
	var all []item.Change
	for _, it := range items {
		if !has[changelog.Name(it.ID, it.Created)] && !moved[it.ID] {
			continue
		}
		log, err := f.readLog(root, it)
		if err != nil {
			return nil, err
		}
		for _, c := range log.Changes {
			c.Item = it.ID
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b item.Change) int { return cmp.Compare(a.At, b.At) })
	return item.Bounded(all), nil
}

// Undo is of item.Backend.
func (s *Store) Undo(ctx context.Context, id item.ID, change string) (c item.Change, err error) {
	err = s.change(ctx, func(w *writer) error {
		c, err = w.undo(ctx, id, change)
		return err
	})
	return c, err
}

func (w *writer) undo(ctx context.Context, id item.ID, change string) (item.Change, error) {
	it, deleted, err := w.anywhere(w.tx.Root(), id)
	if err != nil {
		return item.Change{}, err
	}
	log, err := w.logOf(w.tx.Root(), &it)
	if err != nil {
		return item.Change{}, err
	}
	u, err := item.PlanUndo(&it, deleted, log.Changes, change)
	if err != nil {
		return item.Change{}, err
	}
	w.undoes = u.Change.ID
	switch {
	case u.Restore:
		_, err = w.restore(id)
	case u.Delete:
		err = w.deleteAlone(ctx, it, u.Change.ID)
	case u.Comment != nil:
		err = w.removeComment(id, *u.Comment)
	default:
		_, err = w.update(ctx, id, u.Patch)
	}
	return u.Change, err
}

// deleteAlone deletes an item that no other refers to.
func (w *writer) deleteAlone(ctx context.Context, it item.Item, change string) error {
	s, err := w.snapshot()
	if err != nil {
		return err
	}
	if others := slices.Concat(s.Children(it.ID), s.Dependents(it.ID)); len(others) > 0 {
		return &item.UndoError{ID: it.ID, Change: change, Reason: "work item #" + others[0].ID.String() + " refers to it since; delete it if nobody needs it"}
	}
	return w.delete(ctx, it.ID, "")
}

// removeComment takes the last comment away that is the same as c.
func (w *writer) removeComment(id item.ID, c item.Comment) error {
	content, before, err := w.open(w.tx.Root(), itemsFolder, id)
	if err != nil {
		return err
	}
	at := -1
	for i, said := range before.Comments {
		if said == c {
			at = i
		}
	}
	if at < 0 {
		return &item.ChangedError{ID: id}
	}
	now := w.after(before.Updated)
	if err := content.Update(id, item.Patch{}, now); err != nil {
		return unchangeable(id, err)
	}
	content.SetComments(slices.Delete(slices.Clone(before.Comments), at, at+1))
	change := item.NewChange(item.Uncommented, id, w.by, now)
	change.Comment = &c
	_, err = w.saveChange(&before, content, &change)
	return err
}

// saveChange writes the changed file of an item after its history, and returns what it has
// now. A nil change is that of an update that changed no field.
func (w *writer) saveChange(before *item.Item, content *ticfile.File, c *item.Change) (item.Item, error) {
	file, err := fileOf(itemsFolder, before.ID, content)
	if err != nil {
		return item.Item{}, err
	}
	it, _, err := content.Item()
	if err != nil {
		return item.Item{}, itemfolder.Broken(itemsFolder, before.ID, err)
	}
	log, err := w.logFile(before, c, it.Updated)
	if err != nil {
		return item.Item{}, err
	}
	return it, w.tx.Write(log, file)
}
