// Package fields merges the values of single fields: the base value, ours, and theirs.
//
// A change of one side is the result. If both sides changed the field, the result is the greater
// value: a rule by value gives the same result in any order of merges.
package fields

import (
	"cmp"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/linkfile"
)

// Scalar merges a value. Where both sides changed it, that is the greater one.
func Scalar(base, ours, theirs string, order []string) (merged string, conflict bool) {
	switch {
	case ours == theirs, theirs == base:
		return ours, false
	case ours == base:
		return theirs, false
	}
	if cmp.Or(slices.Index(order, ours)-slices.Index(order, theirs), cmp.Compare(ours, theirs)) > 0 {
		return ours, true
	}
	return theirs, true
}

// Set merges lists whose order means little: if one side changed its list, that is the result; else
// the result is the elements of base, then the additions, sorted.
func Set[T comparable](base, ours, theirs []T, compare func(a, b T) int) []T {
	switch {
	case slices.Equal(ours, theirs), slices.Equal(theirs, base):
		return ours
	case slices.Equal(ours, base):
		return theirs
	}
	var merged, added []T
	inOurs, inTheirs, inBase := setOf(ours), setOf(theirs), setOf(base)
	done := make(map[T]bool, len(base))
	once := func(v T) bool {
		before := done[v]
		done[v] = true
		return !before
	}
	for _, v := range base {
		if inOurs[v] && inTheirs[v] && once(v) {
			merged = append(merged, v)
		}
	}
	for _, v := range slices.Concat(ours, theirs) {
		if !inBase[v] && once(v) {
			added = append(added, v)
		}
	}
	slices.SortFunc(added, compare)
	return append(merged, added...)
}

func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// Later returns the later of two times of updates; one that is there, if the other is not.
func Later(a, b string) string {
	if CompareTimes(a, b) > 0 && b != "" {
		return a
	}
	return cmp.Or(b, a)
}

// CompareTimes compares two times as items have them. One that cannot be read is last.
func CompareTimes(a, b string) int {
	if a == b {
		return 0
	}
	at, aErr := time.Parse(time.RFC3339, a)
	bt, bErr := time.Parse(time.RFC3339, b)
	switch {
	case aErr == nil && bErr == nil:
		return cmp.Or(at.Compare(bt), cmp.Compare(a, b))
	case aErr == nil:
		return -1
	case bErr == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// Link merges the file that says where the work on an item is.
func Link(base, ours, theirs string) string {
	b, o, t := linkfile.Parse(base), linkfile.Parse(ours), linkfile.Parse(theirs)
	var merged item.Link
	for _, field := range []struct {
		base, ours, theirs string
		to                 *string
	}{
		{b.Branch, o.Branch, t.Branch, &merged.Branch},
		{b.Worktree, o.Worktree, t.Worktree, &merged.Worktree},
		{b.PullRequest, o.PullRequest, t.PullRequest, &merged.PullRequest},
	} {
		*field.to, _ = Scalar(field.base, field.ours, field.theirs, nil)
	}
	// The number is for people. It is the higher one: an item that gives way to another
	// gets a number that is free.
	return linkfile.Text(merged, max(linkfile.Item(ours), linkfile.Item(theirs)))
}

// Edited reports whether two versions of an item differ in more than their relations and
// the time of the update.
func Edited(a, b item.Item) bool {
	return a.Title != b.Title || a.Type != b.Type || a.Status != b.Status || a.Iteration != b.Iteration ||
		a.Priority != b.Priority || a.Assignee != b.Assignee || a.Description != b.Description ||
		!slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.Comments, b.Comments)
}
