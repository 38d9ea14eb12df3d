package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// log adds a change to the history of an item, which keeps the latest ones. The row of the
// item must be locked, or be written by an earlier statement of the batch.
func (w *writer) log(c item.Change) error {
	entry, err := json.Marshal(c)
	if err != nil {
		return err
	}
	w.queue(`insert into copse.history (project_id, item_id, seq, at, entry)
		select $1, $2, coalesce(max(seq), 0) + 1, $3, $4 from copse.history where project_id = $1 and item_id = $2`,
		w.id, int64(c.Item), c.At, string(entry))
	w.queue(`delete from copse.history where project_id = $1 and item_id = $2 and seq <=
		(select max(seq) from copse.history where project_id = $1 and item_id = $2) - $3`, w.id, int64(c.Item), int64(item.MaxHistory))
	return nil
}

// entry returns a change by the agent of the writer.
func (w *writer) entry(kind item.Kind, id item.ID) item.Change {
	return item.NewChange(kind, id, w.by, w.timestamp())
}

// historyOf returns the history of an item, of all items for 0, the latest last.
func historyOf(ctx context.Context, db querier, project int64, id item.ID) ([]item.Change, error) {
	const newest = " order by at desc, seq desc limit $2"
	query, args := "select entry from copse.history where project_id = $1"+newest, []any{project, int64(item.MaxHistory)}
	if id != 0 {
		query, args = "select entry from copse.history where project_id = $1 and item_id = $3 order by seq desc limit $2", append(args, int64(id))
	}
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	entries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	var log []item.Change
	for _, entry := range slices.Backward(entries) {
		var c item.Change
		if json.Unmarshal([]byte(entry), &c) == nil { // what nobody can read is not shown
			log = append(log, c)
		}
	}
	return log, nil
}

// anyItem returns an item, also a deleted one.
func anyItem(ctx context.Context, db querier, project int64, id item.ID) (row, error) {
	r, err := loadItem(ctx, db, project, id, live)
	if item.IsNotFound(err) {
		return loadItem(ctx, db, project, id, deleted)
	}
	return r, err
}

// History implements [item.Historian].
func (s *Store) History(ctx context.Context, id item.ID) (log []item.Change, err error) {
	err = s.read(ctx, func(ctx context.Context, db querier) error {
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		if id != 0 {
			if _, err := anyItem(ctx, db, p.id, id); err != nil {
				return err
			}
		}
		log, err = historyOf(ctx, db, p.id, id)
		return err
	})
	return log, err
}

// Undo implements [item.Historian].
func (s *Store) Undo(ctx context.Context, id item.ID, change string, steal bool) (undone item.Change, err error) {
	_, _, err = s.change(ctx, func(w *writer) (item.ID, error) {
		undone, err = w.undo(id, change, steal)
		return id, err
	})
	return undone, err
}

// undo undoes a change of an item.
func (w *writer) undo(id item.ID, change string, steal bool) (item.Change, error) {
	it, err := anyItem(w.ctx, w.tx, w.id, id)
	if err != nil {
		return item.Change{}, err
	}
	log, err := historyOf(w.ctx, w.tx, w.id, id)
	if err != nil {
		return item.Change{}, err
	}
	u, err := item.PlanUndo(&it.Item, it.state == deleted, log, change)
	if err != nil {
		return item.Change{}, err
	}
	if !u.Restore { // a deleted item has no claim
		if err := w.lockItem(id); err != nil {
			return item.Change{}, err
		}
		if err := w.checkHolder(id, steal); err != nil {
			return item.Change{}, err
		}
	}
	w.undoes = u.Change.ID
	u.Patch.Steal = steal
	switch {
	case u.Restore:
		_, err = w.restore(id)
	case u.Delete:
		err = w.discard(id, u.Change.ID, steal)
	case u.Comment != nil:
		err = w.takeBack(id, *u.Comment)
	default:
		_, err = w.update(id, u.Patch)
	}
	return u.Change, err
}

// discard deletes an item that nothing refers to.
func (w *writer) discard(id item.ID, change string, steal bool) error {
	others, err := loadItems(w.ctx, w.tx, "i.project_id = $1 and i.state = 'live' and (i.parent = $2 or $2 = any(i.depends_on))", w.id, int64(id))
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return &item.UndoError{ID: id, Change: change, Reason: "other items refer to it; delete it if nobody needs it"}
	}
	return w.delete(id, "", steal)
}

// takeBack removes the last comment that is the same as c.
func (w *writer) takeBack(id item.ID, c item.Comment) error {
	w.queue(`delete from copse.comment where project_id = $1 and item_id = $2 and seq = (select max(seq) from copse.comment
		where project_id = $1 and item_id = $2 and author = $3 and date = $4 and body = $5)`,
		w.id, int64(id), sqltext.Encode(c.Author), sqltext.Encode(c.Date), sqltext.Encode(c.Body))
	var a assignments
	a.set("updated", w.timestamp())
	w.store(id, a)
	taken := w.entry(item.Uncommented, id)
	taken.Comment, taken.Undoes = &c, w.undoes
	return w.log(taken)
}
