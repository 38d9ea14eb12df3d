package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Claim assigns an item to the agent of the change.
func (w *Writer) Claim(ctx context.Context, r storage.ClaimRequest) (storage.Claimed, error) {
	config, err := w.Config()
	if err != nil {
		return storage.Claimed{}, err
	}
	var got storage.Claimed
	err = w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error {
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
func (w *Writer) claimOne(c *claimbook.Tx, config item.Config, r storage.ClaimRequest) (storage.Claimed, error) {
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
func (w *Writer) claimBest(c *claimbook.Tx, config item.Config, r storage.ClaimRequest) (storage.Claimed, error) {
	all, err := w.Snapshot()
	if err != nil {
		return storage.Claimed{}, err
	}
	s, err := w.Claims.Live(all, config)
	if err != nil {
		return storage.Claimed{}, err
	}
	if s, err = c.NoteGone(s); err != nil {
		return storage.Claimed{}, err
	}
	var unread error
	for _, best := range s.Claimable(config) {
		it, err := w.Item(best.ID)
		if err != nil {
			continue // removed, or damaged, since it was listed
		}
		claim, err := c.Take(&it.Summary, r)
		if _, held := errors.AsType[*storage.HeldError](err); held {
			continue
		}
		if _, refused := errors.AsType[*storage.StoreError](err); refused { // its claim cannot be read
			unread = cmp.Or(unread, err)
			continue
		}
		return storage.Claimed{Item: it, Claim: claim}, err
	}
	return storage.Claimed{}, cmp.Or(unread, error(s.NothingToClaim(config)))
}

// Release ends the claim of an item.
func (w *Writer) Release(ctx context.Context, id item.ID, steal bool) (claim claim.Claim, was bool, err error) {
	it, err := w.Item(id)
	if err != nil {
		return claim, false, err
	}
	err = w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error {
		claim, was, err = c.Release(&it.Summary, steal)
		return err
	})
	if err == nil && was && !w.by.Shares(claim.Holder) {
		err = w.record(&it, changes.Change{Kind: changes.Stolen, StolenFrom: claim.Holder.String()})
	}
	return claim, was, err
}
