package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// maxNotes bounds the disagreements that are told, and the notes of one record.
const maxNotes = 5

// Merged is what several records come to.
type Merged struct {
	State *twig.State
	// Notes name disagreements, and what of the records cannot be used.
	Notes []string
}

// Merge joins records. The first record that has an edge for a branch decides; later ones
// that disagree are noted. Branches that do not exist have no edge, and a branch whose
// parent does not exist hangs under the next branch below that does: the parent's own
// parent, according to the same record first.
func Merge(records []Record, exists func(string) bool) Merged {
	m := merger{exists: exists, edges: map[string]sourced{}}
	for _, r := range records {
		for _, note := range r.Notes[:min(len(r.Notes), maxNotes)] {
			m.note("%s: %s", r.Source, note)
		}
		if more := len(r.Notes) - maxNotes; more > 0 {
			m.note("%s: and %d more of the same kind", r.Source, more)
		}
		m.add(r)
	}
	return Merged{State: m.state(records), Notes: m.notes}
}

// sourced is an edge with the tool that recorded it.
type sourced struct {
	Edge
	source string
}

type merger struct {
	exists func(string) bool
	edges  map[string]sourced // by child
	order  []string
	notes  []string
	told   int
}

func (m *merger) note(format string, args ...any) {
	m.notes = append(m.notes, cleantext.Line(fmt.Sprintf(format, args...)))
}

func (m *merger) add(r Record) {
	edges, trunks := r.Edges, r.Trunks
	if len(edges) > MaxEdges || len(trunks) > MaxEdges {
		m.note("%s: only the first %d branches count", r.Source, MaxEdges)
		edges, trunks = edges[:min(len(edges), MaxEdges)], trunks[:min(len(trunks), MaxEdges)]
	}
	line := newLineage(edges, trunks, m.exists)
	seen := make(map[string]bool, len(edges))
	for _, e := range edges {
		if seen[e.Child] || line.trunks[e.Child] || !m.exists(e.Child) {
			continue
		}
		seen[e.Child] = true
		parent, ok := line.living(e.Child)
		if !ok {
			continue
		}
		if parent != e.Parent {
			e.BaseHash = "" // it is that of the branch that is gone
		}
		e.Parent = parent
		first, known := m.edges[e.Child]
		if !known {
			m.edges[e.Child] = sourced{e, r.Source}
			m.order = append(m.order, e.Child)
			continue
		}
		if first.PR == 0 {
			first.PR = e.PR
			m.edges[e.Child] = first
		}
		if first.Parent == e.Parent {
			continue
		}
		if m.told++; m.told <= maxNotes {
			m.note("parent of %s: %s says %s, %s says %s; the first counts", e.Child, first.source, first.Parent, r.Source, e.Parent)
		}
	}
}

// lineage finds the parents of one record's branches.
type lineage struct {
	exists   func(string) bool
	recorded map[string]string // the parent of each branch
	trunks   map[string]bool
	last     []string // the first trunks that exist, two at most
	// found is what a branch that does not exist stands for: the next branch below that does,
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

// circle stands for no branch at all: the chain of parents has no end.
const circle = "."

// living follows the record from a branch down to the next one that exists.
func (l lineage) living(child string) (string, bool) {
	below := l.below(child)
	switch below {
	case child, circle:
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

// below returns the next branch below one that exists, "" if there is none.
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
		l.found[at] = circle // if it is met again
		passed = append(passed, at)
	}
	for _, at := range passed {
		l.found[at] = below
	}
	return below
}

// state returns the edges as a state.
func (m *merger) state(records []Record) *twig.State {
	doc := twig.Document{Version: 1, Branches: map[string]twig.Branch{}}
	slices.Sort(m.order)
	for _, child := range m.order {
		e := m.edges[child]
		doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: e.Child, Parent: e.Parent, Source: e.source, BaseHash: e.BaseHash})
		if e.PR != 0 {
			doc.Branches[child] = twig.Branch{Branch: child, GitHubPR: e.PR}
		}
	}
	roots := map[string]bool{}
	for _, r := range records {
		for _, trunk := range r.Trunks[:min(len(r.Trunks), MaxEdges)] {
			if _, stacked := m.edges[trunk]; stacked || roots[trunk] || !m.exists(trunk) {
				continue
			}
			roots[trunk] = true
			doc.Roots = append(doc.Roots, twig.Root{Branch: trunk, IsDefault: len(doc.Roots) == 0})
		}
	}
	return twig.NewState(doc)
}

// Valid reports whether a record's text can be the name of a branch.
func Valid(name string) bool {
	return len(name) < 1<<10 && refstore.ValidName(refstore.BranchPrefix+name)
}

// Hash returns a record's text if it can be the name of an object, else "".
func Hash(text string) string {
	if n := len(text); (n == 40 || n == 64) && strings.Trim(text, "0123456789abcdef") == "" {
		return text
	}
	return ""
}
