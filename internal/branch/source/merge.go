package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// maxNotes limits the reported disagreements, and the notes of one record.
const maxNotes = 5

// Merged is the result of joining several records.
type Merged struct {
	State *twig.State
	// Notes name disagreements, and unusable parts of records.
	Notes []string
}

// Merge joins records in their order of precedence. The record named [Twig] represents own, twig's
// state, which is nil if there is none.
//
// The first record that has an edge for a branch decides, and a note names later ones that
// disagree. If they agree, a base commit and a pull request of a later record are used as well.
// Branches that do not exist have no edge. A branch whose parent does not exist gets the next
// existing branch below it in the same record. Edges of own do not change, because a state shows
// missing branches. An edge of another record that would close a cycle is dropped.
func Merge(own *twig.State, records []Record, exists func(string) bool) Merged {
	m := merger{own: own, exists: exists, edges: map[string]sourced{}}
	for rank, r := range records {
		for _, note := range r.Notes[:min(len(r.Notes), maxNotes)] {
			m.note("%s: %s", r.Source, note)
		}
		if more := len(r.Notes) - maxNotes; more > 0 {
			m.note("%s: and %d more of the same kind", r.Source, more)
		}
		if r.Source == Twig {
			m.addOwn(rank)
		} else {
			m.add(r, rank)
		}
	}
	if more := m.told - maxNotes; more > 0 {
		m.note("the records also disagree on %s", cleantext.Count(more, "more parent"))
	}
	m.cutCycles()
	return Merged{State: m.state(records), Notes: m.notes}
}

// sourced is an edge with the tool that recorded it.
type sourced struct {
	Edge
	source string
	rank   int // of the record
	// manager is the stack tool that agrees with an edge of twig's state.
	manager string
}

type merger struct {
	own    *twig.State
	exists func(string) bool
	edges  map[string]sourced // by child
	notes  []string
	told   int
}

func (m *merger) note(format string, args ...any) {
	m.notes = append(m.notes, cleantext.Line(fmt.Sprintf(format, args...)))
}

// addOwn adds the first edge of each branch of twig's state.
func (m *merger) addOwn(rank int) {
	if m.own == nil {
		return
	}
	edges := make([]Edge, 0, len(m.own.Dependencies))
	for _, d := range m.own.Dependencies {
		edges = append(edges, Edge{Child: d.Child, Parent: d.Parent})
	}
	line := newLineage(edges, nil, m.exists)
	seen := make(map[string]bool, len(edges))
	for _, e := range edges {
		if seen[e.Child] {
			continue
		}
		seen[e.Child] = true
		first, known := m.edges[e.Child]
		if !known {
			m.edges[e.Child] = sourced{Edge: e, source: Twig, rank: rank}
			continue
		}
		if living, ok := line.living(e.Child); ok {
			m.compare(first, living, Twig)
		}
	}
}

func (m *merger) add(r Record, rank int) {
	edges, trunks := r.Edges, r.Trunks
	if len(edges) > MaxEdges || len(trunks) > MaxEdges {
		m.note("%s: copse uses only the first %d branches", r.Source, MaxEdges)
		edges, trunks = edges[:min(len(edges), MaxEdges)], trunks[:min(len(trunks), MaxEdges)]
	}
	line := newLineage(edges, trunks, m.exists)
	seen := make(map[string]bool, len(edges))
	for _, e := range edges {
		if seen[e.Child] || line.trunks[e.Child] || !m.exists(e.Child) || m.own != nil && m.own.IsRoot(e.Child) {
			continue
		}
		seen[e.Child] = true
		parent, ok := line.living(e.Child)
		if !ok {
			continue
		}
		if parent != e.Parent {
			e.Stale, e.Parent = e.Parent, parent
			e.BaseHash = "" // it belongs to the deleted branch
		}
		m.put(e, r.Source, rank)
	}
}

// put adds an edge of a branch, or the parts of it that complete a known edge.
func (m *merger) put(e Edge, source string, rank int) {
	first, known := m.edges[e.Child]
	if !known {
		m.edges[e.Child] = sourced{Edge: e, source: source, rank: rank}
		return
	}
	first.PR = cmp.Or(first.PR, e.PR)
	if first.Parent == e.Parent {
		first.BaseHash = cmp.Or(first.BaseHash, e.BaseHash)
		if first.source == Twig && first.manager == "" && manages(source) {
			first.manager = source
		}
	}
	m.edges[e.Child] = first
	m.compare(first, e.Parent, source)
}

// manages reports whether a source is the own record of a tool that restacks and submits branches.
func manages(source string) bool {
	switch source {
	case "git-spice", "graphite", "git-town", "git-machete", "gh-stack":
		return true
	}
	return false
}

// compare adds a note if a later record has another parent.
func (m *merger) compare(first sourced, parent, source string) {
	if first.Parent == parent || first.source == Twig && slices.Contains(m.own.Parents(first.Child), parent) {
		return
	}
	if first.source == Twig && !m.exists(first.Parent) {
		return // the state is outdated, and reports this itself
	}
	if m.told++; m.told <= maxNotes {
		m.note("parent of %s: %s says %s, %s says %s; copse uses the first", first.Child, first.source, first.Parent, source, parent)
	}
}

