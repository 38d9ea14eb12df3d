package branch

import (
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
)

// none is the index of no node.
const none int32 = -1

// Graph is the branches of a repository and their declared dependencies at one moment. It is
// immutable.
type Graph struct {
	state *twig.State
	refs  Refs

	// A node is the index of its name; nodes sort as the names do, by bytes.
	names []string
	ids   map[string]int32
	home  int32 // the home root, or none

	// The children of n are kids[first[n]:first[n+1]], sorted.
	first []int32
	kids  []int32
}

// NewGraph joins the declarations of state with the branches of refs.
func NewGraph(state *twig.State, refs Refs) *Graph {
	g := &Graph{state: state, refs: refs, names: Names(state, refs)}
	g.ids = make(map[string]int32, len(g.names))
	for i, name := range g.names {
		g.ids[name] = int32(i)
	}
	g.home = g.findHome()

	edges := make([]edge, 0, len(state.Dependencies)+len(g.names))
	for _, d := range state.Dependencies {
		edges = append(edges, edge{g.ids[d.Parent], g.ids[d.Child]})
	}
	if g.home != none {
		edges = g.attachOrphans(edges)
	}
	g.link(edges)
	if g.home != none {
		g.attachCycles(edges)
	}
	return g
}

// Of reports whether NewGraph returns an equal graph for state and refs: they are the state and the
// branches that g was made of.
func (g *Graph) Of(state *twig.State, refs Refs) bool {
	return g.state == state && g.refs.defaultBranch == refs.defaultBranch && g.refs.current == refs.current && slices.Equal(g.refs.local, refs.local)
}

// Roots returns the roots whose trees together have every branch: the home root, then the other
// configured roots that exist, in their order. It is empty if there is no home root.
func (g *Graph) Roots() []string {
	if g.home == none {
		return nil
	}
	roots := []string{g.names[g.home]}
	listed := map[string]bool{roots[0]: true}
	for _, r := range g.state.Roots {
		if g.refs.Exists(r.Branch) && !listed[r.Branch] {
			roots = append(roots, r.Branch)
			listed[r.Branch] = true
		}
	}
	return roots
}

// RootOfCurrent returns the root other than except whose tree has the current branch. It returns
// the branch itself if only the tree of except has it, and "" if no branch is checked out.
func (g *Graph) RootOfCurrent(except string) string {
	if g.refs.current == "" {
		return ""
	}
	for _, root := range g.Roots() {
		if root == except {
			continue
		}
		reached := make([]bool, len(g.names))
		g.reach(g.ids[root], reached)
		if reached[g.ids[g.refs.current]] {
			return root
		}
	}
	return g.refs.current
}

func (g *Graph) findHome() int32 {
	var first string
	for _, r := range g.state.Roots {
		switch {
		case !g.refs.Exists(r.Branch):
		case r.IsDefault:
			return g.ids[r.Branch]
		case first == "":
			first = r.Branch
		}
	}
	for _, name := range []string{first, g.refs.defaultBranch, g.refs.current} {
		if name != "" && g.refs.Exists(name) {
			return g.ids[name]
		}
	}
	return none
}

// edge is a parent and its child.
type edge struct{ parent, child int32 }

// shown reports whether n appears in a tree without a request.
func (g *Graph) shown(n int32) bool {
	return g.refs.Exists(g.names[n]) || g.state.Declared(g.names[n])
}

// isRoot reports whether n is the root of a tree.
func (g *Graph) isRoot(n int32) bool {
	return n == g.home || g.state.IsRoot(g.names[n]) && g.refs.Exists(g.names[n])
}

// attachOrphans adds the edges from the home root to the nodes without a parent.
func (g *Graph) attachOrphans(edges []edge) []edge {
	hasParent := make([]bool, len(g.names))
	for _, e := range edges {
		hasParent[e.child] = true
	}
	for n := range int32(len(g.names)) {
		if !hasParent[n] && !g.isRoot(n) && g.shown(n) {
			edges = append(edges, edge{g.home, n})
		}
	}
	return edges
}

// attachCycles adds an edge from the home root to each cycle that no root leads to.
func (g *Graph) attachCycles(edges []edge) {
	reached := make([]bool, len(g.names))
	for n := range int32(len(g.names)) {
		if g.isRoot(n) {
			g.reach(n, reached)
		}
	}
	before := len(edges)
	for n := range int32(len(g.names)) {
		if !reached[n] && g.shown(n) {
			begin := g.cycleAbove(n)
			edges = append(edges, edge{g.home, begin})
			g.reach(begin, reached)
		}
	}
	if len(edges) > before {
		g.link(edges)
	}
}

// reach marks n and everything below it.
func (g *Graph) reach(n int32, reached []bool) {
	todo := []int32{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reached[n] {
			reached[n] = true
			todo = append(todo, g.children(n)...)
		}
	}
}

// cycleAbove returns the first name of the cycle to which the first parents of n lead. Every node
// above n must have a parent.
func (g *Graph) cycleAbove(n int32) int32 {
	above := func(n int32) int32 {
		parent, _ := g.state.Parent(g.names[n])
		return g.ids[parent]
	}
	met := make(map[int32]bool)
	for !met[n] {
		met[n] = true
		n = above(n)
	}
	first := n
	for m := above(n); m != n; m = above(m) {
		first = min(first, m)
	}
	return first
}

// link sets the children of all nodes.
func (g *Graph) link(edges []edge) {
	sorted := slices.Clone(edges)
	slices.SortFunc(sorted, func(a, b edge) int {
		if a.parent != b.parent {
			return int(a.parent) - int(b.parent)
		}
		return int(a.child) - int(b.child)
	})
	sorted = slices.Compact(sorted)
	g.first = make([]int32, len(g.names)+1)
	g.kids = make([]int32, len(sorted))
	for i, e := range sorted {
		g.first[e.parent+1]++
		g.kids[i] = e.child
	}
	for n := range g.names {
		g.first[n+1] += g.first[n]
	}
}

func (g *Graph) children(n int32) []int32 { return g.kids[g.first[n]:g.first[n+1]] }
