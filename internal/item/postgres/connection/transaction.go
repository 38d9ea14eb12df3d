package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/storage"
)

const (
	// commitTime is how long a commit may take.
	commitTime = 10 * time.Second
	// commitGrace is how long a commit continues after its caller canceled the call. Most commits end
	// in that time, and their outcome is known.
	commitGrace = 300 * time.Millisecond
	// settleTime is how long a call that ended during its commit searches for the change.
	settleTime = time.Second
)

// Search reports whether a change was made. It waits until the transaction of the change has ended.
// What it writes is rolled back.
type Search func(ctx context.Context, tx pgx.Tx) (made bool, err error)

// Transaction calls do with a transaction, and commits it; again after a failure that passes. Each
// attempt may take as long as limit, 0 for the time of an answer. uncertain means that an earlier
// attempt may have been committed: its answer was lost.
//
// If the call is canceled during the commit, search finds out what became of the change: a change
// that was made is a success. If the outcome stays unknown, or search is nil, the error says so.
func (p *Pool) Transaction(ctx context.Context, limit time.Duration, search Search, do func(ctx context.Context, tx pgx.Tx, uncertain bool) error) error {
	limit = cmp.Or(limit, p.o.AnswerTime)
	uncertain, caller := false, ctx
	err := p.retry(ctx, limit, func(ctx context.Context) error {
		pool, err := p.Ready(ctx)
		if err != nil {
			return err
		}
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin(limit)})
		if err != nil {
			return err
		}
		defer func() { _ = ending(caller, tx.Rollback) }() // nothing after a commit; a connection that fails now is closed
		if err := do(ctx, tx, uncertain); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err = ending(caller, tx.Commit)
		if err == nil || refused(err) {
			return err
		}
		uncertain = true
		if search == nil || caller.Err() == nil && !pgconn.Timeout(err) {
			return err
		}
		made, failed := p.Search(caller, search)
		if failed != nil {
			return err
		}
		if made {
			return nil
		}
		uncertain = false
		return err
	})
	if err == nil || !uncertain {
		return err
	}
	if failed, ok := errors.AsType[*storage.StoreError](err); ok {
		return &storage.StoreError{
			Problem: "the connection to the database was lost while the change was being saved, so the change may have been made or not",
			Next:    "Check the item before you repeat the change.", Err: failed.Err,
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return sqlerror.ErrUnknown("Show the item, or list the items, before you repeat the change.", err)
	}
	return err
}

// refused reports whether the database did not commit. A session that ends may have committed before.
func refused(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !strings.HasPrefix(answer.Code, "57P") && !strings.HasPrefix(answer.Code, "08")
}

// ending ends a transaction. The end of the caller's context cuts it short after a moment only,
// because most commits have an outcome by then.
func ending(caller context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), commitTime)
	defer cancel()
	stop := context.AfterFunc(caller, func() { time.AfterFunc(commitGrace, cancel) })
	defer stop()
	return end(ctx)
}

// Search calls do in a transaction of a new connection, which it rolls back. The end of the context
// does not matter; do has about a second.
func (p *Pool) Search(ctx context.Context, do Search) (made bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	conn, err := p.Dial(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(ctx) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin(settleTime)})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	return do(ctx, tx)
}

// begin returns what begins a transaction in one round trip. A client that dies in the middle,
// or waits for one, holds up others for a bounded time. Another role's functions have no effect, even
// if they match a call better than the built-in ones. All settings end with the transaction.
func begin(maxIdle time.Duration) string {
	return fmt.Sprintf("begin isolation level read committed; set local lock_timeout = '10s'; set local idle_in_transaction_session_timeout = '%ds'; set local search_path = pg_catalog, pg_temp", int(maxIdle.Seconds()))
}
