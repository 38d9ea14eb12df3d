package claims_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/claims"
)

// project returns a store with items, and the context of an agent.
func project(t *testing.T, items int, now func() time.Time) (*local.Store, context.Context) {
	t.Helper()
	s := local.New(location.Search{Dir: t.TempDir()}, now)
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range items {
		if _, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	return s, claim.WithAgent(t.Context(), itemtest.Agent("ada"))
}

// Another clone was faster with the first item: the agent gets the next one, but no item
// instead of one that it named.
func TestOtherClonesDecide(t *testing.T) {
	t.Parallel()
	s, ctx := project(t, 3, time.Now)
	far := claim.WithAgent(t.Context(), itemtest.Agent("far"))
	c := claims.New(s, func(context.Context) (bool, error) {
		_, err := s.Claim(far, storage.ClaimRequest{ID: 1, Steal: true}) // what the exchange brings
		return true, err
	}, time.Now)
	got, err := c.Claim(ctx, storage.ClaimRequest{})
	if err != nil || got.Item.ID != 2 || got.Unconfirmed != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = c.Claim(ctx, storage.ClaimRequest{ID: 1, Steal: true})
	if held, ok := errors.AsType[*storage.HeldError](err); !ok || held.Claim.Holder.Name != "far" {
		t.Errorf("got %v", err)
	}
}

// Without a connection the claim counts here, and says so.
func TestOffline(t *testing.T) {
	t.Parallel()
	s, ctx := project(t, 1, time.Now)
	away := errors.New("no route to host")
	c := claims.New(s, func(context.Context) (bool, error) { return true, away }, time.Now)
	got, err := c.Claim(ctx, storage.ClaimRequest{ID: 1})
	if err != nil || !got.Claim.Unconfirmed || !errors.Is(got.Unconfirmed, away) {
		t.Errorf("got %+v, %v", got, err)
	}
	released, err := c.Release(ctx, 1, false)
	if err != nil || !released.Was || !errors.Is(released.Unconfirmed, away) {
		t.Errorf("got %+v, %v", released, err)
	}
}

// A remote that does not answer holds up nobody for long, and the answer names it.
func TestSilentRemote(t *testing.T) {
	t.Parallel()
	s, ctx := project(t, 1, time.Now)
	synctest.Test(t, func(t *testing.T) {
		c := claims.New(s, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return true, ctx.Err()
		}, time.Now)
		start := time.Now()
		got, err := c.Claim(ctx, storage.ClaimRequest{ID: 1})
		if err != nil || got.Unconfirmed == nil || !strings.Contains(got.Unconfirmed.Error(), "has not answered within 20s") {
			t.Errorf("got %+v, %v", got, err)
		}
		released, err := c.Release(ctx, 1, false)
		if err != nil || !released.Was || released.Unconfirmed == nil || !strings.Contains(released.Unconfirmed.Error(), "has not answered within 20s") {
			t.Errorf("got %+v, %v", released, err)
		}
		if took := time.Since(start); took != 40*time.Second {
			t.Errorf("both took %v", took)
		}
		canceled, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		got, err = c.Claim(canceled, storage.ClaimRequest{ID: 1})
		if err != nil || !errors.Is(got.Unconfirmed, context.Canceled) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// The calls of a holder renew its claims, and those of others cost nothing.
func TestCalled(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	s, ctx := project(t, 1, func() time.Time { return at })
	c := claims.New(s, nil, func() time.Time { return at })
	if _, err := c.Claim(ctx, storage.ClaimRequest{ID: 1, Lease: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		snapshot, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, held := snapshot.Claim(1)
		return held
	}
	for range 5 {
		at = at.Add(9 * time.Minute)
		if err := c.Called(claim.WithAgent(t.Context(), itemtest.Agent("bob"))); err != nil {
			t.Fatal(err)
		}
		if err := c.Called(ctx); err != nil {
			t.Fatal(err)
		}
		if !held() {
			t.Fatal("the lease ended although its holder calls")
		}
	}
	at = at.Add(11 * time.Minute)
	if held() {
		t.Error("the claim outlives its lease")
	}
}

// A look at the items finds holders that ended, without anybody asking for what they held. A
// call about something else does not look.
func TestLook(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	s, ctx := project(t, 1, func() time.Time { return at })
	c := claims.New(s, nil, func() time.Time { return at })
	dead := itemtest.Agent("dead")
	dead.Process.Start = "another one, whose number was given to this process"
	if _, err := s.Claim(claim.WithAgent(t.Context(), dead), storage.ClaimRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		snapshot, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, held := snapshot.Claim(1)
		return held
	}
	for _, call := range []func(context.Context) error{c.Called, c.Look} {
		at = at.Add(claim.Grace)
		if !held() {
			t.Fatal("the claim ended although nobody looked")
		}
		if err := call(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if at = at.Add(claim.Grace); held() {
		t.Error("the claim of an ended process stays")
	}
}
