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
	rest := slices.Clone(version)
	for _, same := range []func(a, b item.Comment) bool{
		func(a, b item.Comment) bool { return a == b },
		func(a, b item.Comment) bool { return a.Author == b.Author && a.Date == b.Date },
	} {
		for _, c := range base {
			if _, ok := found[c]; ok {
				continue
			}
			if i := slices.IndexFunc(rest, func(v item.Comment) bool { return same(c, v) }); i >= 0 {
				found[c] = rest[i]
				rest = slices.Delete(rest, i, i+1)
			}
		}
	}
	return found
}

// SortComments puts comments in the order of time, each once.
func SortComments(comments []item.Comment) []item.Comment {
	slices.SortFunc(comments, func(a, b item.Comment) int {
		return cmp.Or(CompareTimes(a.Date, b.Date), cmp.Compare(a.Author, b.Author), cmp.Compare(a.Body, b.Body))
	})
	return slices.Compact(comments)
}
