package items

import (
	"context"
	"errors"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// ClaimIn asks for an item.
type ClaimIn struct {
	ID    item.ID `json:"id,omitempty" description:"Default: the best ready item."`
	Lease *int    `json:"lease_minutes,omitempty" default:"60"`
	Steal bool    `json:"steal,omitempty" description:"Take it from anyone."`
}

// ClaimItem assigns an item to the caller.
func (t *Tools) ClaimItem(ctx context.Context, in ClaimIn) (form.Item, error) {
	r := storage.ClaimRequest{ID: in.ID, Steal: in.Steal}
	if in.Lease != nil {
		r.Lease = time.Duration(*in.Lease) * time.Minute
	}
	got, err := t.claims.Claim(ctx, r)
	if err != nil {
		return form.Item{}, err
	}
	out := form.Of(ctx, &got.Item, form.Section{})
	out.Claim = claimOf(got.Claim)
	if got.Unconfirmed != nil {
		out.Showing = append(out.Showing, form.Line("claim: not confirmed by the remote, so another clone can still get the item: "+got.Unconfirmed.Error(), warningLength))
	}
	return out, nil
}

// claimOf returns a claim as it is shown.
func claimOf(c claim.Claim) *backlog.Claim {
	shown := backlog.ClaimOf(c)
	for _, text := range []*string{&shown.Agent, &shown.Worktree, &shown.Host, &shown.StolenFrom} {
		*text = form.Line(*text, form.LineLength)
	}
	return shown
}

// ReleaseIn names an item.
type ReleaseIn struct {
	ID item.ID `json:"id"`
}

// ReleaseOut is the item that was released.
type ReleaseOut struct {
	Released item.ID `json:"released"`
	// WasClaimed is false if nobody held the item.
	WasClaimed bool     `json:"wasClaimed"`
	Warnings   []string `json:"warnings,omitempty"`
}

// ReleaseItem ends the caller's claim of an item.
func (t *Tools) ReleaseItem(ctx context.Context, in ReleaseIn) (ReleaseOut, error) {
	released, err := t.claims.Release(ctx, in.ID, false)
	if err != nil {
		return ReleaseOut{}, err
	}
	out := ReleaseOut{Released: in.ID, WasClaimed: released.Was}
	if released.Unconfirmed != nil {
		out.Warnings = []string{form.Line("other clones do not have it yet: "+released.Unconfirmed.Error(), warningLength)}
	}
	return out, nil
}

// nextOfClaim returns the next step for an error of a claim; "" if it is none.
func nextOfClaim(err error) string {
	if _, ok := errors.AsType[*storage.HeldError](err); ok {
		return "Use claim_item without id to get another item. If the user asks for this one, use claim_item with steal: true first."
	}
	if e, ok := errors.AsType[*item.NothingToClaimError](err); ok {
		if e.Claimed > 0 {
			return "Use list_items to see who holds them."
		}
		return "Use list_items to see what blocks them, or create_item."
	}
	return ""
}
