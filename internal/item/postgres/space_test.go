package postgres_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// scans counts the statements that add up the sizes of all items.
type scans struct{ atomic.Int64 }

func (s *scans) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *scans) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	s.note(q.SQL, q.Args)
}

func (*scans) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *scans) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	s.note(q.SQL, q.Args)
	return ctx
}

func (*scans) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *scans) note(sql string, args []any) {
	if strings.Contains(sql, "sum(") && len(args) == 2 && args[1] == int64(-1) {
		s.Add(1)
	}
}

// A change that brings a project above what its readers read is refused. A
// process adds up the sizes of all items once, and again near the limit.
func TestSpace(t *testing.T) {
	t.Parallel()
	_, at := postgrestest.Shared(t)
	ctx := t.Context()
	makeProject(t, at, nameOf(t))
	var all scans
	small := func(project string) *postgres.Store {
		s := postgres.New(postgres.Options{
			Database: connection.Options{MaxAnswer: 400_000, Config: func() (*pgxpool.Config, error) {
				config, err := pgxpool.ParseConfig(at)
				if err == nil {
					config.ConnConfig.Tracer = &all
				}
				return config, err
			}},
			Project: func() (string, error) { return project, nil },
		})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	one, other := small(nameOf(t)), small(nameOf(t))
	create := func(s *postgres.Store, size int) error {
		_, err := s.Create(ctx, item.Draft{Title: "x", Description: strings.Repeat("x", size)})
		return err
	}
	update := func(id item.ID, size int) error {
		_, err := one.Update(ctx, id, item.Patch{Description: new(strings.Repeat("y", size))})
		return err
	}
	succeed := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(err error) {
		t.Helper()
		if failed := storeError(t, err); !strings.Contains(failed.Problem, "more than the 0.2861 MiB allowed") || !strings.Contains(failed.Next, "copse item trash purge") {
			t.Error(failed)
		}
	}
	for range 4 {
		succeed(create(one, 20_000))
	}
	if n := all.Load(); n != 1 {
		t.Errorf("one process added up the sizes of all items %d times", n)
	}
	for range 3 {
		succeed(create(other, 60_000))
	}
	refuse(create(one, 40_000))
	refuse(update(1, 80_000))
	refuse(create(small(nameOf(t)), 40_000)) // a new process
	for size := range 15 {
		succeed(update(1, 20_001+size)) // many small changes are not added up
	}
	succeed(update(1, 10))
	succeed(create(other, 20_000))
	if _, err := small(nameOf(t)).Snapshot(ctx); err != nil {
		t.Error(err)
	}
	succeed(one.Delete(ctx, 7, "", false))
	refuse(create(one, 40_000)) // the trash counts
	succeed(one.Purge(ctx, 7))
	succeed(create(one, 40_000))

	long := archive.Archive{Config: item.Config{Types: []string{"task"}, Statuses: []string{"todo"}, NextID: 5}}
	for id := range item.ID(4) {
		long.Records = append(long.Records, archive.Record{Item: item.Item{Summary: item.Summary{ID: id + 1}, Description: strings.Repeat("x", 90_000)}})
	}
	refuse(small("large").Enter(ctx, "files", long))
	long.Records, long.Config.NextID = long.Records[:3], 4
	succeed(small("large").Enter(ctx, "files", long))
}

// A comment that makes its item too large to be read is refused.
func TestSpaceOfComments(t *testing.T) {
	t.Parallel()
	server, database := planted(t)
	s, ctx := makeProject(t, server.Address(database), "shop"), t.Context()
	if _, err := s.Create(ctx, item.Draft{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, database, `insert into copse.comment (project_id, item_id, seq, author, date, body)
		select 1, 1, n, 'ada', '', pg_catalog.repeat('x', 1000000) from pg_catalog.generate_series(1, 8) n`)
	if _, err := s.AddComment(ctx, 1, "ada", "short"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddComment(ctx, 1, "ada", strings.Repeat("y", 600_000)); err == nil || !strings.Contains(err.Error(), "create another item") {
		t.Errorf("error is %v", err)
	}
}
