package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// begin returns what begins a transaction in one round trip. A client that dies in the middle,
// or waits for one, holds up others for a bounded time; both settings end with the transaction.
func begin(mostIdle time.Duration) string {
	return fmt.Sprintf("begin isolation level read committed; set local lock_timeout = '10s'; set local idle_in_transaction_session_timeout = '%ds'", int(mostIdle.Seconds()))
}

// commitTime is how long a commit may take. It is not cut short by the caller, who could
// not know what became of the change.
const commitTime = 10 * time.Second

// rollBack ends a transaction that was not committed.
func rollBack(ctx context.Context, tx pgx.Tx) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	_ = tx.Rollback(ending) // a connection that fails now is closed
}

// writer changes a project, whose row it has locked. It is for one goroutine.
type writer struct {
	ctx context.Context //nolint:containedctx // a writer lives as long as one call
	tx  pgx.Tx
	project
	by     item.Agent
	rules  item.Config // the configuration, completed by the settings
	undoes string      // the ID of the change that is undone
	freed  item.ID     // the item whose claim was stolen
	batch  pgx.Batch   // what is written at the end
	quiet  bool        // nobody needs to know of it at once
}

// timestamp returns the time of the change, by the clock of the database.
func (w *writer) timestamp() string { return w.now.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// change calls do with a writer, in a transaction, and commits what it did. do returns the
// item that it is about. If the answer of the commit is lost, the change is tried again,
// unless it is found to have been made: then replayed is true, and id is what do returned
// at that time.
func (s *Store) change(ctx context.Context, do func(*writer) (item.ID, error)) (id item.ID, replayed bool, err error) {
	return s.changeWithin(ctx, s.o.AnswerTime, false, do)
}

// changeWithin is change with the time that one attempt may take. A move also changes a project
// that accepts no other changes.
func (s *Store) changeWithin(ctx context.Context, limit time.Duration, moving bool, do func(*writer) (item.ID, error)) (id item.ID, replayed bool, err error) {
	key := uuid.NewString()
	uncertain := false
	err = s.retry(ctx, limit, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin(limit)})
		if err != nil {
			return err
		}
		defer rollBack(ctx, tx)
		w := &writer{ctx: ctx, tx: tx, by: item.AgentOf(ctx)}
		if err := s.lock(w, moving); err != nil {
			return err
		}
		if uncertain {
			if id, replayed, err = w.applied(key); replayed || err != nil {
				return err
			}
		}
		if id, err = do(w); err != nil {
			return err
		}
		w.note(key, id)
		if err := w.flush(); err != nil {
			return err
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		defer cancel()
		err = tx.Commit(ending)
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused {
			uncertain = true
		}
		if err == nil {
			s.announcer.Changed(w.id)
		}
		return err
	})
	if failed, ok := errors.AsType[*item.StoreError](err); ok && uncertain {
		return 0, false, &item.StoreError{
			Problem: "the connection to the database was lost while the change was being saved, so the change may have been made or not",
			Next:    "Look at the item before you repeat the change.", Err: failed.Err,
		}
	}
	return id, replayed, err
}

// lock locks the row of the project, gives the change its version, and reads the project. If the
// project accepts no changes, the error says so, unless the change is part of a move.
func (s *Store) lock(w *writer, moving bool) error {
	name, err := s.name()
	if err != nil {
		return err
	}
	w.name = name
	err = w.tx.QueryRow(w.ctx, "update copse.project p set version = version + 1 where name = $1 returning "+projectColumns, sqltext.Encode(name)).Scan(w.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return &item.NoProjectError{Name: name}
	}
	if err != nil {
		return err
	}
	w.decode()
	if err := w.moved.Err(); err != nil && !moving {
		return err
	}
	w.rules, err = s.configOf(w.project)
	return err
}

// applied returns what a change with this key was about, and whether it was made.
func (w *writer) applied(key string) (id item.ID, made bool, err error) {
	err = w.tx.QueryRow(w.ctx, "select item_id from copse.applied where project_id = $1 and key = $2", w.id, key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// note records that the change was made.
func (w *writer) note(key string, id item.ID) {
	const some = 64 // of so many changes, one removes old keys
	w.queue("insert into copse.applied (project_id, key, item_id) values ($1, $2, $3)", w.id, key, int64(id))
	if rand.N(some) == 0 {
		w.queue("delete from copse.applied where project_id = $1 and at < now() - interval '1 day'", w.id)
	}
}

// queue adds a statement to those that are written at the end.
func (w *writer) queue(sql string, args ...any) { w.batch.Queue(sql, args...) }

// flush writes what was queued, in one round trip.
func (w *writer) flush() error {
	if w.batch.Len() == 0 {
		return nil
	}
	results := w.tx.SendBatch(w.ctx, &w.batch)
	w.batch = pgx.Batch{}
	return results.Close()
}

// knowIteration adds the name of an iteration to the known ones.
func (w *writer) knowIteration(name string) {
	if name == "" {
		return
	}
	w.queue("update copse.project set iterations = array_append(iterations, $2) where id = $1 and not $2 = any(iterations)", w.id, sqltext.Encode(name))
}

func (w *writer) setIteration(name string) error {
	w.knowIteration(name)
	w.queue("update copse.project set current_iteration = $2 where id = $1", w.id, sqltext.Encode(name))
	return nil
}
