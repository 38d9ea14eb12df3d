package writer

import (
	"cmp"
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// logFile returns the file of the history of an item with one more change; nil adds only that
// it was updated. before is the item as it is without the change.
func (w *Writer) logFile(before *item.Item, c *changes.Change, updated string) (lockedstore.File, error) {
	if c != nil {
		c.Undoes = w.undoes
		c.StolenFrom = cmp.Or(c.StolenFrom, w.stolen)
	}
	return w.History.With(w.Tx, before, c, updated)
}

// record adds a change to the history of an item whose file stays as it is.
func (w *Writer) record(it *item.Item, c changes.Change) error {
	made := changes.NewChange(c.Kind, it.ID, w.by, w.Timestamp())
	made.StolenFrom = c.StolenFrom
	file, err := w.logFile(it, &made, "")
	if err != nil {
		return err
	}
	return w.Tx.Write(file)
}

// Undo reverses a change of an item.
func (w *Writer) Undo(ctx context.Context, id item.ID, change string, steal bool) (changes.Change, error) {
	it, deleted, err := reader.Anywhere(w.Tx.Root(), id)
	if err != nil {
		return changes.Change{}, err
	}
	log, err := w.History.Of(w.Tx.Root(), &it)
	if err != nil {
		return changes.Change{}, err
	}
	u, err := changes.PlanUndo(&it, deleted, log.Changes, change)
	if err != nil {
		return changes.Change{}, err
	}
	if w.stolen, err = w.checkHolder(ctx, &it.Summary, steal); err != nil {
		return changes.Change{}, err
	}
	w.undoes = u.Change.ID
	u.Patch.Steal = steal
	switch {
	case u.Restore:
		_, err = w.Restore(id)
	case u.Delete:
		err = w.deleteAlone(ctx, it, u.Change.ID, steal)
	case u.Comment != nil:
		err = w.removeComment(id, *u.Comment)
	default:
		_, err = w.Update(ctx, id, u.Patch)
	}
	if err == nil && w.stolen != "" {
		err = w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error { return c.Forget(&it.Summary) })
	}
	return u.Change, err
}

// checkHolder returns a [*storage.HeldError] if another agent holds an item, or with steal, who does.
func (w *Writer) checkHolder(ctx context.Context, it *item.Summary, steal bool) (stolen string, err error) {
	err = w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error {
		stolen, err = c.Check(it, steal)
		return err
	})
	return stolen, err
}

// deleteAlone deletes an item that no other refers to.
func (w *Writer) deleteAlone(ctx context.Context, it item.Item, change string, steal bool) error {
	s, err := w.Snapshot()
	if err != nil {
		return err
	}
	if others := slices.Concat(s.Children(it.ID), s.Dependents(it.ID)); len(others) > 0 {
		return &changes.UndoError{ID: it.ID, Change: change, Reason: "work item #" + others[0].ID.String() + " now refers to it; delete it if nobody needs it"}
	}
	return w.Delete(ctx, it.ID, "", steal)
}

// removeComment takes the last comment away that is the same as c.
func (w *Writer) removeComment(id item.ID, c item.Comment) error {
	content, before, err := layout.Open(w.Tx.Root(), layout.Items, id)
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
		return &storage.ChangedError{ID: id}
	}
	now := w.after(before.Updated)
	if err := content.Update(id, item.Patch{}, now); err != nil {
		return layout.Unchangeable(id, err)
	}
	content.SetComments(slices.Delete(slices.Clone(before.Comments), at, at+1))
	change := changes.NewChange(changes.Uncommented, id, w.by, now)
	change.Comment = &c
	_, err = w.saveChange(&before, content, &change)
	return err
}

// saveChange writes the changed file of an item after its history, and returns what it has
// now. A nil change is that of an update that changed no field.
func (w *Writer) saveChange(before *item.Item, content *ticfile.File, c *changes.Change) (item.Item, error) {
	file, err := w.file(before.ID, content)
	if err != nil {
		return item.Item{}, err
	}
	it, _, err := content.Item()
	if err != nil {
		return item.Item{}, itemdir.Broken(layout.Items, before.ID, err)
	}
	log, err := w.logFile(before, c, it.Updated)
	if err != nil {
		return item.Item{}, err
	}
	if err := w.Tx.Write(log, file); err != nil {
		return item.Item{}, err
	}
	w.noteUsed()
	return it, nil
}

// file returns the file of an item, for which there is space.
func (w *Writer) file(id item.ID, content *ticfile.File) (lockedstore.File, error) {
	file, err := layout.File(layout.Items, id, content)
	if err != nil {
		return file, err
	}
	return file, w.checkSpace(file)
}
