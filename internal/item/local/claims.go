package local

import (
	"context"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Claim implements [storage.Backend].
func (s *Store) Claim(ctx context.Context, r storage.ClaimRequest) (got storage.Claimed, err error) {
	if r, err = r.Check(claim.AgentOf(ctx)); err != nil {
		return got, err
	}
	err = s.changeClaims(ctx, func(w *writer.Writer) error {
		got, err = w.Claim(ctx, r)
		return err
	})
	return got, err
}

// Release implements [storage.Backend].
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (claim claim.Claim, was bool, err error) {
	err = s.changeClaims(ctx, func(w *writer.Writer) error {
		claim, was, err = w.Release(ctx, id, steal)
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
	if due, err := f.Claims.Due(claim.AgentOf(ctx)); err != nil || !due {
		return err
	}
	return s.changeClaims(ctx, func(w *writer.Writer) error {
		return f.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error { return c.Renew() })
	})
}

// ClaimOf returns the claim of an item, false if nobody holds it. It reads one file.
func (s *Store) ClaimOf(ctx context.Context, it *item.Summary) (claim.Claim, bool, error) {
	f, err := s.find(ctx)
	if err != nil {
		return claim.Claim{}, false, err
	}
	held, ok, err := f.Claims.Of(it)
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
func (s *Store) changeClaims(ctx context.Context, do func(*writer.Writer) error) error {
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
