// Package prose merges two versions of a text, line by line, so that no line is lost and a person
// can read the result.
//
// Changes in different places combine. If both versions changed the same place, the result has
// both, one after the other, with a line [Divider] between them. Nothing in it looks like the
// markers of an unfinished merge.
//
// [Merge] is a function of the set of changes, not of their order: with one base, it is idempotent,
// commutative, and, as long as no line occurs twice, associative.
package prose

import (
	"slices"
	"strings"
)

// Divider is the line between two versions of the same place.
const Divider = "(another version:)"

// Merge merges two versions of base. both reports whether a place has two versions.
func Merge(base, ours, theirs string) (merged string, both bool) {
	switch {
	case ours == theirs, theirs == base:
		return ours, false
	case ours == base:
		return theirs, false
	}
	b := split(base)
	return combine(b, changesOf(b, split(ours)), changesOf(b, split(theirs)))
}

// MergeUnrelated merges two versions of a text whose base is unknown: what they
// share stays, and where they differ the result has both.
func MergeUnrelated(ours, theirs string) (merged string, both bool) {
	a, b := split(ours), split(theirs)
	var shared []line
	for _, m := range matches(a, b) {
		shared = append(shared, a[m[0]])
	}
	return Merge(join(shared), ours, theirs)
}

// line is a line that is not blank, and how many blank lines follow it.
type line struct {
	text  string
	blank int
}

func split(text string) []line {
	var lines []line
	for s := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(s) != "" || len(lines) == 0 {
			lines = append(lines, line{text: s})
		} else {
			lines[len(lines)-1].blank++
		}
	}
	if len(lines) == 1 && lines[0].text == "" {
		return nil
	}
	return lines
}

func join(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l.text)
		if i < len(lines)-1 {
			b.WriteString(strings.Repeat("\n", l.blank+1))
		}
	}
	return b.String()
}

// changes are what makes a version of a base: the lines that it dropped, the lines
// that it has before each line of the base and at the end, and how many blank lines
// follow each line that it kept.
type changes struct {
	dropped []bool
	added   [][]line
	blank   []int
}

func changesOf(base, version []line) changes {
	c := changes{dropped: make([]bool, len(base)), added: make([][]line, len(base)+1), blank: make([]int, len(base))}
	i, j := 0, 0
	upTo := func(atBase, atVersion int) {
		if j < atVersion {
			c.added[i] = version[j:atVersion]
		}
		for ; i < atBase; i++ {
			c.dropped[i] = true
		}
		j = atVersion
	}
	for _, m := range matches(base, version) {
		upTo(m[0], m[1])
		c.blank[i] = version[j].blank
		i, j = i+1, j+1
	}
	upTo(len(base), len(version))
	return c
}

// combine writes base with the changes of two versions. Lines that either version dropped are gone;
// additions around them count as versions of one place.
func combine(base []line, ours, theirs changes) (merged string, both bool) {
	var out []line
	for i := 0; i <= len(base); {
		end := i // the place ends before this line, or behind the base
		for end < len(base) && (ours.dropped[end] || theirs.dropped[end]) {
			end++
		}
		inserted, two := versions(slices.Concat(ours.added[i:end+1], theirs.added[i:end+1]))
		out, both = append(out, inserted...), both || two
		if end < len(base) {
			out = append(out, line{base[end].text, mergeBlank(base[end].blank, ours.blank[end], theirs.blank[end])})
		}
		i = end + 1
	}
	return join(out), both
}

func mergeBlank(base, ours, theirs int) int {
	switch base {
	case ours:
		return theirs
	case theirs:
		return ours
	}
	return max(ours, theirs)
}

// versions returns what a place has that several pieces were added to.
func versions(added [][]line) (place []line, both bool) {
	added = slices.DeleteFunc(added, func(piece []line) bool { return len(piece) == 0 })
	if len(added) == 1 {
		return added[0], false
	}
	var all [][]line
	for _, piece := range added {
		all = append(all, parts(piece)...)
	}
	slices.SortStableFunc(all, compare)
	all = slices.CompactFunc(all, func(a, b []line) bool { return compare(a, b) == 0 })
	for i, version := range all {
		if i > 0 {
			place[len(place)-1].blank = max(place[len(place)-1].blank, 1) // place is our own
			place = append(place, line{Divider, 1})
		}
		place = append(place, version...)
	}
	return place, len(all) > 1
}

// parts returns the versions that a place already has.
func parts(lines []line) [][]line {
	var all [][]line
	for len(lines) > 0 {
		i := slices.IndexFunc(lines, func(l line) bool { return l.text == Divider })
		if i < 0 {
			return append(all, lines)
		}
		if i > 0 {
			all = append(all, lines[:i])
		}
		lines = lines[i+1:]
	}
	return all
}

func compare(a, b []line) int {
	return slices.CompareFunc(a, b, func(a, b line) int { return strings.Compare(a.text, b.text) })
}

// maxTable bounds the work on two texts that share little: the product of the
// numbers of lines that differ.
const maxTable = 4 << 20

// matches pairs the lines of two texts that are the same, in order: a longest common
// subsequence. In very long texts it pairs only what they begin and end with.
func matches(a, b []line) [][2]int {
	var pairs [][2]int
	start := 0
	for start < len(a) && start < len(b) && a[start].text == b[start].text {
		pairs = append(pairs, [2]int{start, start})
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1].text == b[endB-1].text {
		endA, endB = endA-1, endB-1
	}
	pairs = append(pairs, middle(a[start:endA], b[start:endB], start)...)
	for ; endA < len(a); endA, endB = endA+1, endB+1 {
		pairs = append(pairs, [2]int{endA, endB})
	}
	return pairs
}

// numbered returns a number for each line of two texts, the same for the same text. Comparing long
// lines millions of times would take long.
func numbered(a, b []line) (one, other []int) {
	known := map[string]int{}
	number := func(lines []line) []int {
		numbers := make([]int, len(lines))
		for i, l := range lines {
			if _, ok := known[l.text]; !ok {
				known[l.text] = len(known)
			}
			numbers[i] = known[l.text]
		}
		return numbers
	}
	return number(a), number(b)
}

func middle(a, b []line, offset int) [][2]int {
	if len(a) == 0 || len(b) == 0 || len(a) > maxTable/len(b) {
		return nil
	}
	one, other := numbered(a, b)
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of what a[i:] and b[j:] share
	for i := range slices.Backward(one) {
		for j := range slices.Backward(other) {
			if one[i] == other[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case one[i] == other[j]:
			pairs = append(pairs, [2]int{offset + i, offset + j})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
