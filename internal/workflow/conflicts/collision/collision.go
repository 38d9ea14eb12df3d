// Package collision tells which branches cause a conflict, and which inherit it.
//
// A conflict is a file and two versions of it. Of the pairs of sides with the same conflict, [Fold] keeps
// the lowest, and names those that contain them. A file whose versions git does not name is a conflict of
// each pair. The package does not know what a side is: the caller says which one is below another.
package collision

import (
	"slices"

	"github.com/copse-dev/copse/internal/git/trial"
)

// Pair is two sides that were compared.
type Pair[S comparable] struct{ A, B S }

// Collision is a pair and the files of its conflict.
type Collision[S comparable] struct {
	Pair[S]
	Files []trial.File
}

// Folded is a collision of the lowest sides. Above are the sides that inherit it, by the side below.
type Folded[S comparable] struct {
	Collision[S]
	Above map[S][]S
}

// Clash is what makes conflicts the same: a file and its version on each side. The base of the merge can
// differ.
type Clash struct{ path, first, second string }

// Of returns the clash of a file of a pair.
func Of(f trial.File) Clash { return Clash{f.Path, f.A, f.B} }

// Named reports whether git names the versions of a file.
func Named(f trial.File) bool { return f.A != "" || f.B != "" }

// ordered returns the clash of a file in the order of the versions, and the side of each.
func ordered[S comparable](f trial.File, p Pair[S]) (Clash, Pair[S]) {
	if f.A > f.B {
		return Clash{f.Path, f.B, f.A}, Pair[S]{p.B, p.A}
	}
	return Of(f), p
}

// Groups returns the pairs that have each clash, with the sides in the order of the versions.
func Groups[S comparable](all []Collision[S]) map[Clash]map[Pair[S]]bool {
	groups := make(map[Clash]map[Pair[S]]bool)
	for _, c := range all {
		for _, f := range c.Files {
			of, p := ordered(f, c.Pair)
			if groups[of] == nil {
				groups[of] = make(map[Pair[S]]bool)
			}
			groups[of][p] = true
		}
	}
	return groups
}

// Fold returns the conflicts of the lowest sides, in the order of all. sides are all sides, and below
// reports whether the second one contains the first.
func Fold[S comparable](all []Collision[S], sides []S, below func(low, high S) bool) []Folded[S] {
	groups := Groups(all)
	listed := make(map[Pair[S]]Pair[S])
	for _, c := range all {
		listed[c.Pair], listed[Pair[S]{c.B, c.A}] = c.Pair, c.Pair
	}
	files, above := make(map[Pair[S]][]trial.File), make(map[Pair[S]]map[S][]S)
	for _, c := range all {
		for _, f := range c.Files {
			of, p := ordered(f, c.Pair)
			low := p
			if Named(f) {
				low = lowest(groups[of], p, sides, below)
			}
			at := listed[low]
			if low == p {
				files[at] = append(files[at], f)
			}
			if above[at] == nil {
				above[at] = make(map[S][]S)
			}
			add(above[at], low.A, p.A)
			add(above[at], low.B, p.B)
		}
	}
	var out []Folded[S]
	for _, c := range all {
		if found := files[c.Pair]; len(found) > 0 {
			out = append(out, Folded[S]{Collision[S]{c.Pair, found}, above[c.Pair]})
		}
	}
	return out
}

// add adds a side to those above another one.
func add[S comparable](above map[S][]S, low, high S) {
	if low != high && !slices.Contains(above[low], high) {
		above[low] = append(above[low], high)
	}
}

// lowest returns the pair below another one that has the same clash.
func lowest[S comparable](group map[Pair[S]]bool, p Pair[S], sides []S, below func(low, high S) bool) Pair[S] {
	for len(group) > 1 {
		low := p
		for _, s := range sides {
			if group[Pair[S]{s, low.B}] && below(s, low.A) {
				low.A = s
			}
		}
		for _, s := range sides {
			if group[Pair[S]{low.A, s}] && below(s, low.B) {
				low.B = s
			}
		}
		if low == p {
			break
		}
		p = low
	}
	return p
}
