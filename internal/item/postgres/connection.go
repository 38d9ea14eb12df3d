package postgres

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/schema"
)

// querier is what reads: the pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Bounds of the connections of one process.
const (
	mostConnections = 4
	idleTime        = time.Minute
)

// connected returns the connections. Nothing is sent yet.
func (s *Store) connected() (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	config, err := s.o.Connect()
	if err != nil {
		return nil, &item.StoreError{Problem: err.Error(), Next: "Correct COPSE_ITEMS or items.database in your settings."}
	}
	if config.MaxConns > mostConnections {
		config.MaxConns = mostConnections
	}
	config.MaxConnIdleTime = idleTime
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, explain(err)
	}
	s.pool = pool
	return pool, nil
}

// prepared returns the connections to a database that has the tables which this program
// needs.
func (s *Store) prepared(ctx context.Context) (*pgxpool.Pool, error) {
	pool, err := s.connected()
	if err != nil || s.ready.Load() {
		return pool, err
	}
	version, err := schema.Version(ctx, pool)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	s.ready.Store(true)
	return pool, nil
}

// checkVersion compares the tables of a database with those that this program needs.
func checkVersion(version int) error {
	switch latest := schema.Latest(); {
	case version == 0:
		return &item.StoreError{Problem: "the database has no tables of work items yet", Next: "Ask its owner to run 'copse item migrate' once."}
	case version < latest:
		return &item.StoreError{Problem: "the tables of work items are older than this program needs", Next: "Ask the owner of the database to run 'copse item migrate'."}
	case version > latest:
		return &item.StoreError{Problem: "the tables of work items are newer than this program", Next: "Upgrade copse."}
	}
	return nil
}

// Migrate makes the tables, or brings them up to date.
func (s *Store) Migrate(ctx context.Context) ([]schema.Applied, error) {
	pool, err := s.connected()
	if err != nil {
		return nil, err
	}
	done, err := schema.Migrate(ctx, pool)
	return done, explain(err)
}

// read calls do, and again after a failure that passes.
func (s *Store) read(ctx context.Context, do func(ctx context.Context, db querier) error) error {
	return s.retry(ctx, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		return do(ctx, pool)
	})
}

// retry calls do until it succeeds or fails for good, and returns what a person can use of
// the error. A database that never answered is not waited for.
func (s *Store) retry(ctx context.Context, do func(ctx context.Context, attempt int) error) error {
	end := time.Now().Add(s.o.Patience)
	for attempt := 0; ; attempt++ {
		err := do(ctx, attempt)
		if err == nil {
			s.reached.Store(true)
			return nil
		}
		if ctx.Err() != nil || !passing(err) || isConnecting(err) && !s.reached.Load() || time.Now().After(end) {
			return explain(err)
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pause waits a little longer after each attempt, and not as long as others do.
func pause(ctx context.Context, attempt int) error {
	const step, most = 5 * time.Millisecond, 500 * time.Millisecond
	wait := rand.N(min(step<<min(attempt, 10), most)) + time.Millisecond
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isConnecting reports whether there was no connection to begin with.
func isConnecting(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// passing reports whether the same may succeed later: the connection was lost, the server
// restarts or fails over, or another transaction was in the way.
func passing(err error) bool {
	if isLost(err) {
		return true
	}
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch answer.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"57P01", "57P02", "57P03", "57P05", // shut down, crashed, starting, idle session ended
		"25P03", // the transaction was idle for too long
		"53300": // too many connections
		return true
	}
	return len(answer.Code) == 5 && answer.Code[:2] == "08" // connection exceptions
}

// isLost reports whether the connection ended before the answer was read.
func isLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
