package connection

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// ProcessColumn is the last column of the statements of [Often]: the process of the session.
const ProcessColumn = ", pg_catalog.pg_backend_pid()"

// straight is the key of what is known about a connection: true if it goes straight to the server,
// false if it must not prepare statements.
const straight = "copse: straight"

// Often runs a statement that a process runs so often that planning it each time would cost more than
// running it. It returns at most one row, whose last column is [ProcessColumn]. A connection that goes
// straight to the server prepares the statement. A pooler gives the connection a number other than
// that of the session's process, and can give each statement another session, where the prepared
// one does not exist.
func Often(ctx context.Context, pool *pgxpool.Pool, scan func(pgx.Row) error, sql string, args ...any) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	known := conn.Conn().PgConn().CustomData()
	run := func(mode pgx.QueryExecMode) error {
		var process int64
		err := scan(sqltext.WithMore(conn.QueryRow(ctx, sql, append([]any{mode}, args...)...), &process))
		if _, decided := known[straight]; err == nil && !decided {
			known[straight] = process == int64(conn.Conn().PgConn().PID())
		}
		return err
	}
	if known[straight] != true {
		return run(pgx.QueryExecModeExec)
	}
	if err = run(pgx.QueryExecModeCacheStatement); isUnprepared(err) {
		known[straight] = false
		err = run(pgx.QueryExecModeExec)
	}
	return err
}

// isUnprepared reports whether a prepared statement did not run because the session does not have it,
// has another one of that name, or because a migration changed its tables.
func isUnprepared(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch answer.Code {
	case "26000", "42P05", "0A000":
		return true
	}
	return false
}
