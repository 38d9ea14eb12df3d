package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// storeError returns the error that says a store cannot be used.
func storeError(t *testing.T, err error) *storage.StoreError {
	t.Helper()
	failed, ok := errors.AsType[*storage.StoreError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	return failed
}

// A server that crashes in the middle of changes loses none that was acknowledged, makes none
// twice, and is used again without a new start.
func TestServerCrash(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	s := makeProject(t, server.Address(database), "crash")
	const writers, each = 4, 15
	var group sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[item.ID]bool{}
	for range writers {
		group.Go(func() {
			for range each {
				it, err := s.Create(t.Context(), item.Draft{Title: "made"})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if acknowledged[it.ID] {
					t.Errorf("number %d was given twice", it.ID)
				}
				acknowledged[it.ID] = true
				mu.Unlock()
			}
		})
	}
	for range 2 {
		time.Sleep(30 * time.Millisecond)
		server.End(syscall.SIGQUIT)
		if err := server.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	all, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != writers*each || all.Largest() != writers*each {
		t.Errorf("%d items, up to %d; %d were made", all.Len(), all.Largest(), writers*each)
	}
	for id := range acknowledged {
		if _, err := all.Find(id); err != nil {
			t.Error(err)
		}
	}
}

// When the disk of a server is full in the middle of a change, nothing of the change is made,
// the error says so, and the next change works when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	s := makeProject(t, server.Address(database), "full")
	ctx := t.Context()
	if _, err := s.Create(ctx, item.Draft{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	// The history is written last.
	server.Exec(t, database, `create function disk_is_full() returns trigger language plpgsql as $$ begin
		raise exception 'could not extend file "base/1/2": No space left on device' using errcode = 'disk_full'; end $$;
		create trigger disk_is_full before insert on copse.history execute function disk_is_full()`)
	for what, change := range map[string]func() error{
		"create":  func() error { _, err := s.Create(ctx, item.Draft{Title: "second", Iteration: "other"}); return err },
		"update":  func() error { _, err := s.Update(ctx, 1, item.Patch{Title: new("changed")}); return err },
		"comment": func() error { _, err := s.AddComment(ctx, 1, "", "text"); return err },
		"delete":  func() error { return s.Delete(ctx, 1, "", false) },
	} {
		failed := storeError(t, change())
		if !strings.Contains(failed.Problem, "the disk of the database is full") || !strings.Contains(failed.Next, "Nothing was changed") {
			t.Errorf("%s: %v", what, failed)
		}
	}
	server.Exec(t, database, "drop trigger disk_is_full on copse.history")
	it, err := s.Item(ctx, 1)
	if err != nil || it.Title != "first" || len(it.Comments) > 0 {
		t.Errorf("a part of a change was made: %+v, %v", it, err)
	}
	config, err := s.Config(ctx)
	if err != nil || len(config.Iterations) != 1 {
		t.Errorf("a part of a change was made: %q, %v", config.Iterations, err)
	}
	if it, err := s.Create(ctx, item.Draft{Title: "second"}); err != nil || it.ID != 2 {
		t.Errorf("the next item is %d: %v", it.ID, err)
	}
}

// A replica reads and refuses changes. When the server of four writers dies in the middle of
// their changes and the replica takes its place, they lose no acknowledged change, make none
// twice, and need no new start.
func TestFailover(t *testing.T) {
	t.Parallel()
	first := postgrestest.Start(t)
	database, err := first.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	second := first.Standby(t)
	both := "postgres://postgres@/" + database + "?" + url.Values{"host": {first.Dir + "," + second.Dir}, "target_session_attrs": {"read-write"}}.Encode()
	s := makeProject(t, both, "failover")
	ctx := t.Context()
	seen, err := s.Create(ctx, item.Draft{Title: "seen"})
	if err != nil {
		t.Fatal(err)
	}

	replica := open(t, second.Address(database), "failover")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		it, err := replica.Item(ctx, seen.ID)
		if err == nil && it.Title == seen.Title {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the replica has %+v, %v", it, err)
		}
	}
	_, err = replica.Update(ctx, seen.ID, item.Patch{Title: new("other")})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "only allows reading") || !strings.Contains(failed.Next, "Nothing was changed") {
		t.Error(failed)
	}
	changed := make(chan struct{}, 100)
	following, stop := context.WithCancel(ctx)
	defer stop()
	ready := make(chan struct{})
	go replica.Follow(following, func() { close(ready) }, func() { changed <- struct{}{} })
	<-ready

	const writers, each = 4, 15
	var group sync.WaitGroup
	var mu sync.Mutex
	numbers := map[item.ID]bool{seen.ID: true}
	half := make(chan struct{}, writers)
	for range writers {
		group.Go(func() {
			for i := range each {
				if i == each/3 {
					half <- struct{}{}
				}
				it, err := s.Create(ctx, item.Draft{Title: "made"})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if numbers[it.ID] {
					t.Errorf("number %d was given twice", it.ID)
				}
				numbers[it.ID] = true
				mu.Unlock()
			}
		})
	}
	<-half
	first.End(syscall.SIGQUIT)
	second.Promote(t)
	group.Wait()
	all, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != writers*each+1 || int(all.Largest()) != all.Len() {
		t.Errorf("%d items, up to %d; %d were made", all.Len(), all.Largest(), writers*each+1)
	}
	for id := range numbers {
		if _, err := all.Find(id); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Error("a follower of the replica saw no change")
	}
	if _, err := replica.Update(ctx, seen.ID, item.Patch{Title: new("other")}); err != nil {
		t.Errorf("the former replica: %v", err)
	}
}

// A connection that was made before a failover can only read, and a new one can write.
func TestConnectionBeforeFailover(t *testing.T) {
	t.Parallel()
	server, at := postgrestest.Shared(t)
	makeProject(t, at, nameOf(t))
	database := strings.TrimPrefix(strings.Split(at, "?")[0], "postgres://postgres@/")
	server.Exec(t, database, "create role demoted superuser login; alter role demoted set default_transaction_read_only = on")
	s := open(t, strings.Replace(at, "postgres://postgres@", "postgres://demoted@", 1), nameOf(t))
	if _, err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, database, "alter role demoted reset all")
	if _, err := s.Create(t.Context(), item.Draft{Title: "made"}); err != nil {
		t.Error(err)
	}
}

