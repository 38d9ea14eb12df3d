package fields

import (
	"cmp"
	"slices"

	"github.com/copse-dev/copse/internal/item"
)

// Comments merges comments. One is the same if its author, time and text are; of
// two of base's whose text alone was changed, the change counts.
func Comments(base, ours, theirs []item.Comment) []item.Comment {
	switch {
	case slices.Equal(ours, theirs), slices.Equal(theirs, base):
		return ours
	case slices.Equal(ours, base):
		return theirs
	}
	var merged []item.Comment
	ourEdits, theirEdits := edits(base, ours), edits(base, theirs)
	for _, c := range base {
		mine, inOurs := ourEdits[c]
		other, inTheirs := theirEdits[c]
		switch {
		case inOurs && inTheirs && mine == c:
			merged = append(merged, other)
		case inOurs && inTheirs && other == c:
			merged = append(merged, mine)
		case inOurs && inTheirs:
			merged = append(merged, mine, other)
		case inOurs && mine != c:
			merged = append(merged, mine) // removed there, changed here
		case inTheirs && other != c:
			merged = append(merged, other)
		}
	}
	for _, side := range []struct {
		comments []item.Comment
		edits    map[item.Comment]item.Comment
	}{{ours, ourEdits}, {theirs, theirEdits}} {
		edited := map[item.Comment]bool{}
		for _, c := range side.edits {
			edited[c] = true
		}
		for _, c := range side.comments {
			if !edited[c] {
				merged = append(merged, c)
			}
		}
	}
	return SortComments(merged)
}

// edits finds the comments of base in a version: the same ones, and those that differ
// in the text alone.
func edits(base, version []item.Comment) map[item.Comment]item.Comment {
	found := map[item.Comment]item.Comment{}
	used := make([]bool, len(version))
	for _, key := range []func(c item.Comment) item.Comment{
		func(c item.Comment) item.Comment { return c },
		func(c item.Comment) item.Comment { return item.Comment{Author: c.Author, Date: c.Date} },
	} {
		free := map[item.Comment][]int{}
		for i, v := range version {
			if !used[i] {
				free[key(v)] = append(free[key(v)], i)
			}
		}
		for _, c := range base {
			at := free[key(c)]
			if _, ok := found[c]; ok || len(at) == 0 {
				continue
			}
			found[c], used[at[0]] = version[at[0]], true
			free[key(c)] = at[1:]
		}
	}
	return found
}

// SortComments sorts comments by time, and removes duplicates.
func SortComments(comments []item.Comment) []item.Comment {
	slices.SortFunc(comments, func(a, b item.Comment) int {
		return cmp.Or(CompareTimes(a.Date, b.Date), cmp.Compare(a.Author, b.Author), cmp.Compare(a.Body, b.Body))
	})
	return slices.Compact(comments)
}
