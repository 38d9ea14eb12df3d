// Package connection connects to a database of work items. A [Pool] connects when it is first used,
// and again whenever a connection was lost. It repeats a request after a temporary failure, and
// limits the time and size of each response. Errors are those of package sqlerror.
//
// No statement depends on the session that it runs in: a pooler may give each transaction another
// one.
package connection

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/describe"
	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Options say how to connect.
type Options struct {
	// Config returns the configuration of the connections. It is called when the pool is first
	// used, and again after an error.
	Config func() (*pgxpool.Config, error)
	// Patience is how long a lost connection is tried again; 0 is a default. A conflict is tried
	// again for at most conflictTime.
	Patience time.Duration
	// AnswerTime is how long the database may take to answer a call; 0 is a default.
	AnswerTime time.Duration
	// MaxAnswer is how many bytes the database can send at once; 0 is a default.
	MaxAnswer int64
}

const (
	// defaultPatience is longer than most servers take to fail over to another.
	defaultPatience = 8 * time.Second
	// conflictTime is enough for many rounds of real conflicts. A database that calls everything a
	// conflict must not hold up a call for as long as a failover.
	conflictTime = 2 * time.Second
	// defaultAnswerTime is longer than the locks of others can last.
	defaultAnswerTime = 30 * time.Second
	// closeTime is how long a server may take to end the connections. A process that ends does not
	// wait longer.
	closeTime = 300 * time.Millisecond
)

// Bounds of the connections of one process.
const (
	maxConnections = 4
	idleTime       = time.Minute
)

// Pool holds the connections of one process. It is safe for concurrent use.
type Pool struct {
	o Options

	mu      sync.Mutex
	pool    *pgxpool.Pool
	ready   atomic.Bool // the tables were looked at
	reached atomic.Bool // the database answered once
}

// New returns a pool. Nothing is connected yet.
func New(o Options) *Pool {
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	o.AnswerTime = cmp.Or(o.AnswerTime, defaultAnswerTime)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, bounded.MaxAnswer)
	return &Pool{o: o}
}

// Patience returns how long a lost connection is tried again.
func (p *Pool) Patience() time.Duration { return p.o.Patience }

// MaxAnswer returns how many bytes the database can send at once.
func (p *Pool) MaxAnswer() int64 { return p.o.MaxAnswer }

// Close ends the connections. It waits a short time for a server that does not react, and ends those
// connections in the background. A pool that is used again connects again.
func (p *Pool) Close() {
	p.mu.Lock()
	pool := p.pool
	p.pool = nil
	p.mu.Unlock()
	if pool == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
}

// InUse returns the connections, nil if there are none yet.
func (p *Pool) InUse() *pgxpool.Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pool
}

// connected returns the connections. Nothing is sent yet.
func (p *Pool) connected() (*pgxpool.Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pool != nil {
		return p.pool, nil
	}
	config, err := p.o.Config()
	if exposed, ok := errors.AsType[*address.ExposedError](err); ok {
		return nil, &storage.StoreError{Problem: exposed.Error(), Next: exposed.Next(), Err: err}
	}
	if err != nil {
		return nil, &storage.StoreError{Problem: err.Error(), Next: "Correct COPSE_ITEMS or items.database in your settings."}
	}
	if config.MaxConns > maxConnections {
		config.MaxConns = maxConnections
	}
	config.MaxConnIdleTime = idleTime
	bounded.Apply(config.ConnConfig, p.o.MaxAnswer)
	// Behind a pooler, somebody else may listen in this session.
	config.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, sqlerror.Explain(err)
	}
	p.pool = pool
	return pool, nil
}

// Ready returns the connections to a database that has the tables which this program needs.
func (p *Pool) Ready(ctx context.Context) (*pgxpool.Pool, error) {
	pool, err := p.connected()
	if err != nil || p.ready.Load() {
		return pool, err
	}
	version, err := schema.Version(ctx, pool)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	p.ready.Store(true)
	return pool, nil
}

