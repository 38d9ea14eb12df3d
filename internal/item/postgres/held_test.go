package postgres_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// A store that asks whether many claims have changed sees each change of them, by whomever.
func TestManyClaims(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	name, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at, ctx := server.Address(name), t.Context()
	s, others := makeProject(t, at, "many"), open(t, at, "many")
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	execute := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	ada, bob := claim.WithAgent(ctx, itemtest.Agent("ada")), claim.WithAgent(ctx, itemtest.Agent("bob"))
	take := func(ctx context.Context, r storage.ClaimRequest) {
		t.Helper()
		if _, err := others.Claim(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	release := func(id item.ID) {
		t.Helper()
		if _, held, err := others.Release(ada, id, false); err != nil || !held {
			t.Fatalf("released %t: %v", held, err)
		}
	}
	const many = 140
	for i := range many + 1 {
		if _, err := s.Create(ctx, item.Draft{Title: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for range many {
		take(ada, storage.ClaimRequest{})
	}
	for _, change := range []struct {
		what string
		make func()
	}{
		{"nothing", func() {}},
		{"a release", func() { release(7) }},
		{"the same item again", func() { take(bob, storage.ClaimRequest{ID: 7}) }},
		{"a release and another item", func() { release(8); take(ada, storage.ClaimRequest{ID: many + 1}) }},
		{"a theft", func() { take(bob, storage.ClaimRequest{ID: 9, Steal: true}) }},
		{"a new lease", func() { take(ada, storage.ClaimRequest{ID: 10, Lease: 2 * claim.MinLease}) }},
		{"a holder that ended", func() { execute("update copse.claim set gone = clock_timestamp() where item_id = 11") }},
		{"the end of its claim", func() {
			execute("update copse.claim set gone = clock_timestamp() - interval '1 day' where item_id = 11")
		}},
		{"a lease that ended", func() { execute("update copse.claim set expires = clock_timestamp() where item_id = 12") }},
		{"a time of another program", func() {
			execute("update copse.claim set renewed = 'infinity', expires = 'infinity' where item_id = 13")
		}},
		{"fewer claims", func() { execute("delete from copse.claim where item_id > 50") }},
		{"an item that is done", func() {
			if _, err := others.Update(ada, 20, item.Patch{Status: new("done")}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for range 2 { // the first look may still learn of the change before
			if _, err := s.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
		}
		change.make()
		got, want := claimsIn(t, s), claimsIn(t, open(t, at, "many"))
		if !maps.Equal(got, want) {
			t.Errorf("after %s, %d claims are not the %d that there are", change.what, len(got), len(want))
		}
	}
}

// claimsIn returns the holder and the time of each claim, to the minute.
func claimsIn(t *testing.T, s storage.Backend) map[item.ID]string {
	t.Helper()
	all, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[item.ID]string{}
	for _, it := range all.Claims() {
		c, _ := all.Claim(it.ID)
		found[it.ID] = fmt.Sprint(c.Holder, c.Lease().Minutes() < 5, c.Gone.IsZero(), c.Renewed.Year(), c.StolenFrom)
	}
	return found
}
