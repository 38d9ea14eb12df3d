package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// Leave calls do with everything that the project keeps while nobody else changes it, and
// records the store that do returns as the place of the items from then on. If do fails,
// nothing is recorded. A project that was left is left again only for unfinished, the place of
// an interrupted move; "" for none.
func (s *Store) Leave(ctx context.Context, unfinished string, do func(archive.Archive) (to string, err error)) error {
	_, _, err := s.changeWithin(ctx, moveTime, true, func(w *writer) (item.ID, error) {
		if err := w.moved.Err(); err != nil && !w.moved.Is(moved.Mark{To: unfinished}) {
			return 0, err
		}
		all, err := w.archive()
		if err != nil {
			return 0, err
		}
		to, err := do(all)
		if err != nil {
			return 0, err
		}
		w.queue("update copse.project set moved = $2 where id = $1", w.id, sqltext.Encode(moved.Mark{To: to}.String()))
		return 0, nil
	})
	return err
}

// Enter makes the project of everything that the store with the name from keeps, in one
// transaction, and compares what the database has then with it. The project accepts changes after
// [Store.Arrive]. A project that already has the same stays; one that is not in use, or never had
// an item, is replaced. Any other is an error.
func (s *Store) Enter(ctx context.Context, from string, all archive.Archive) error {
	return s.retry(ctx, moveTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin(moveTime)})
		if err != nil {
			return err
		}
		defer rollBack(ctx, tx)
		w := &writer{ctx: ctx, tx: tx}
		same, err := w.makeRoom(s, name, all)
		if err != nil || same {
			return err
		}
		if err := w.enter(name, from, all); err != nil {
			return err
		}
		found, err := w.archive()
		if err != nil {
			return err
		}
		if err := all.Compare(found); err != nil {
			return fmt.Errorf("the copy in the database differs, so nothing was moved: %w", err)
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		defer cancel()
		if err := tx.Commit(ending); err != nil {
			return err
		}
		s.announcer.Changed(w.id)
		return nil
	})
}

// Arriving reports whether a move to the project has not ended.
func (s *Store) Arriving(ctx context.Context) (arriving bool, err error) {
	err = s.read(ctx, func(ctx context.Context, db querier) error {
		p, err := s.project(ctx, db)
		if errors.Is(err, item.ErrNoProject) {
			return nil
		}
		arriving = p.moved.From != ""
		return err
	})
	return arriving, err
}

// Arrive ends a move to the project from another store, which accepts no more changes.
func (s *Store) Arrive(ctx context.Context) error {
	_, _, err := s.changeWithin(ctx, s.o.AnswerTime, true, func(w *writer) (item.ID, error) {
		if w.moved.From == "" {
			return 0, w.moved.Err()
		}
		w.queue("update copse.project set moved = '' where id = $1", w.id)
		return 0, nil
	})
	return err
}