// checkVersion compares the tables of a database with those that this program needs.
func checkVersion(version int) error {
	switch latest := schema.Latest(); {
	case version == 0:
		return &storage.StoreError{Problem: "the database has no tables of work items yet", Next: "Ask its owner to run `copse item migrate` once."}
	case version < latest:
		return &storage.StoreError{Problem: "the tables of work items are older than this program needs", Next: "Ask the owner of the database to run `copse item migrate`."}
	case version > latest:
		return &storage.StoreError{Problem: "the tables of work items are newer than this program", Next: "Upgrade copse."}
	}
	return nil
}

// Migrate creates or updates the tables.
func (p *Pool) Migrate(ctx context.Context) ([]schema.Applied, error) {
	pool, err := p.connected()
	if err != nil {
		return nil, err
	}
	if version, err := schema.Version(ctx, pool); err == nil && version > schema.Latest() {
		return nil, checkVersion(version)
	}
	done, err := schema.Migrate(ctx, pool)
	return done, sqlerror.Explain(err)
}

// Describe returns a description of the database.
func (p *Pool) Describe(ctx context.Context) (d describe.Database, err error) {
	err = p.retry(ctx, p.o.AnswerTime, func(ctx context.Context) error {
		pool, err := p.connected()
		if err != nil {
			return err
		}
		d, err = describe.Ask(ctx, pool)
		return err
	})
	return d, err
}

// Dial returns a connection that is not one of the pool.
func (p *Pool) Dial(ctx context.Context) (*pgx.Conn, error) {
	pool, err := p.Ready(ctx)
	if err != nil {
		return nil, err
	}
	config := pool.Config().ConnConfig
	config.OnNotification = nil
	return pgx.ConnectConfig(ctx, config)
}

// Do calls do, and again after a failure that passes.
func (p *Pool) Do(ctx context.Context, do func(ctx context.Context, db *pgxpool.Pool) error) error {
	return p.retry(ctx, p.o.AnswerTime, func(ctx context.Context) error {
		pool, err := p.Ready(ctx)
		if err != nil {
			return err
		}
		return do(ctx, pool)
	})
}

// retry calls do until it succeeds or fails for good, and returns what a person can use of
// the error. Each call may take as long as limit. A database that never answered is not
// waited for.
func (p *Pool) retry(ctx context.Context, limit time.Duration, do func(ctx context.Context) error) error {
	const shortest, longest = 5 * time.Millisecond, 500 * time.Millisecond
	pauses := backoff.Start(shortest, longest)
	for renewed := false; ; {
		err := Within(ctx, limit, do)
		if pool := p.InUse(); sqlerror.ReadOnly(err) && !renewed && pool != nil {
			renewed = true
			pool.Reset() // they can be connections to a server that was the primary when they were made
			continue
		}
		if err == nil {
			p.reached.Store(true)
			return nil
		}
		patience := p.o.Patience
		if sqlerror.Conflict(err) {
			patience = min(patience, conflictTime)
		}
		if ctx.Err() != nil || !sqlerror.Passing(err) || sqlerror.Connecting(err) && !p.reached.Load() {
			return sqlerror.Explain(err)
		}
		if paused := pauses.Pause(ctx, patience); errors.Is(paused, backoff.ErrLimit) {
			return sqlerror.Explain(err)
		} else if paused != nil {
			return paused
		}
	}
}

// Within calls do, which may take as long as limit.
func Within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return sqlerror.ErrSilent(limit)
	}
	return err
}

// Locked returns the pauses between the attempts to lock rows that another transaction holds.
func Locked() *backoff.Backoff { return backoff.Start(10*time.Millisecond, 250*time.Millisecond) }

// AwaitOther pauses before the next attempt. Such a transaction can last for hours: after the time of a
// conflict, the error says so.
func (p *Pool) AwaitOther(ctx context.Context, pauses *backoff.Backoff) error {
	err := pauses.Pause(ctx, min(conflictTime, p.o.Patience))
	if errors.Is(err, backoff.ErrLimit) {
		return &storage.StoreError{Problem: "another transaction is changing the free items", Next: "Nothing was changed; try again."}
	}
	return err
}
