// Package claims assigns work items to agents.
//
// [Claims.Claim] claims an item in the store of the project. If clones share the store, it
// then exchanges the store with the remote, which decides: of two clones that claim an item at
// the same time, the first to push keeps it. [Claims.Called] and [Claims.Look] renew the claims
// of an agent that calls. Errors are those of package item.
package claims

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Publish exchanges a store with the clones that share it. decided is false if there are none.
type Publish func(ctx context.Context) (decided bool, err error)

// Claims are the claims of a project. It is safe for concurrent use.
type Claims struct {
	store   storage.Backend
	publish Publish
	now     func() time.Time

	mu      sync.Mutex
	holders map[claim.Agent]time.Time // agents that claimed, and when their claims were renewed
	looked  time.Time                 // when the claims of all were looked at
}

// New returns the claims of a store. publish can be nil.
func New(store storage.Backend, publish Publish, now func() time.Time) *Claims {
	if publish == nil {
		publish = func(context.Context) (bool, error) { return false, nil }
	}
	return &Claims{store: store, publish: publish, now: now, holders: make(map[claim.Agent]time.Time)}
}

// Taken is an item that an agent got.
type Taken struct {
	storage.Claimed
	// Unconfirmed is the reason why the remote of a shared store has not seen the claim; nil if it
	// has.
	Unconfirmed error
}

// attempts is the number of items to try if other clones were faster each time.
const attempts = 10

// Claim assigns an item to the agent of the context.
func (c *Claims) Claim(ctx context.Context, r storage.ClaimRequest) (Taken, error) {
	for attempt := 1; ; attempt++ {
		got, err := c.store.Claim(ctx, r)
		if err != nil {
			return Taken{}, err
		}
		c.noteHolder(got.Claim.Holder)
		taken, err := c.confirm(ctx, got)
		_, held := errors.AsType[*storage.HeldError](err)
		if held && r.ID == 0 && attempt < attempts {
			continue
		}
		return taken, err
	}
}

// confirm lets the other clones decide about a claim.
func (c *Claims) confirm(ctx context.Context, got storage.Claimed) (Taken, error) {
	decided, err := c.exchange(ctx)
	if err != nil {
		got.Claim.Unconfirmed = true
		return Taken{Claimed: got, Unconfirmed: err}, nil //nolint:nilerr // the claim is valid here; the error is part of the answer
	}
	if !decided {
		return Taken{Claimed: got}, nil
	}
	s, err := c.store.Snapshot(ctx)
	if err != nil {
		return Taken{}, err
	}
	// The exchange can give the item another number, and change it.
	id := got.Item.ID
	for _, it := range s.Claims() {
		if claim, _ := s.Claim(it.ID); it.Created == got.Item.Created && claim.Holder == got.Claim.Holder {
			id = it.ID
		}
	}
	claim, ok := s.Claim(id)
	switch {
	case !ok: // done, deleted or released elsewhere
		return Taken{}, &storage.ChangedElsewhereError{ID: id}
	case claim.Holder != got.Claim.Holder:
		return Taken{}, &storage.HeldError{ID: id, Claim: claim}
	}
	it, err := c.store.Item(ctx, id)
	return Taken{Claimed: storage.Claimed{Item: it, Claim: claim}}, err
}

// Released is how a release ended.
type Released struct {
	Claim claim.Claim
	// Was means that somebody held the item.
	Was bool
	// Unconfirmed is why other clones do not have it yet; nil if they do.
	Unconfirmed error
}

// Release ends the claim of an item.
func (c *Claims) Release(ctx context.Context, id item.ID, steal bool) (Released, error) {
	claim, was, err := c.store.Release(ctx, id, steal)
	if err != nil || !was {
		return Released{}, err
	}
	_, unconfirmed := c.exchange(ctx)
	return Released{Claim: claim, Was: true, Unconfirmed: unconfirmed}, nil
}

// remoteTime is how long a call waits for the other clones. The change is made here by then, and the next
// exchange of the store, which a server makes in the background, continues.
const remoteTime = 20 * time.Second

// exchange publishes the store within that time.
func (c *Claims) exchange(ctx context.Context) (decided bool, err error) {
	limited, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	decided, err = c.publish(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the remote has not answered within %v", remoteTime)
	}
	return decided, err
}

func (c *Claims) noteHolder(a claim.Agent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holders[a] = c.now()
}

// pause is the time between two looks at the claims of an agent, or of all. The shortest lease has
// several.
const pause = claim.MinLease / 4

// Called records a call of the agent of the context, and renews its claims. It costs nothing for an
// agent that did not claim an item here.
func (c *Claims) Called(ctx context.Context) error { return c.renew(ctx, false) }

// Look records a call about items, as Called does. It also finds the holders on this machine whose
// process has ended, so their items become free even if nobody requests them.
func (c *Claims) Look(ctx context.Context) error { return c.renew(ctx, true) }

func (c *Claims) renew(ctx context.Context, ofAll bool) error {
	agent := claim.AgentOf(ctx)
	now := c.now()
	c.mu.Lock()
	renewed, holds := c.holders[agent]
	due := holds && now.Sub(renewed) >= pause || ofAll && now.Sub(c.looked) >= pause
	if due && holds {
		c.holders[agent] = now
	}
	if due {
		c.looked = now
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.store.Renew(ctx)
}
