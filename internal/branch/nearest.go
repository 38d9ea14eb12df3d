package branch

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// nearest returns at most five candidates for a mistyped name, best first: equal except for case,
// then one contained in the other (with three characters or more), then by the number of edits;
// ties by bytes.
func nearest(name string, candidates []string) []string {
	const maximum, longest, part = 5, 256, 3
	if name == "" || len(name) > longest {
		return nil
	}
	type match struct {
		name        string
		kind, edits int
	}
	folded := strings.ToLower(name)
	runes := []rune(folded)
	allowed := max(2, len(runes)/3)
	var matches []match
	for _, c := range candidates {
		if c == "" || len(c) > longest {
			continue
		}
		other := strings.ToLower(c)
		length := utf8.RuneCountInString(other)
		shorter, apart := min(length, len(runes)), max(length, len(runes))-min(length, len(runes))
		switch {
		case other == folded:
			matches = append(matches, match{c, 0, 0})
		case shorter >= part && (strings.Contains(other, folded) || strings.Contains(folded, other)):
			matches = append(matches, match{c, 1, apart})
		case apart <= allowed:
			if edits := distance(runes, []rune(other), allowed); edits <= allowed {
				matches = append(matches, match{c, 2, edits})
			}
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.edits, b.edits), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, m := range matches[:min(maximum, len(matches))] {
		names = append(names, m.name)
	}
	return names
}

// distance returns the number of characters to insert, delete, or replace between a and b. Above
// limit, it returns any number above limit.
func distance(a, b []rune, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal, lowest := row[0], i+1
		row[0] = i + 1
		for j, rb := range b {
			cost := diagonal
			if ra != rb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			lowest = min(lowest, cost)
		}
		if lowest > limit {
			return lowest
		}
	}
	return row[len(b)]
}