// makeRoom removes a project that nobody needs. same reports whether it equals the project to enter.
func (w *writer) makeRoom(s *Store, name string, all archive.Archive) (same bool, err error) {
	w.name = name
	err = w.tx.QueryRow(w.ctx, "select "+projectColumns+" from copse.project p where p.name = $1 for update", sqltext.Encode(name)).Scan(w.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.decode()
	found, err := w.archive()
	if err != nil {
		return false, err
	}
	if w.mark == "" {
		switch {
		case all.Compare(found) == nil:
			return true, nil
		case !found.Empty():
			return false, &item.StoreError{
				Problem: fmt.Sprintf("the project %q in the database has items of its own (%s)", name, found.Count()),
				Next:    "Choose another name for the project: add ?project=NAME to the address.",
			}
		}
	}
	_, err = w.tx.Exec(w.ctx, "delete from copse.project where id = $1", w.id)
	return false, err
}

// enter inserts the project and all that it keeps.
func (w *writer) enter(name, from string, all archive.Archive) error {
	c := all.Config
	err := w.tx.QueryRow(w.ctx, `insert into copse.project as p (name, version, next_id, types, statuses, done_statuses, iterations, current_iteration, original, moved)
		values ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9) returning `+projectColumns,
		sqltext.Encode(name), int64(c.NextID), sqltext.EncodeAll(c.Types), sqltext.EncodeAll(c.Statuses), sqltext.EncodeAll(c.DoneStatuses), sqltext.EncodeAll(c.Iterations),
		sqltext.Encode(c.CurrentIteration), sqltext.Encode(all.ConfigText), sqltext.Encode(moved.Mark{From: from}.String())).Scan(w.fields()...)
	if err != nil {
		return err
	}
	w.decode()
	for name, text := range all.Files {
		w.queue("insert into copse.file (project_id, name, content) values ($1, $2, $3)", w.id, sqltext.Encode(name), sqltext.Encode(text))
	}
	const some = 200 // items are sent at once
	for i, r := range all.Records {
		if err := w.enterRecord(r); err != nil {
			return err
		}
		if i%some == some-1 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

func (w *writer) enterRecord(r archive.Record) error {
	it := row{Item: r.Item, state: live, lost: lost{r.LostChildren, r.LostDependents}}
	if r.InTrash {
		it.state, it.deleted = deleted, r.Deleted
	}
	w.insert(it)
	if r.Text != "" {
		w.queue("update copse.item set original = $3 where project_id = $1 and id = $2", w.id, int64(r.ID), sqltext.Encode(r.Text))
	}
	for i, c := range r.Comments {
		w.queue("insert into copse.comment (project_id, item_id, seq, author, date, body) values ($1, $2, $3, $4, $5, $6)",
			w.id, int64(r.ID), int64(i+1), sqltext.Encode(c.Author), sqltext.Encode(c.Date), sqltext.Encode(c.Body))
	}
	for i, c := range r.History {
		entry, err := json.Marshal(c)
		if err != nil {
			return err
		}
		w.queue("insert into copse.history (project_id, item_id, seq, at, entry) values ($1, $2, $3, $4, $5)",
			w.id, int64(r.ID), int64(i+1), sqltext.Encode(c.At), string(entry))
	}
	return nil
}

// archive returns everything that the project keeps.
func (w *writer) archive() (archive.Archive, error) {
	all := archive.Archive{Config: w.config, Files: map[string]string{}}
	if err := w.tx.QueryRow(w.ctx, "select original from copse.project where id = $1", w.id).Scan(&all.ConfigText); err != nil {
		return all, err
	}
	all.ConfigText = sqltext.Decode(all.ConfigText)
	rows, err := loadItems(w.ctx, w.tx, "i.project_id = $1 and i.state <> 'purged'", w.id)
	if err != nil {
		return all, err
	}
	at := make(map[item.ID]int, len(rows))
	for i, r := range rows {
		at[r.ID] = i
		all.Records = append(all.Records, archive.Record{
			Item: r.Item, InTrash: r.state == deleted, Deleted: r.deleted, LostChildren: r.lost.children, LostDependents: r.lost.dependents,
		})
	}
	record := func(id item.ID) *archive.Record {
		if i, ok := at[id]; ok {
			return &all.Records[i]
		}
		return new(archive.Record)
	}
	for _, part := range []struct {
		query string
		add   func(id item.ID, a, b, c string)
	}{
		{"select id, original, '', '' from copse.item where project_id = $1 and original <> ''", func(id item.ID, text, _, _ string) {
			record(id).Text = text
		}},
		{"select item_id, author, date, body from copse.comment where project_id = $1 order by item_id, seq", func(id item.ID, author, date, body string) {
			r := record(id)
			r.Comments = append(r.Comments, item.Comment{Author: author, Date: date, Body: body})
		}},
		{"select item_id, entry, '', '' from copse.history where project_id = $1 order by item_id, seq", func(id item.ID, entry, _, _ string) {
			var c item.Change
			if json.Unmarshal([]byte(entry), &c) == nil {
				r := record(id)
				r.History = append(r.History, c)
			}
		}},
		{"select 0::bigint, name, content, '' from copse.file where project_id = $1", func(_ item.ID, name, text, _ string) {
			all.Files[name] = text
		}},
	} {
		if err := w.each(part.query, part.add); err != nil {
			return all, err
		}
	}
	return all, nil
}

// each calls do with the rows of a query about the project.
func (w *writer) each(query string, do func(id item.ID, a, b, c string)) error {
	rows, err := w.tx.Query(w.ctx, query, w.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id item.ID
		var a, b, c string
		if err := rows.Scan(&id, &a, &b, &c); err != nil {
			return err
		}
		do(id, sqltext.Decode(a), sqltext.Decode(b), sqltext.Decode(c))
	}
	return rows.Err()
}
