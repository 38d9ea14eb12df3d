// Package write changes a project of work items in a database. A [Writer] does so in one
// transaction: it reads there, and [Writer.Flush] sends all that it writes in one exchange. Each
// change of an item is in the item's history, or does not happen.
package write

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// Writer changes a project in one transaction. It is for one goroutine.
type Writer struct {
	// Project is the project as the transaction found it.
	Project row.Project
	// Rules are the configuration of the project, which the caller may complete.
	Rules item.Config

	ctx    context.Context //nolint:containedctx // a writer lives as long as one call
	tx     pgx.Tx
	by     claim.Agent
	undoes string    // the ID of the change that is undone
	freed  item.ID   // the item whose claim was stolen
	batch  pgx.Batch // what is written at the end
	grows  bool      // the items take more space at the end
}

// Open returns a writer of claims, which does not lock the project.
func Open(ctx context.Context, tx pgx.Tx, name string) (*Writer, error) {
	p, err := row.FindProject(ctx, tx, name)
	return &Writer{Project: p, Rules: p.Config, ctx: ctx, tx: tx, by: claim.AgentOf(ctx)}, err
}

// Lock locks the row of the project, gives the change its version, and returns its writer.
func Lock(ctx context.Context, tx pgx.Tx, name string) (*Writer, error) {
	p := row.Project{Name: name}
	err := p.Scan(tx.QueryRow(ctx, "update copse.project p set version = version + 1 where name = $1 returning "+row.ProjectColumns(), sqltext.Encode(name)))
	return &Writer{Project: p, Rules: p.Config, ctx: ctx, tx: tx, by: claim.AgentOf(ctx)}, err
}

// timestamp returns the time of the change, by the clock of the database.
func (w *Writer) timestamp() string {
	return w.Project.Now.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Applied returns what a change with this key was about, and whether it was made.
func (w *Writer) Applied(key string) (id item.ID, made bool, err error) {
	err = w.tx.QueryRow(w.ctx, "select item_id from copse.applied where project_id = $1 and key = $2", w.Project.ID, key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// Note records that the change was made.
func (w *Writer) Note(key string, id item.ID) {
	const some = 64 // of so many changes, one removes old keys
	w.queue("insert into copse.applied (project_id, key, item_id) values ($1, $2, $3)", w.Project.ID, key, int64(id))
	if rand.N(some) == 0 {
		w.queue("delete from copse.applied where project_id = $1 and at < pg_catalog.now() - interval '1 day'", w.Project.ID)
	}
}

// Made reports whether the change with this key was made. A transaction that has noted the key and
// has not ended is waited for. The caller rolls back, because the search leaves the key.
func Made(ctx context.Context, tx pgx.Tx, project int64, key string) (bool, error) {
	done, err := tx.Exec(ctx, "insert into copse.applied (project_id, key, item_id) values ($1, $2, 0) on conflict do nothing", project, key)
	return err == nil && done.RowsAffected() == 0, err
}

// queue adds a statement to those that are written at the end.
func (w *Writer) queue(sql string, args ...any) { w.batch.Queue(sql, args...) }

// Flush writes what was queued, in one round trip.
func (w *Writer) Flush() error {
	if w.batch.Len() == 0 {
		return nil
	}
	batch := w.batch
	w.batch = pgx.Batch{}
	return w.tx.SendBatch(w.ctx, &batch).Close()
}

// knowIteration adds the name of an iteration to the known ones.
func (w *Writer) knowIteration(name string) {
	if name == "" {
		return
	}
	w.queue("update copse.project set iterations = pg_catalog.array_append(iterations, $2) where id = $1 and not $2 = any(iterations)", w.Project.ID, sqltext.Encode(name))
}

// SetIteration sets the current iteration, and adds it to the known ones.
func (w *Writer) SetIteration(name string) error {
	if err := w.Rules.CheckIteration(name); err != nil {
		return err
	}
	w.knowIteration(name)
	w.queue("update copse.project set current_iteration = $2 where id = $1", w.Project.ID, sqltext.Encode(name))
	return nil
}

// SetMoved records where the items of the project are from now on; the zero mark is here.
func (w *Writer) SetMoved(m moved.Mark) {
	text := ""
	if m != (moved.Mark{}) {
		text = sqltext.Encode(m.String())
	}
	w.queue("update copse.project set moved = $2 where id = $1", w.Project.ID, text)
}
