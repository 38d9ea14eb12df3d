package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
)

// querier is what reads: the pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
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
	bounded.Apply(config.ConnConfig, s.o.MostAnswer)
	// Behind a pooler, somebody else may listen in this session.
	config.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, sqlerror.Explain(err)
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
		return &item.StoreError{Problem: "the database has no tables of work items yet", Next: "Ask its owner to run `copse item migrate` once."}
	case version < latest:
		return &item.StoreError{Problem: "the tables of work items are older than this program needs", Next: "Ask the owner of the database to run `copse item migrate`."}
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
	return done, sqlerror.Explain(err)
}

// read calls do, and again after a failure that passes.
func (s *Store) read(ctx context.Context, do func(ctx context.Context, db querier) error) error {
	return s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		return do(ctx, pool)
	})
}

// retry calls do until it succeeds or fails for good, and returns what a person can use of
// the error. Each call may take as long as limit. A database that never answered is not
// waited for.
func (s *Store) retry(ctx context.Context, limit time.Duration, do func(ctx context.Context, attempt int) error) error {
	end := time.Now().Add(s.o.Patience)
	for attempt := 0; ; attempt++ {
		err := within(ctx, limit, func(ctx context.Context) error { return do(ctx, attempt) })
		if err == nil {
			s.reached.Store(true)
			return nil
		}
		if ctx.Err() != nil || !sqlerror.Passing(err) || sqlerror.Connecting(err) && !s.reached.Load() || time.Now().After(end) {
			return sqlerror.Explain(err)
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// within calls do, which may take as long as limit.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return sqlerror.ErrSilent(limit)
	}
	return err
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
