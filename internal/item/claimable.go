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
		return "No work item is ready: all are done, blocked by open dependencies or children, or in progress with an assignee"
	}
	return fmt.Sprintf("No ready work item is free: %d claimed, the first until %s", e.Claimed, e.Next.UTC().Format(time.RFC3339))
}

// InProgress reports whether a status means that work has begun and is not done: it is
// "in-progress" or a later one, or, in a project without that status, any but the first.
func (c Config) InProgress(status string) bool {
	begun := max(1, slices.Index(c.Statuses, "in-progress"))
	return slices.Index(c.Statuses, status) >= begun && !c.Done(status)
}

// Claimable returns the ready items without open children that nobody holds, best first: items of
// the current iteration before others, then by priority from critical to low, then by number.
func (s *Snapshot) Claimable(c Config) []*Summary {
	parents := map[ID]bool{}
	for _, it := range s.items {
		if it.Parent != 0 && !c.Done(it.Status) {
			parents[it.Parent] = true
		}
	}
	found := slices.DeleteFunc(s.List(c, Filter{All: true, Ready: true}), func(it *Summary) bool { return parents[it.ID] })
	slices.SortStableFunc(found, func(a, b *Summary) int {
		return cmp.Or(
			compareBool(c.CurrentIteration != "" && a.Iteration != c.CurrentIteration, c.CurrentIteration != "" && b.Iteration != c.CurrentIteration),
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