// A role that can only read reads, and is told that it cannot change anything.
func TestReadOnlyRole(t *testing.T) {
	t.Parallel()
	server, at := postgrestest.Shared(t)
	owner := makeProject(t, at, nameOf(t))
	if _, err := owner.Create(t.Context(), item.Draft{Title: "seen", Description: "text"}); err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(strings.Split(at, "?")[0], "postgres://postgres@/")
	server.Exec(t, database, `create role reader login; grant usage on schema copse to reader; grant select on all tables in schema copse to reader`)
	s := open(t, strings.Replace(at, "postgres://postgres@", "postgres://reader@", 1), nameOf(t))
	ctx := t.Context()
	all, err := s.Snapshot(ctx)
	if err != nil || all.Len() != 1 {
		t.Fatalf("snapshot: %v", err)
	}
	for what, read := range map[string]func() error{
		"config":  func() error { _, err := s.Config(ctx); return err },
		"item":    func() error { _, err := s.Item(ctx, 1); return err },
		"links":   func() error { _, err := s.Links(ctx); return err },
		"deleted": func() error { _, _, err := s.Deleted(ctx); return err },
		"history": func() error { _, err := s.History(ctx, 1); return err },
		"check":   func() error { _, err := s.Check(ctx); return err },
		"renew":   func() error { return s.Renew(claim.WithAgent(ctx, claim.Agent{Name: "a"})) },
		"init":    func() error { _, err := s.Init(ctx); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = s.Create(ctx, item.Draft{Title: "not made"})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "your role in the database may not do this") {
		t.Error(failed)
	}

	// A replica answers likewise.
	server.Exec(t, database, "create role replica login in role pg_read_all_data; alter role replica set default_transaction_read_only = on")
	replica := open(t, strings.Replace(at, "postgres://postgres@", "postgres://replica@", 1), nameOf(t))
	if _, err := replica.Snapshot(ctx); err != nil {
		t.Error(err)
	}
	_, err = replica.Update(ctx, 1, item.Patch{Title: new("other")})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "only allows reading") {
		t.Error(failed)
	}
}

// A snapshot misses no change, in whatever order the transactions of many writers end.
func TestLateCommits(t *testing.T) {
	t.Parallel()
	_, at := postgrestest.Shared(t)
	owner := makeProject(t, at, nameOf(t))
	const writers, each = 6, 10
	done := make(chan struct{})
	var group sync.WaitGroup
	for range writers {
		w := open(t, at, nameOf(t))
		group.Go(func() {
			for range each {
				it, err := w.Create(t.Context(), item.Draft{Title: "new"})
				if err == nil {
					_, err = w.Update(t.Context(), it.ID, item.Patch{Title: new("changed")})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { group.Wait(); close(done) }()
	for following := true; following; {
		select {
		case <-done:
			following = false
		default:
		}
		if _, err := owner.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := owner.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changed := all.List(item.Config{}, item.Filter{All: true})
	for _, it := range changed {
		if it.Title != "changed" {
			t.Errorf("item %d is %q: its change was skipped", it.ID, it.Title)
		}
	}
	if len(changed) != writers*each || int(all.Largest()) != len(changed) {
		t.Errorf("%d items up to number %d", len(changed), all.Largest())
	}
}

// A comment whose first attempt fails, before it writes anything, is saved with its text.
func TestCommentIsTriedAgain(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	s := makeProject(t, server.Address(database), "again")
	ctx := t.Context()
	if _, err := s.Create(ctx, item.Draft{Title: "talked about"}); err != nil {
		t.Fatal(err)
	}
	blocker, err := pgx.Connect(ctx, server.Address(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blocker.Close(context.WithoutCancel(ctx)) })
	if _, err := blocker.Exec(ctx, "begin; lock table copse.item in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		c, err := s.AddComment(ctx, 1, "ada", "all of it")
		if err == nil && (c.Author != "ada" || c.Body != "all of it") {
			err = fmt.Errorf("the answer is %+v", c)
		}
		done <- err
	}()
	for ended := false; !ended; time.Sleep(time.Millisecond) {
		rows, err := blocker.Query(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[bool])
		if err != nil {
			t.Fatal(err)
		}
		ended = len(all) > 0
	}
	if _, err := blocker.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	it, err := s.Item(ctx, 1)
	if err != nil || len(it.Comments) != 1 || it.Comments[0].Author != "ada" || it.Comments[0].Body != "all of it" {
		t.Errorf("the comments are %+v, %v", it.Comments, err)
	}
}
