package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// copse creates no tables in the schema of another role, whose triggers would run with the rights of
// the role that migrates, and reads no views and tables of others.
func TestForeignSchema(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	server.Exec(t, "postgres", "create role mallory login; create role owner login")
	const trap = `create function copse.trap() returns trigger language plpgsql as $$ begin raise exception 'the trap ran'; end $$;
		create trigger trap before insert on copse.migration for each row execute function copse.trap()`
	const table = "create table copse.migration (version bigint primary key, applied_at timestamptz not null default now()); grant all on copse.migration to public;"
	for name, tt := range map[string]struct {
		planted string // by mallory, in a database of the role owner
		as      string // the role that migrates
		tables  bool   // the planted statements come after a migration
		want    string // is in the error, "" for none
	}{
		"an empty schema":          {"create schema copse; grant all on schema copse to public", "postgres", false, `the role "mallory"`},
		"a trigger":                {"create schema copse; grant all on schema copse to public;" + table + trap, "owner", false, `the role "mallory"`},
		"a view":                   {"create schema copse; create view copse.migration as select 0::bigint as version", "postgres", false, `"migration" in the schema copse`},
		"a table in the schema":    {table + trap, "owner", false, `"migration" in the schema copse`},
		"a view beside the tables": {"create view copse.zeal as select 1", "owner", true, `"zeal" in the schema copse`},
		"nothing":                  {"select", "owner", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database, err := server.Database(false)
			if err != nil {
				t.Fatal(err)
			}
			server.Exec(t, "postgres", "alter database "+database+" owner to owner; grant create on database "+database+" to mallory")
			as := func(role string) string {
				return strings.Replace(server.Address(database), "postgres@", role+"@", 1)
			}
			if !strings.HasPrefix(tt.planted, "create schema") {
				server.Exec(t, database, "set role owner; create schema copse; grant all on schema copse to mallory")
			}
			if tt.tables {
				if _, err := open(t, as("owner"), "shop").Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			server.Exec(t, database, "set role mallory; "+tt.planted)
			s := open(t, as(tt.as), "shop")
			_, err = s.Migrate(t.Context())
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, ok := errors.AsType[*storage.StoreError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, err := s.Snapshot(t.Context()); err == nil || strings.Contains(tt.want, "in the schema") && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

// A row with huge values costs little, and the other items stay readable.
func TestHugeRows(t *testing.T) {
	t.Parallel()
	server, database := planted(t)
	s, ctx := makeProject(t, server.Address(database), "shop"), t.Context()
	for range 3 {
		if _, err := s.Create(ctx, item.Draft{Title: "first", Labels: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.AddComment(ctx, 2, "ada", "text"); err != nil {
		t.Fatal(err)
	}
	const million = "1000000"
	for _, huge := range []string{
		"item set labels = array_fill('a'::text, array[5*" + million + "])", "item set labels = array[repeat('a,', 5*" + million + ")]",
		"item set depends_on = array_fill(1::bigint, array[5*" + million + "])", "item set former = array_fill(1::bigint, array[5*" + million + "])",
		"item set former_on = array_fill('a'::text, array[5*" + million + "])", "item set title = repeat('x', 20*" + million + ")",
		"item set description = repeat('x', 20*" + million + ")", "comment set body = repeat('x', 20*" + million + ")",
	} {
		column := " where project_id = 1 and id = 2"
		if strings.HasPrefix(huge, "comment") {
			column = " where project_id = 1 and item_id = 2"
		}
		// Another schema could have a better function, so the test names the built-in ones.
		huge = strings.NewReplacer("array_fill", "pg_catalog.array_fill", "repeat", "pg_catalog.repeat").Replace(huge)
		server.Exec(t, database, "set search_path = pg_catalog; update copse."+huge+column)
	}
	server.Exec(t, database, "set search_path = pg_catalog; update copse.item set version = version + 1 where id = 2; update copse.project set version = version + 1, iterations = array_fill('a'::text, array[5000000])")
	all, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, it := range all.List(item.Config{}, item.Filter{}) {
		size += len(it.Title) + len(it.Labels) + len(strings.Join(it.Labels, "")) + len(it.DependsOn)
	}
	if all.Len() != 3 || size > 300_000 {
		t.Errorf("%d items, %d bytes", all.Len(), size)
	}
	it, err := s.Item(ctx, 2)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(it.Title) + len(it.Description) + len(it.Labels) + len(it.DependsOn) + len(it.Former) + len(it.Comments[0].Body); n > 400_000 || !strings.HasSuffix(it.Title, "x…") {
		t.Errorf("the item has %d values, and the title %.10q", n, it.Title)
	}
}

// A move reads a whole project, of which any role can write rows.
func TestHugeProjects(t *testing.T) {
	t.Parallel()
	server, database := planted(t)
	s, ctx := makeProject(t, server.Address(database), "shop"), t.Context()
	if _, err := s.Create(ctx, item.Draft{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	leave := func() error {
		return s.Leave(ctx, "", func(archive.Archive) (string, error) { return "", errors.New("not moved") })
	}
	for _, c := range []struct{ plant, remove, want string }{
		{
			"set session_replication_role = replica; insert into copse.history select 1, 1, 100 + g, '', '{}' from generate_series(1, 500000) g",
			"delete from copse.history where seq > 100", "500001 history entries, and a move can take 500000",
		},
		{"insert into copse.file select 1, 'f' || g, '' from generate_series(1, 10001) g", "delete from copse.file", "10001 other files"},
		{"insert into copse.file select 1, 'f', repeat('x', 9000000)", "delete from copse.file", "1 other file of 9000000 bytes, and the limit of each"},
		{"update copse.project set original = repeat('x: y', 3000000)", "update copse.project set original = ''", "1 configuration of 12000000 bytes"},
	} {
		server.Exec(t, database, "set search_path = pg_catalog; "+c.plant)
		if err := leave(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		server.Exec(t, database, "set search_path = pg_catalog; "+c.remove)
	}
	if err := leave(); err == nil || !strings.Contains(err.Error(), "not moved") {
		t.Errorf("the project itself: %v", err)
	}
}

// planted returns a server and a new database, for rows that copse would not write.
func planted(t *testing.T) (server *postgrestest.Server, database string) {
	t.Helper()
	server, _ = postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	return server, database
}

// A comment that no reader would show is refused.
func TestMaxComments(t *testing.T) {
	t.Parallel()
	server, database := planted(t)
	s, ctx := makeProject(t, server.Address(database), "shop"), t.Context()
	if _, err := s.Create(ctx, item.Draft{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, database, fmt.Sprintf(`insert into copse.comment (project_id, item_id, seq, author, date, body)
		select 1, 1, n, 'ada', '', 'text' from pg_catalog.generate_series(1, %d) n`, row.MaxComments-1))
	if _, err := s.AddComment(ctx, 1, "ada", "the last"); err != nil {
		t.Fatal(err)
	}
	it, err := s.Item(ctx, 1)
	if err != nil || len(it.Comments) != row.MaxComments || it.Comments[row.MaxComments-1].Body != "the last" {
		t.Errorf("%d comments, %v", len(it.Comments), err)
	}
	if _, err := s.AddComment(ctx, 1, "ada", "too many"); err == nil || !strings.Contains(err.Error(), "more are not allowed") {
		t.Errorf("error is %v", err)
	}
}
