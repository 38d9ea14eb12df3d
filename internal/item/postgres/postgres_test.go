package postgres_test

import (
	"context"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// open returns the store of a project at an address.
func open(tb testing.TB, at, project string) *postgres.Store {
	tb.Helper()
	return openWith(tb, at, project, func(*pgxpool.Config) {})
}

// openWith is open with other connections.
func openWith(tb testing.TB, at, project string, change func(*pgxpool.Config)) *postgres.Store {
	tb.Helper()
	s := postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) {
			a, err := address.Parse(at)
			if err != nil {
				return nil, err
			}
			config, err := a.Config(address.Environment{Getenv: func(string) string { return "" }, GOOS: "linux"})
			if err == nil {
				change(config)
			}
			return config, err
		}},
		Project: func() (string, error) { return project, nil },
	})
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// makeProject makes a project as the suite has it, in a database with tables, and returns its store.
func makeProject(tb testing.TB, at, name string) *postgres.Store {
	tb.Helper()
	s := open(tb, at, name)
	ctx := context.Background()
	if created, err := s.Init(ctx); err != nil || !created {
		tb.Fatalf("made %t: %v", created, err)
	}
	if err := s.SetValues(ctx, "statuses", []string{"backlog", "todo", "done"}); err != nil {
		tb.Fatal(err)
	}
	return s
}

// nameOf returns a name for the project of a test.
func nameOf(t *testing.T) string { return strings.ReplaceAll(t.Name(), "/", " ") }

func TestBackend(t *testing.T) {
	t.Parallel()
	_, at := postgrestest.Shared(t)
	itemtest.Run(t, func(t *testing.T) storage.Backend { return makeProject(t, at, nameOf(t)) })
}

// A pooler that gives each transaction another session changes nothing.
func TestPooler(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at := server.Pooler(t, database)
	itemtest.Run(t, func(t *testing.T) storage.Backend { return makeProject(t, at, nameOf(t)) })
}

// The descriptions of many items are read at once; those that do not exist are left out.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	_, at := postgrestest.Shared(t)
	s, ctx := makeProject(t, at, nameOf(t)), t.Context()
	for _, text := range []string{"one", "two \x00 \x10", "three"} {
		if _, err := s.Create(ctx, item.Draft{Title: text, Description: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, 3, "", false); err != nil {
		t.Fatal(err)
	}
	got, err := s.Descriptions(ctx, []item.ID{1, 2, 3, 4})
	if want := map[item.ID]string{1: "one", 2: "two \x00 \x10"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}
