// Package lineage finds which branches belong to a stack: those below a branch down to the trunk,
// and those that are stacked on it.
//
// A state may name branches that git does not have, and its edges may form a cycle. A [Walker]
// skips the former and stops at the latter.
package lineage

import (
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
)

// Walker follows the edges of a state. It skips branches that git does not have, except the
// requested one. It is for one goroutine.
type Walker struct {
	// Trunk is git's default branch, where a stack without another root ends.
	Trunk string

	state *twig.State
	first map[string]twig.Dependency // the first edge of each branch
	has   func(string) bool
	// found is the next branch below one that git does not have.
	found map[string]string
}

// New returns a walker. Has reports whether git has a branch.
func New(state *twig.State, trunk string, has func(string) bool) *Walker {
	first := make(map[string]twig.Dependency, len(state.Dependencies))
	for _, d := range state.Dependencies {
		if _, known := first[d.Child]; !known {
			first[d.Child] = d
		}
	}
	return &Walker{Trunk: trunk, state: state, first: first, has: has, found: map[string]string{}}
}

// Has reports whether git has a branch.
func (w *Walker) Has(name string) bool { return w.has(name) }

// Edge returns the first edge of a branch, and false if it has none.
func (w *Walker) Edge(name string) (twig.Dependency, bool) {
	edge, ok := w.first[name]
	return edge, ok
}

// Metadata returns what the state says about a branch.
func (w *Walker) Metadata(name string) twig.Metadata { return w.state.Metadata(name) }

// Stack returns the trunk of a branch, and the branches of its stack from the bottom up. Above
// are the branches that are stacked on each, see [Walker.Children].
func (w *Walker) Stack(start string, above map[string][]string) (trunk string, names []string) {
	trunk, names = w.Down(start)
	names = up(above, start, trunk, names)
	if trunk == "" {
		trunk = w.Trunk
	}
	return trunk, names
}

// Root reports whether a stack ends at a branch.
func (w *Walker) Root(name string) bool {
	_, stacked := w.first[name]
	return w.state.IsRoot(name) || name == w.Trunk && !stacked
}

// Parent returns the next branch below one that git has, or that is a root, "" if there is none;
// and the recorded parent, if that differs.
func (w *Walker) Parent(name string) (parent, stale string) {
	edge, ok := w.first[name]
	if !ok {
		return "", ""
	}
	parent = w.living(edge.Parent)
	switch {
	case parent == name:
		return "", edge.Parent
	case parent != edge.Parent:
		return parent, edge.Parent
	}
	return parent, edge.Stale
}

// living returns a branch itself if git has it, or it is a root, and otherwise the next such branch
// below it; the trunk if there is none.
func (w *Walker) living(name string) string {
	var passed []string
	at := name
	for !w.Root(at) && !w.has(at) {
		if below, known := w.found[at]; known {
			at = below
			break
		}
		w.found[at] = w.Trunk // if it is met again, or nothing is below it
		passed = append(passed, at)
		edge, ok := w.first[at]
		if !ok {
			at = w.Trunk
			break
		}
		at = edge.Parent
	}
	for _, p := range passed {
		w.found[p] = at
	}
	return at
}

// Down returns the trunk, "" if there is none, and the branches from there up to start.
func (w *Walker) Down(start string) (trunk string, names []string) {
	if w.Root(start) {
		return start, nil
	}
	met := map[string]bool{}
	for at := start; at != "" && !met[at]; {
		met[at] = true
		names = append(names, at)
		if at, _ = w.Parent(at); at != "" && w.Root(at) {
			trunk = at
			break
		}
	}
	slices.Reverse(names)
	return trunk, names
}

// Children returns the branches that are stacked on each branch.
func (w *Walker) Children() map[string][]string {
	children := make(map[string][]string, len(w.first))
	met := make(map[string]bool, len(w.first))
	for _, d := range w.state.Dependencies {
		if met[d.Child] || w.Root(d.Child) || !w.has(d.Child) {
			continue
		}
		met[d.Child] = true
		if parent, _ := w.Parent(d.Child); parent != "" {
			children[parent] = append(children[parent], d.Child)
		}
	}
	return children
}

// up adds the branches that are stacked on start, each before those on it.
func up(children map[string][]string, start, trunk string, names []string) []string {
	seen := map[string]bool{trunk: true}
	for _, name := range names {
		seen[name] = true
	}
	for todo := []string{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[at] {
			seen[at] = true
			names = append(names, at)
		}
		for _, child := range slices.Backward(children[at]) {
			if !seen[child] {
				todo = append(todo, child)
			}
		}
	}
	return names
}

// Bottom returns the lowest branch of the stack of a branch. It remembers what it finds.
func (w *Walker) Bottom(name string, known map[string]string) string {
	var path []string
	at := name
	met := map[string]bool{}
	for known[at] == "" && !met[at] {
		met[at] = true
		path = append(path, at)
		below, _ := w.Parent(at)
		if below == "" || w.Root(below) {
			known[at] = at
			break
		}
		at = below
	}
	found := known[at]
	if found == "" { // the edges form a cycle
		found = slices.Min(path)
	}
	for _, one := range path {
		known[one] = found
	}
	return found
}
