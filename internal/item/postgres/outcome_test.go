package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// slowCommits are triggers that make each commit wait until it is canceled. What happens then is the
// first word of the project's name: the change is "made" or "undone", or the commit "hangs" on.
const slowCommits = `create function public.slow() returns trigger language plpgsql as $$
	declare project text;
	begin
		if pg_catalog.current_setting('test.waited', true) = 'yes' then return null; end if;
		perform pg_catalog.set_config('test.waited', 'yes', true);
		select name into project from copse.project where id = case when tg_op = 'DELETE' then old.project_id else new.project_id end;
		begin
			perform pg_catalog.set_config('application_name', project, false);
			perform pg_catalog.pg_sleep(20);
		exception when query_canceled then
			if project like 'undone %' then raise; end if;
			if project like 'hangs %' then
				begin
					perform pg_catalog.pg_sleep(3);
				exception when query_canceled then perform pg_catalog.pg_sleep(3); -- the driver can cancel twice
				end;
			end if;
		end;
		return null;
	end $$;
	create constraint trigger slow after insert on copse.applied deferrable initially deferred for each row execute function public.slow();
	create constraint trigger slow after insert or delete on copse.claim deferrable initially deferred for each row execute function public.slow()`

// A call that is canceled while the database commits its change answers soon. It does not report that
// nothing was changed unless that is known.
func TestCanceledCommit(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at, ctx := server.Address(database), claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	calls := map[string]struct {
		do   func(context.Context, *postgres.Store) error
		made func(*item.Snapshot) bool
	}{
		"create": {
			func(ctx context.Context, s *postgres.Store) error {
				it, err := s.Create(ctx, item.Draft{Title: "new"})
				if err == nil && it.ID != 2 {
					return fmt.Errorf("the answer is %+v", it)
				}
				return err
			},
			func(all *item.Snapshot) bool { return all.Len() == 2 },
		},
		"claim": {
			func(ctx context.Context, s *postgres.Store) error {
				_, err := s.Claim(ctx, storage.ClaimRequest{})
				return err
			},
			func(all *item.Snapshot) bool { _, held := all.Claim(1); return held },
		},
		"pooled claim": {
			func(ctx context.Context, s *postgres.Store) error {
				_, err := s.Claim(ctx, storage.ClaimRequest{})
				return err
			},
			nil,
		},
		"claim 1": {
			func(ctx context.Context, s *postgres.Store) error {
				_, err := s.Claim(ctx, storage.ClaimRequest{ID: 1})
				return err
			},
			func(all *item.Snapshot) bool { _, held := all.Claim(1); return held },
		},
		"release": {
			func(ctx context.Context, s *postgres.Store) error { _, _, err := s.Release(ctx, 1, false); return err },
			func(all *item.Snapshot) bool { _, held := all.Claim(1); return !held },
		},
	}
	stores := map[string]*postgres.Store{}
	for _, name := range []string{"made create", "made claim", "made claim 1", "made release", "undone create", "undone claim", "undone claim 1", "hangs create", "hangs claim", "hangs pooled claim"} {
		through := at
		if name == "hangs pooled claim" {
			through = server.Pooler(t, database)
		}
		s := open(t, through, name)
		_, err := s.Init(ctx)
		if err == nil {
			_, err = s.Create(ctx, item.Draft{Title: "old"})
		}
		if err == nil && name == "made release" {
			_, err = s.Claim(ctx, storage.ClaimRequest{ID: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		stores[name] = s
	}
	server.Exec(t, database, slowCommits)
	for name, s := range stores {
		outcome, call, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watcher, err := pgx.Connect(ctx, at)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Close(context.WithoutCancel(ctx))
			ctx, cancel := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- calls[call].do(ctx, s) }()
			for waits := false; !waits; time.Sleep(10 * time.Millisecond) {
				if err := watcher.QueryRow(ctx, "select exists (select from pg_stat_activity where wait_event = 'PgSleep' and application_name = $1)", name).Scan(&waits); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			start := time.Now()
			err = <-ended
			if took := time.Since(start); took > 2500*time.Millisecond {
				t.Errorf("the answer took %s", took)
			}
			_, says := errors.AsType[*storage.StoreError](err)
			if says && !strings.Contains(err.Error(), "unknown") {
				t.Error(err)
			}
			if outcome == "hangs" && !says {
				t.Errorf("got %v", err)
			}
			if outcome == "hangs" {
				return
			}
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				all, err := s.Snapshot(context.WithoutCancel(ctx))
				if err != nil {
					t.Fatal(err)
				}
				if calls[call].made(all) == (outcome == "made") {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the change is not %s", outcome)
				}
			}
			// One statement that releases leaves nothing that a call could wait for.
			if says != (call == "release") || !says && (err == nil) != (outcome == "made") {
				t.Errorf("got %v", err)
			}
		})
	}
}