// cutCycles removes the edge of the record with the lowest precedence from each cycle of edges.
// Cycles within one record remain if it is twig's, because a state is shown as it is.
func (m *merger) cutCycles() {
	done := make(map[string]bool, len(m.edges))
	for _, start := range slices.Sorted(maps.Keys(m.edges)) {
		var path []string
		at := start
		position := map[string]int{}
		for !done[at] {
			if first, again := position[at]; again {
				m.cut(path[first:])
				break
			}
			e, ok := m.edges[at]
			if !ok {
				break
			}
			position[at] = len(path)
			path = append(path, at)
			at = e.Parent
		}
		for _, name := range path {
			done[name] = true
		}
	}
}

func (m *merger) cut(cycle []string) {
	weakest := slices.MaxFunc(cycle, func(a, b string) int { return cmp.Compare(m.edges[a].rank, m.edges[b].rank) })
	e := m.edges[weakest]
	if e.source == Twig {
		return
	}
	delete(m.edges, weakest)
	if m.told++; m.told <= maxNotes {
		m.note("parent of %s: %s says %s, which is stacked on it; copse ignores this record", weakest, e.source, e.Parent)
	}
}

// lineage finds the parents of one record's branches.
type lineage struct {
	exists   func(string) bool
	recorded map[string]string // the parent of each branch
	trunks   map[string]bool
	last     []string // the first trunks that exist, two at most
	// found is the replacement of a branch that does not exist: the next existing branch below it,
	// or "" if there is none. Chains that end in one another are followed once.
	found map[string]string
}

func newLineage(edges []Edge, trunks []string, exists func(string) bool) lineage {
	l := lineage{
		exists: exists, recorded: make(map[string]string, len(edges)), trunks: make(map[string]bool, len(trunks)), found: map[string]string{},
	}
	for _, e := range edges {
		if _, again := l.recorded[e.Child]; !again {
			l.recorded[e.Child] = e.Parent
		}
	}
	for _, t := range trunks {
		if len(l.last) < 2 && !l.trunks[t] && exists(t) {
			l.last = append(l.last, t)
		}
		l.trunks[t] = true
	}
	return l
}

// cycle represents no branch: the chain of parents has no end.
const cycle = "."

// living follows the record from a branch down to the next existing branch.
func (l lineage) living(child string) (string, bool) {
	below := l.below(child)
	switch below {
	case child, cycle:
		return "", false
	case "":
		for _, trunk := range l.last {
			if trunk != child {
				return trunk, true
			}
		}
		return "", false
	}
	return below, true
}

// below returns the next existing branch below a branch, "" if there is none.
func (l lineage) below(child string) string {
	var passed []string
	below := ""
	for at := l.recorded[child]; at != ""; at = l.recorded[at] {
		if l.exists(at) {
			below = at
			break
		}
		if known, ok := l.found[at]; ok {
			below = known
			break
		}
		l.found[at] = cycle // if it is met again
		passed = append(passed, at)
	}
	for _, at := range passed {
		l.found[at] = below
	}
	return below
}

// state returns the edges as a state: own if nothing is added to it.
func (m *merger) state(records []Record) *twig.State {
	doc := twig.Document{Version: 1, Branches: map[string]twig.Branch{}}
	same := m.own != nil
	if same {
		doc = m.own.Document
		doc.Branches, doc.Dependencies, doc.Roots = maps.Clone(doc.Branches), nil, slices.Clone(doc.Roots)
		met := make(map[string]bool, len(m.own.Dependencies))
		for _, d := range m.own.Dependencies {
			first := m.edges[d.Child]
			if first.source != Twig {
				same = false
				continue // another record takes precedence
			}
			if !met[d.Child] && (first.BaseHash != "" || first.manager != "") {
				d.BaseHash, d.Manager, same = first.BaseHash, first.manager, false
			}
			met[d.Child] = true
			doc.Dependencies = append(doc.Dependencies, d)
		}
	}
	for _, child := range slices.Sorted(maps.Keys(m.edges)) {
		e := m.edges[child]
		if e.source != Twig {
			same = false
			doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: e.Child, Parent: e.Parent, Source: e.source, BaseHash: e.BaseHash, Stale: e.Stale})
		}
		if linked := doc.Branches[child]; e.PR != 0 && linked.GitHubPR == 0 {
			same = false
			linked.Branch, linked.GitHubPR = child, e.PR
			doc.Branches[child] = linked
		}
	}
	if same {
		return m.own
	}
	m.roots(&doc, records)
	return twig.NewState(doc)
}

// roots adds the trunks of records. If the user chose trunks, an inferred one needs a branch that is
// stacked on it.
func (m *merger) roots(doc *twig.Document, records []Record) {
	roots, parents := map[string]bool{}, map[string]bool{}
	for _, r := range doc.Roots {
		roots[r.Branch] = true
	}
	for _, d := range doc.Dependencies {
		parents[d.Parent] = true
	}
	chosen := len(doc.Roots) > 0
	for _, r := range records {
		for _, trunk := range r.Trunks[:min(len(r.Trunks), MaxEdges)] {
			if chosen && r.Inferred && !parents[trunk] {
				continue
			}
			if _, stacked := m.edges[trunk]; stacked || roots[trunk] || !m.exists(trunk) {
				continue
			}
			roots[trunk] = true
			doc.Roots = append(doc.Roots, twig.Root{Branch: trunk, IsDefault: len(doc.Roots) == 0})
		}
	}
}

// Valid reports whether a record's text can be the name of a branch.
func Valid(name string) bool {
	return len(name) < 1<<10 && refstore.ValidName(refstore.BranchPrefix+name)
}

// Hash returns a record's text if it can be the name of an object, else "".
func Hash(text string) string {
	if objects.IsHash(text) {
		return text
	}
	return ""
}
