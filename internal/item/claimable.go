package item

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// NothingToClaimError reports that no item is ready and free.
type NothingToClaimError struct {
	// Claimed is the number of items that would be ready if nobody held them.
	Claimed int
	// Next is when the first of these claims ends; zero without any.
	Next time.Time
}

func (e *NothingToClaimError) Error() string {
	if e.Claimed == 0 {
		return "No work item is ready: all are done, blocked by open dependencies or children, in review, or in progress with an assignee"
	}
	return fmt.Sprintf("No ready work item is free: %d claimed, the first until %s", e.Claimed, e.Next.UTC().Format(time.RFC3339))
}

// InProgress reports whether a status means that work has begun and is not done: it is
// "in-progress" or a later one, or, in a project without that status, any but the first.
func (c Config) InProgress(status string) bool {
	begun := max(1, slices.Index(c.Statuses, "in-progress"))
	return slices.Index(c.Statuses, status) >= begun && !c.Done(status)
}

// inReview reports whether a status means that the work is finished, and waits for a decision: it is
// after "in-progress", and not done.
func (c Config) inReview(status string) bool {
	begun := slices.Index(c.Statuses, "in-progress")
	return begun >= 0 && slices.Index(c.Statuses, status) > begun && !c.Done(status)
}

// Claimable returns the items that a claim without a number takes, best first.
func (s *Snapshot) Claimable(c Config) []*Summary {
	found := s.List(c, Filter{All: true, Claimable: true})
	slices.SortStableFunc(found, c.ClaimOrder)
	return found
}

// ClaimOrder compares two items in the order of claims: items of the current iteration before others,
// then by priority from critical to low, then by number.
func (c Config) ClaimOrder(a, b *Summary) int {
	return cmp.Or(
		compareBool(c.CurrentIteration != "" && a.Iteration != c.CurrentIteration, c.CurrentIteration != "" && b.Iteration != c.CurrentIteration),
		cmp.Compare(slices.Index(Priorities(), b.Priority), slices.Index(Priorities(), a.Priority)),
		cmp.Compare(a.ID, b.ID),
	)
}

// openParents returns the items that have children that are not done.
func (s *Snapshot) openParents(c Config) map[ID]bool {
	parents := map[ID]bool{}
	for _, it := range s.items {
		if it.Parent != 0 && !c.Done(it.Status) {
			parents[it.Parent] = true
		}
	}
	return parents
}

// NothingToClaim returns the error of a project in which no item is claimable.
func (s *Snapshot) NothingToClaim(c Config) *NothingToClaimError {
	e := &NothingToClaimError{}
	parents := s.openParents(c)
	for _, it := range s.Claims() {
		if parents[it.ID] || c.inReview(it.Status) || !s.free(it, c) {
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
