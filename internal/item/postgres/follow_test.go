package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// follows follows a store until the test ends, and returns its reports.
func follows(t *testing.T, s *postgres.Store) <-chan struct{} {
	t.Helper()
	changed, ready, ended := make(chan struct{}, 1000), make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		s.Follow(ctx, func() { close(ready) }, func() { changed <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	<-ready
	return changed
}

// listeners returns how many sessions of a database listen.
func listeners(t *testing.T, at string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var n int
	err = conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and query = 'listen copse'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// changes are all kinds of changes that others see, also those of claims.
func changes(s *postgres.Store) []func(context.Context) error {
	ada := claim.Agent{Name: "ada"}
	var id item.ID
	return []func(context.Context) error{
		func(ctx context.Context) error {
			it, err := s.Create(ctx, item.Draft{Title: "new"})
			id = it.ID
			return err
		},
		func(ctx context.Context) error { _, err := s.AddComment(ctx, id, "", "text"); return err },
		func(ctx context.Context) error {
			_, err := s.Claim(claim.WithAgent(ctx, ada), storage.ClaimRequest{ID: id})
			return err
		},
		func(ctx context.Context) error {
			_, _, err := s.Release(claim.WithAgent(ctx, ada), id, false)
			return err
		},
		func(ctx context.Context) error {
			_, err := s.Claim(claim.WithAgent(ctx, ada), storage.ClaimRequest{})
			return err
		},
		func(ctx context.Context) error { return s.Delete(claim.WithAgent(ctx, ada), id, "", false) },
		func(ctx context.Context) error { return s.SetIteration(ctx, "next") },
	}
}

// sees checks that a follower learns each change.
func sees(t *testing.T, changed <-chan struct{}, s *postgres.Store, patience time.Duration) {
	t.Helper()
	for i, change := range changes(s) {
		for len(changed) > 0 {
			<-changed
		}
		if err := change(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(patience):
			t.Errorf("change %d was not seen within %s", i, patience)
		}
	}
}

// A server that follows a store learns each change of another server at once.
func TestFollow(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at := server.Address(database)
	writer := makeProject(t, at, "shop")
	changed := follows(t, open(t, at, "shop"))
	for end := time.Now().Add(20 * time.Second); listeners(t, at) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody listens")
		}
	}
	// A follower that listens asks by itself after more than ten seconds.
	sees(t, changed, writer, 10*time.Second)

	// A follower survives the end of its connection.
	server.Exec(t, database, "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen copse'")
	sees(t, changed, writer, 10*time.Second)
	for end := time.Now().Add(20 * time.Second); listeners(t, at) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody listens again")
		}
	}
}

// Behind a pooler in transaction mode, where nobody can listen, a server that follows sees each
// change nevertheless, and leaves no session that listens behind.
func TestFollowBehindPooler(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at := server.Pooler(t, database)
	writer := makeProject(t, at, "shop")
	sees(t, follows(t, open(t, at, "shop")), writer, 20*time.Second)
	if n := listeners(t, server.Address(database)); n > 0 {
		t.Errorf("%d sessions listen", n)
	}
}
