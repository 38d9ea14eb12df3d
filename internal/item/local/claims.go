package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/storage"
)

// claim gives an item to the agent of the change.
func (w *writer) claim(ctx context.Context, r storage.ClaimRequest) (storage.Claimed, error) {
	config, err := w.Config()
	if err != nil {
		return storage.Claimed{}, err
	}
	var got storage.Claimed
	err = w.claims.Change(ctx, w.tx, func(c *claimbook.Tx) error {
		if r.ID != 0 {
			got, err = w.claimOne(c, config, r)
		} else {
			got, err = w.claimBest(c, config, r)
		}
		return err
	})
	if err == nil && got.Claim.StolenFrom != "" && got.Claim.Since.Equal(got.Claim.Renewed) {
		err = w.record(&got.Item, changes.Change{Kind: changes.Stolen, StolenFrom: got.Claim.StolenFrom})
	}
	return got, err
}

// claimOne claims an item that was asked for.
func (w *writer) claimOne(c *claimbook.Tx, config item.Config, r storage.ClaimRequest) (storage.Claimed, error) {
	it, err := w.Item(r.ID)
	if err != nil {
		return storage.Claimed{}, err
	}
	if config.Done(it.Status) {
		return storage.Claimed{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is %q. Set another status before claiming it", it.ID, it.Status)}
	}
	claim, err := c.Take(&it.Summary, r)
	return storage.Claimed{Item: it, Claim: claim}, err
}

// claimBest claims the best item that nobody holds.
func (w *writer) claimBest(c *claimbook.Tx, config item.Config, r storage.ClaimRequest) (storage.Claimed, error) {
	all, err := w.Snapshot()
	if err != nil {
		return storage.Claimed{}, err
	}
	s, err := w.claims.Live(all, config)
	if err != nil {
		return storage.Claimed{}, err
	}
	if s, err = c.NoteGone(s); err != nil {
		return storage.Claimed{}, err
	}
	for _, best := range s.Claimable(config) {
		it, err := w.Item(best.ID)
		if err != nil {
			continue // removed, or damaged, since it was listed
		}
		claim, err := c.Take(&it.Summary, r)
		if _, held := errors.AsType[*storage.HeldError](err); held {
			continue
		}
		return storage.Claimed{Item: it, Claim: claim}, err
	}
	return storage.Claimed{}, s.NothingToClaim(config)
}

// release ends the claim of an item.
func (w *writer) release(ctx context.Context, id item.ID, steal bool) (claim claim.Claim, was bool, err error) {
	it, err := w.Item(id)
	if err != nil {
		return claim, false, err
	}
	err = w.claims.Change(ctx, w.tx, func(c *claimbook.Tx) error {
		claim, was, err = c.Release(&it.Summary, steal)
		return err
	})
	if err == nil && was && !w.by.Shares(claim.Holder) {
		err = w.record(&it, changes.Change{Kind: changes.Stolen, StolenFrom: claim.Holder.String()})
	}
	return claim, was, err
}

// Claim implements [storage.Backend].
func (s *Store) Claim(ctx context.Context, r storage.ClaimRequest) (got storage.Claimed, err error) {
	if r, err = r.Check(claim.AgentOf(ctx)); err != nil {
		return got, err
	}
	err = s.changeClaims(ctx, func(w *writer) error {
		got, err = w.claim(ctx, r)
		return err
	})
	return got, err
}

// Release implements [storage.Backend].
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (claim claim.Claim, was bool, err error) {
	err = s.changeClaims(ctx, func(w *writer) error {
		claim, was, err = w.release(ctx, id, steal)
		return err
	})
	return claim, was, err
}

// Renew implements [storage.Backend].
func (s *Store) Renew(ctx context.Context) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	if due, err := f.claims.Due(claim.AgentOf(ctx)); err != nil || !due {
		return err
	}
	return s.changeClaims(ctx, func(w *writer) error {
		return f.claims.Change(ctx, w.tx, func(c *claimbook.Tx) error { return c.Renew() })
	})
}

// ClaimOf returns the claim of an item, false if nobody holds it. It reads one file.
func (s *Store) ClaimOf(ctx context.Context, it *item.Summary) (claim.Claim, bool, error) {
	f, err := s.find(ctx)
	if err != nil {
		return claim.Claim{}, false, err
	}
	held, ok, err := f.claims.Of(it)
	if err != nil || !ok {
		return claim.Claim{}, false, err
	}
	c, err := f.Config()
	if err != nil || c.Done(it.Status) {
		return claim.Claim{}, false, err
	}
	return held, true, nil
}

// changeClaims is change for claims, which other clones must know soon.
func (s *Store) changeClaims(ctx context.Context, do func(*writer) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	s.claimed.Store(true)
	return s.changeIn(ctx, f, do)
}

// PublishedClaims records that other clones know the claims.
func (s *Store) PublishedClaims() { s.claimed.Store(false) }

// UnpublishedClaims records that other clones may not have the claims.
func (s *Store) UnpublishedClaims() { s.claimed.Store(true) }

// ChangedClaims reports whether claims were changed by way of this Store that other clones
// may not know.
func (s *Store) ChangedClaims() bool { return s.claimed.Load() }
