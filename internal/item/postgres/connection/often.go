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
// one does not exist. Often returns the session in which the statement began.
func Often(ctx context.Context, pool *pgxpool.Pool, scan func(pgx.Row) error, sql string, args ...any) (Session, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return Session{}, err
	}
	defer conn.Release()
	session := sessionOf(conn.Conn())
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
		return session, run(pgx.QueryExecModeExec)
	}
	if err = run(pgx.QueryExecModeCacheStatement); isUnprepared(err) {
		known[straight] = false
		err = run(pgx.QueryExecModeExec)
	}
	return session, err
}

// Session is the process of a server behind a connection, as far as the client knows it.
type Session struct {
	process int64
	server  string
}

func sessionOf(conn *pgx.Conn) Session {
	return Session{int64(conn.PgConn().PID()), conn.PgConn().Conn().RemoteAddr().String()}
}

// Ended reports whether the session is known to have ended, and its statement with it. tx is in another
// session. Behind a pooler, and if another server answers, nothing is known.
func (s Session) Ended(ctx context.Context, tx pgx.Tx) (bool, error) {
	here := sessionOf(tx.Conn())
	if s == (Session{}) || s.server != here.server {
		return false, nil
	}
	if _, err := tx.Exec(ctx, "select pg_catalog.pg_stat_clear_snapshot()"); err != nil {
		return false, err
	}
	var process int64
	var exists bool
	err := tx.QueryRow(ctx, "select pg_catalog.pg_backend_pid(), exists (select from pg_catalog.pg_stat_activity a where a.pid = $1)", s.process).Scan(&process, &exists)
	return err == nil && process == here.process && !exists, err
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
