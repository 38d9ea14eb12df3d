package write

import (
	"encoding/json"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// log adds a change to the history of an item, which keeps the latest ones. The row of the
// item must be locked, or be written by an earlier statement of the batch.
func (w *Writer) log(c changes.Change) error {
	entry, err := json.Marshal(c)
	if err != nil {
		return err
	}
	w.queue(`insert into copse.history (project_id, item_id, seq, at, entry)
		select $1, $2, coalesce(pg_catalog.max(seq), 0) + 1, $3, $4 from copse.history where project_id = $1 and item_id = $2`,
		w.Project.ID, int64(c.Item), c.At, string(entry))
	w.queue(`delete from copse.history where project_id = $1 and item_id = $2 and seq <=
		(select pg_catalog.max(seq) from copse.history where project_id = $1 and item_id = $2) - $3`, w.Project.ID, int64(c.Item), int64(changes.MaxChanges))
	return nil
}

// entry returns a change by the agent of the writer.
func (w *Writer) entry(kind changes.Kind, id item.ID) changes.Change {
	return changes.NewChange(kind, id, w.by, w.timestamp())
}

// Undo undoes a change of an item.
func (w *Writer) Undo(id item.ID, change string, steal bool) (changes.Change, error) {
	it, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live, row.Deleted)
	if err != nil {
		return changes.Change{}, err
	}
	log, err := row.History(w.ctx, w.tx, w.Project.ID, id)
	if err != nil {
		return changes.Change{}, err
	}
	u, err := changes.PlanUndo(&it.Item, it.State == row.Deleted, log, change)
	if err != nil {
		return changes.Change{}, err
	}
	if !u.Restore { // a deleted item has no claim
		if err := w.lockItem(id); err != nil {
			return changes.Change{}, err
		}
		if err := w.checkHolder(id, steal); err != nil {
			return changes.Change{}, err
		}
	}
	w.undoes = u.Change.ID
	u.Patch.Steal = steal
	switch {
	case u.Restore:
		_, err = w.Restore(id)
	case u.Delete:
		err = w.discard(id, u.Change.ID, steal)
	case u.Comment != nil:
		err = w.takeBack(id, *u.Comment)
	default:
		_, err = w.Update(id, u.Patch)
	}
	return u.Change, err
}

// discard deletes an item that nothing refers to.
func (w *Writer) discard(id item.ID, change string, steal bool) error {
	others, err := row.Items(w.ctx, w.tx, "i.project_id = $1 and i.state = 'live' and (i.parent = $2 or $2 = any(i.depends_on))", w.Project.ID, int64(id))
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return &changes.UndoError{ID: id, Change: change, Reason: "other items refer to it; delete it if nobody needs it"}
	}
	return w.Delete(id, "", steal)
}

// takeBack removes the last comment that is the same as c.
func (w *Writer) takeBack(id item.ID, c item.Comment) error {
	w.queue(`delete from copse.comment where project_id = $1 and item_id = $2 and seq = (select pg_catalog.max(seq) from copse.comment
		where project_id = $1 and item_id = $2 and author = $3 and date = $4 and body = $5)`,
		w.Project.ID, int64(id), sqltext.Encode(c.Author), sqltext.Encode(c.Date), sqltext.Encode(c.Body))
	var a assignments
	a.set("updated", w.timestamp())
	w.store(id, a)
	taken := w.entry(changes.Uncommented, id)
	taken.Comment, taken.Undoes = &c, w.undoes
	return w.log(taken)
}
