// Package claim describes who works on a work item, and until when: an [Agent] has a [Claim] with a
// lease, which the agent's calls renew.
package claim

import (
	"time"
)

const (
	// DefaultLease is how long a claim lasts after the last call of its holder.
	DefaultLease = time.Hour
	// MinLease is the shortest lease that a claim can ask for.
	MinLease = time.Minute
	// MaxLease is the longest lease that a claim can ask for.
	MaxLease = 24 * time.Hour
	// Grace is how long a claim lasts after another agent found that the process of its holder
	// had ended: a client that restarts in this time keeps its claims.
	Grace = 2 * time.Minute
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
	// Gone is when another agent first found that the process of the holder had ended, or that
	// the worktree of a person at the command line had been removed.
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
	if gone := c.Gone.Add(Grace); !c.Gone.IsZero() && gone.Before(c.Expires) {
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
