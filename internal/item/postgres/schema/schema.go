// Package schema defines the tables of the database of work items, and the migrations that create
// and change them.
//
// A migration is a file of SQL statements, named by its number. [Migrate] applies the missing ones,
// each in a separate transaction with the note that it was applied. It runs only when a person
// requests it. [Version] returns the version of a database, and [Latest] the version that this
// program needs.
package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed *.sql
var files embed.FS

// names returns the migrations in their order.
func names() []string {
	return []string{"001_items.sql"}
}

// Latest returns the version that this program needs.
func Latest() int { return len(names()) }

// Querier reads: a pool, a connection, or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Database is what migrations are applied to.
type Database interface {
	Querier
	Begin(ctx context.Context) (pgx.Tx, error)
}

// SQLSTATE codes.
const (
	undefinedTable   = "42P01"
	invalidSchema    = "3F000"
	uniqueViolation  = "23505"
	duplicateSchema  = "42P06"
	duplicateTable   = "42P07"
	serialization    = "40001"
	deadlockDetected = "40P01"
)

// Version returns how many migrations a database has, 0 if it has no tables of copse. The error is an
// [*storage.StoreError] if other roles control the tables.
func Version(ctx context.Context, db Querier) (int, error) {
	if _, err := examine(ctx, db); err != nil {
		return 0, err
	}
	var version int
	err := db.QueryRow(ctx, "select coalesce(pg_catalog.max(version), 0) from copse.migration").Scan(&version)
	if is(err, undefinedTable, invalidSchema) {
		return 0, nil
	}
	return version, err
}

// is reports whether the server answered with one of the codes.
func is(err error, codes ...string) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, answer.Code)
}

// Applied is a migration that was applied.
type Applied struct {
	Version int
	Name    string
}

// attempts is how often a migration is tried while others apply it, too.
const attempts = 10

// Migrate applies the missing migrations and returns them.
func Migrate(ctx context.Context, db Database) ([]Applied, error) {
	var done []Applied
	for range attempts {
		version, err := Version(ctx, db)
		if err != nil || version >= Latest() {
			return done, err
		}
		name := names()[version]
		err = apply(ctx, db, version+1, name)
		switch {
		case is(err, uniqueViolation, duplicateSchema, duplicateTable, serialization, deadlockDetected):
			continue // another process was faster: look again
		case err != nil:
			return done, fmt.Errorf("apply migration %s: %w", name, err)
		}
		done = append(done, Applied{Version: version + 1, Name: strings.TrimSuffix(name, ".sql")})
	}
	return done, errors.New("others kept changing the tables at the same time; try again")
}

// apply makes one migration. The note comes first, so that two processes do not apply the
// same one.
func apply(ctx context.Context, db Database, version int, name string) error {
	statements, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "set local search_path = pg_catalog, pg_temp"); err != nil {
		return err
	}
	if version == 1 {
		const begin = "create schema if not exists copse; create table if not exists copse.migration (version bigint primary key, applied_at timestamptz not null default now())"
		if _, err := tx.Exec(ctx, begin); err != nil {
			return err
		}
	}
	o, err := examine(ctx, tx)
	if err != nil {
		return err
	}
	if !o.trusted {
		return foreignSchema(o.owner)
	}
	if _, err := tx.Exec(ctx, "insert into copse.migration (version) values ($1)", version); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(statements)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
