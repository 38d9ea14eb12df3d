package storage

import (
	"cmp"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
)

// ClaimRequest asks for an item.
type ClaimRequest struct {
	// ID is the item; 0 is the first in the order of [item.Snapshot.Claimable].
	ID item.ID
	// Lease is how long the claim counts after each call of its holder; 0 is DefaultLease.
	Lease time.Duration
	// Steal takes the item from an agent that holds it.
	Steal bool
}

// Check completes and checks a request by an agent.
func (r ClaimRequest) Check(by claim.Agent) (ClaimRequest, error) {
	r.Lease = cmp.Or(r.Lease, claim.DefaultLease)
	switch {
	case by.Name == "":
		return r, &item.InvalidError{Field: "agent", Problem: "A claim requires the name of an agent"}
	case r.Lease < claim.MinLease || r.Lease > claim.MaxLease:
		return r, &item.InvalidError{Field: "lease_minutes", Problem: fmt.Sprintf(
			"Invalid lease of %s. A lease has %.0f to %.0f minutes", r.Lease, claim.MinLease.Minutes(), claim.MaxLease.Minutes())}
	case r.Steal && r.ID == 0:
		return r, &item.InvalidError{Field: "steal", Problem: "To steal a claim, specify the ID of the item"}
	}
	return r, nil
}

// Take decides whether an agent gets an item whose claim is old, if it is not nil, and returns the
// new claim. The caller must ensure that nobody else changes the claims. The error is a
// [*HeldError].
func (r ClaimRequest) Take(id item.ID, old *claim.Claim, by claim.Agent, now time.Time) (claim.Claim, error) {
	c := claim.Claim{Holder: by, Since: now, Renewed: now, Expires: now.Add(r.Lease)}
	switch {
	case old == nil || old.Ended(now):
	case by.Shares(old.Holder):
		c.Since, c.StolenFrom, c.Unconfirmed = old.Since, old.StolenFrom, old.Unconfirmed
	case !r.Steal:
		return claim.Claim{}, &HeldError{ID: id, Claim: *old}
	default:
		c.StolenFrom = old.Holder.String()
	}
	return c, nil
}

// CheckHolder returns a [*HeldError] if a claim keeps an agent from finishing or deleting an item, or
// from undoing a change of it.
func CheckHolder(id item.ID, c *claim.Claim, by claim.Agent, now time.Time) error {
	if c == nil || c.Ended(now) || by.Shares(c.Holder) {
		return nil
	}
	return &HeldError{ID: id, Claim: *c}
}

// Claimed is an item with its claim.
type Claimed struct {
	Item  item.Item
	Claim claim.Claim
}

// HeldError reports that another agent holds an item.
type HeldError struct {
	ID    item.ID
	Claim claim.Claim
}

func (e *HeldError) Error() string {
	if end := e.Claim.End(); end.Before(e.Claim.Expires) {
		what := "process has ended"
		if e.Claim.Holder.Process.PID == 0 {
			what = "worktree was removed"
		}
		return fmt.Sprintf("Work item #%d is claimed until %s by %s, whose %s", e.ID, end.UTC().Format(time.RFC3339), e.Claim.Holder, what)
	}
	return fmt.Sprintf("Work item #%d is claimed by %s until %s", e.ID, e.Claim.Holder, e.Claim.End().UTC().Format(time.RFC3339))
}
