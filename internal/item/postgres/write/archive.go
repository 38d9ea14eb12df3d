package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Enter creates the project from the content of the store with the name from, compares the result
// with it, and returns the project's number. A project that already has the same stays: then the
// number is 0. One that needs more than the space is refused.
func Enter(ctx context.Context, tx pgx.Tx, name, from string, all archive.Archive, space *Space) (project int64, err error) {
	w := &Writer{Project: row.Project{Name: name}, ctx: ctx, tx: tx}
	same, err := w.makeRoom(all)
	if err != nil || same {
		return 0, err
	}
	if err := w.enter(from, all); err != nil {
		return 0, err
	}
	w.grows = true // the project is new, so nothing is known
	if _, err := w.FlushWithin(space); err != nil {
		return 0, err
	}
	found, err := w.Archive()
	if err != nil {
		return 0, err
	}
	if err := all.Compare(found); err != nil {
		return 0, fmt.Errorf("the copy in the database differs, so nothing was moved: %w", err)
	}
	return w.Project.ID, nil
}

// makeRoom removes a project that nobody needs. same reports whether it equals the project to enter.
func (w *Writer) makeRoom(all archive.Archive) (same bool, err error) {
	name := w.Project.Name
	err = w.Project.Scan(w.tx.QueryRow(w.ctx, row.SelectProject()+" for update", sqltext.Encode(name)))
	if errors.Is(err, storage.ErrNoProject) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	found, err := w.Archive()
	if err != nil {
		return false, err
	}
	if w.Project.InUse {
		switch {
		case all.Compare(found) == nil:
			return true, nil
		case !found.Empty():
			return false, &storage.StoreError{
				Problem: fmt.Sprintf("the project %q in the database has items of its own (%s)", name, found.Count()),
				Next:    "Choose another name for the project: add ?project=NAME to the address.",
			}
		}
	}
	_, err = w.tx.Exec(w.ctx, "delete from copse.project where id = $1", w.Project.ID)
	return false, err
}

// enter inserts the project and all that it keeps.
func (w *Writer) enter(from string, all archive.Archive) error {
	c := all.Config
	err := w.Project.Scan(w.tx.QueryRow(w.ctx, `insert into copse.project as p (name, version, next_id, types, statuses, done_statuses, iterations, current_iteration, original, moved)
		values ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9) returning `+row.ProjectColumns(),
		sqltext.Encode(w.Project.Name), int64(c.NextID), sqltext.EncodeAll(c.Types), sqltext.EncodeAll(c.Statuses), sqltext.EncodeAll(c.DoneStatuses), sqltext.EncodeAll(c.Iterations),
		sqltext.Encode(c.CurrentIteration), sqltext.Encode(all.ConfigText), sqltext.Encode(moved.Mark{From: from}.String())))
	if err != nil {
		return err
	}
	for name, text := range all.Files {
		w.queue("insert into copse.file (project_id, name, content) values ($1, $2, $3)", w.Project.ID, sqltext.Encode(name), sqltext.Encode(text))
	}
	const some = 200 // items are sent at once
	for i, r := range all.Records {
		if err := w.enterRecord(r); err != nil {
			return err
		}
		if i%some == some-1 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

func (w *Writer) enterRecord(r archive.Record) error {
	it := row.Item{Item: r.Item, State: row.Live, Lost: relation.Lost{Children: r.LostChildren, Dependents: r.LostDependents}}
	if r.InTrash {
		it.State, it.DeletedAt = row.Deleted, r.Deleted
	}
	w.insert(it)
	if r.Text != "" {
		w.queue("update copse.item set original = $3 where project_id = $1 and id = $2", w.Project.ID, int64(r.ID), sqltext.Encode(r.Text))
	}
	for i, c := range r.Comments {
		w.queue("insert into copse.comment (project_id, item_id, seq, author, date, body) values ($1, $2, $3, $4, $5, $6)",
			w.Project.ID, int64(r.ID), int64(i+1), sqltext.Encode(c.Author), sqltext.Encode(c.Date), sqltext.Encode(c.Body))
	}
	for i, c := range r.History {
		entry, err := json.Marshal(c)
		if err != nil {
			return err
		}
		w.queue("insert into copse.history (project_id, item_id, seq, at, entry) values ($1, $2, $3, $4, $5)",
			w.Project.ID, int64(r.ID), int64(i+1), sqltext.Encode(c.At), string(entry))
	}
	return nil
}

// Archive returns everything that the project keeps.
func (w *Writer) Archive() (archive.Archive, error) {
	all := archive.Archive{Config: w.Project.Config, Files: map[string]string{}}
	if err := w.checkSize(); err != nil {
		return all, err
	}
	if err := w.tx.QueryRow(w.ctx, "select original from copse.project where id = $1", w.Project.ID).Scan(&all.ConfigText); err != nil {
		return all, err
	}
	all.ConfigText = sqltext.Decode(all.ConfigText)
	rows, err := row.Items(w.ctx, w.tx, "i.project_id = $1 and i.state <> 'purged'", w.Project.ID)
	if err != nil {
		return all, err
	}
	at := make(map[item.ID]int, len(rows))
	for i, r := range rows {
		at[r.ID] = i
		all.Records = append(all.Records, archive.Record{
			Item: r.Item, InTrash: r.State == row.Deleted, Deleted: r.DeletedAt, LostChildren: r.Lost.Children, LostDependents: r.Lost.Dependents,
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
			var c changes.Change
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
func (w *Writer) each(query string, do func(id item.ID, a, b, c string)) error {
	rows, err := w.tx.Query(w.ctx, query, w.Project.ID)
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
