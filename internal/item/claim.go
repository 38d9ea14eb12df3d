package item

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/xec/family"
)

const (
	// DefaultLease is how long a claim lasts after the last call of its holder.
	DefaultLease = time.Hour
	// MinLease is the shortest lease that a claim can ask for.
	MinLease = time.Minute
	// MaxLease is the longest lease that a claim can ask for.
	MaxLease = 24 * time.Hour
	// ClaimGrace is how long a claim lasts after another agent found that the process of its holder
	// had ended: a client that restarts in this time keeps its claims.
	ClaimGrace = 2 * time.Minute
	// RenewalsPerLease is how often in a lease the calls of a holder are recorded.
	RenewalsPerLease = 10
)

// Claim records that an agent works on an item.
type Claim struct {
	Holder Agent `json:"holder"`
	// Since is when the holder got the item, Renewed when its last call was recorded.
	Since   time.Time `json:"since"`
	Renewed time.Time `json:"renewed"`
	Expires time.Time `json:"expires"`
	// Gone is when another agent first found that the process of the holder had ended.
	Gone time.Time `json:"gone,omitzero"`
	// StolenFrom is the former holder, if the holder stole the item.
	StolenFrom string `json:"stolen_from,omitempty"`
	// Unconfirmed means that the remote of a shared store has not seen the claim: another clone may
	// hold the item, and then keeps it.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// Lease returns the duration of a renewal of the claim.
func (c *Claim) Lease() time.Duration { return c.Expires.Sub(c.Renewed) }

// End returns when the claim ends without a call of the holder.
func (c *Claim) End() time.Time {
	if gone := c.Gone.Add(ClaimGrace); !c.Gone.IsZero() && gone.Before(c.Expires) {
		return gone
	}
	return c.Expires
}

// Ended reports whether the claim no longer counts at a time.
func (c *Claim) Ended(now time.Time) bool { return !now.Before(c.End()) }

// Due reports whether a call of an agent that shares the claim should be recorded: a part of the
// lease has passed, the process was believed to have ended, or another process continues its work.
func (c *Claim) Due(by Agent, now time.Time) bool {
	return !c.Gone.IsZero() || now.Sub(c.Renewed) >= c.Lease()/RenewalsPerLease || by != c.Holder && by.Continues(c.Holder)
}

// Renew returns the claim after a call at a time, by the holder or an agent that shares the claim.
// An agent that continues the holder's work becomes the holder.
func (c Claim) Renew(by Agent, now time.Time) Claim {
	if by.Continues(c.Holder) {
		c.Holder = by
	}
	c.Renewed, c.Expires, c.Gone = now, now.Add(c.Lease()), time.Time{}
	return c
}

// HolderCheck finds holders on the machine of an agent whose process has ended. It looks at each process
// once.
type HolderCheck struct {
	By  Agent
	Now time.Time

	gone map[family.Process]bool
}

// Mark returns a claim with a note that the process of its holder had ended, if it had.
func (f *HolderCheck) Mark(c Claim) Claim {
	if !c.Gone.IsZero() || c.Holder.Host != f.By.Host || c.Holder.Process.PID == 0 {
		return c
	}
	gone, known := f.gone[c.Holder.Process]
	if !known {
		gone = c.Holder.Process.Gone()
		if f.gone == nil {
			f.gone = map[family.Process]bool{}
		}
		f.gone[c.Holder.Process] = gone
	}
	if gone {
		c.Gone = f.Now
	}
	return c
}

// ClaimRequest asks for an item.
type ClaimRequest struct {
	// ID is the item; 0 is the first in the order of [Snapshot.Claimable].
	ID ID
	// Lease is how long the claim counts after each call of its holder; 0 is DefaultLease.
	Lease time.Duration
	// Steal takes the item from an agent that holds it.
	Steal bool
}

// Check completes and checks a request by an agent.
func (r ClaimRequest) Check(by Agent) (ClaimRequest, error) {
	r.Lease = cmp.Or(r.Lease, DefaultLease)
	switch {
	case by.Name == "":
		return r, &InvalidError{Field: "agent", Problem: "A claim requires the name of an agent"}
	case r.Lease < MinLease || r.Lease > MaxLease:
		return r, &InvalidError{Field: "lease_minutes", Problem: fmt.Sprintf(
			"Invalid lease of %s. A lease has %.0f to %.0f minutes", r.Lease, MinLease.Minutes(), MaxLease.Minutes())}
	case r.Steal && r.ID == 0:
		return r, &InvalidError{Field: "steal", Problem: "To steal a claim, give the id of the item"}
	}
	return r, nil
}

// Take decides whether an agent gets an item whose claim is old, if it is not nil, and returns the
// new claim. The caller must ensure that nobody else changes the claims. The error is a
// [*HeldError].
func (r ClaimRequest) Take(id ID, old *Claim, by Agent, now time.Time) (Claim, error) {
	c := Claim{Holder: by, Since: now, Renewed: now, Expires: now.Add(r.Lease)}
	switch {
	case old == nil || old.Ended(now):
	case by.Shares(old.Holder):
		c.Since, c.StolenFrom, c.Unconfirmed = old.Since, old.StolenFrom, old.Unconfirmed
	case !r.Steal:
		return Claim{}, &HeldError{ID: id, Claim: *old}
	default:
		c.StolenFrom = old.Holder.String()
	}
	return c, nil
}

// CheckHolder returns a [*HeldError] if a claim keeps an agent from finishing or deleting an item, or
// from undoing a change of it.
func CheckHolder(id ID, c *Claim, by Agent, now time.Time) error {
	if c == nil || c.Ended(now) || by.Shares(c.Holder) {
		return nil
	}
	return &HeldError{ID: id, Claim: *c}
}

// Claimed is an item with its claim.
type Claimed struct {
	Item  Item
	Claim Claim
}

// HeldError reports that another agent holds an item.
type HeldError struct {
	ID    ID
	Claim Claim
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("Work item #%d is claimed by %s until %s", e.ID, e.Claim.Holder, e.Claim.End().UTC().Format(time.RFC3339))
}

// NothingToClaimError reports that no item is ready and free.
type NothingToClaimError struct {
	// Claimed is the number of items that would be ready if nobody held them.
	Claimed int
	// Next is when the first of these claims ends; zero without any.
	Next time.Time
}

func (e *NothingToClaimError) Error() string {
	if e.Claimed == 0 {
		return "No work item is ready: all are done, blocked by open dependencies, or in progress with an assignee"
	}
	return fmt.Sprintf("No ready work item is free: %d claimed, the first until %s", e.Claimed, e.Next.UTC().Format(time.RFC3339))
}

// InProgress reports whether a status means that work has begun and is not done: it is
// "in-progress" or a later one, or, in a project without that status, any but the first.
func (c Config) InProgress(status string) bool {
	begun := max(1, slices.Index(c.Statuses, "in-progress"))
	return slices.Index(c.Statuses, status) >= begun && !c.Done(status)
}

// Claimable returns the ready items that nobody holds, best first: items of the current iteration
// before others, then items without open children before their parents, then by priority from
// critical to low, then by number.
func (s *Snapshot) Claimable(c Config) []*Summary {
	parents := map[ID]bool{}
	for _, it := range s.items {
		if it.Parent != 0 && !c.Done(it.Status) {
			parents[it.Parent] = true
		}
	}
	found := s.List(c, Filter{All: true, Ready: true})
	slices.SortStableFunc(found, func(a, b *Summary) int {
		return cmp.Or(
			compareBool(c.CurrentIteration != "" && a.Iteration != c.CurrentIteration, c.CurrentIteration != "" && b.Iteration != c.CurrentIteration),
			compareBool(parents[a.ID], parents[b.ID]),
			cmp.Compare(slices.Index(Priorities(), b.Priority), slices.Index(Priorities(), a.Priority)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return found
}

// NothingToClaim returns the error of a project in which no item is claimable.
func (s *Snapshot) NothingToClaim(c Config) *NothingToClaimError {
	e := &NothingToClaimError{}
	for _, it := range s.Claims() {
		if !s.free(it, c) {
			continue
		}
		e.Claimed++
		if held := s.claims[it.ID]; e.Next.IsZero() || held.End().Before(e.Next) {
			e.Next = held.End()
		}
	}
	return e
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
