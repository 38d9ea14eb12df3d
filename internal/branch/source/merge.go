package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// maxNotes bounds the disagreements that are told.
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
		for _, note := range r.Notes {
			m.note("%s: %s", r.Source, note)
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
	recorded := make(map[string]string, len(r.Edges))
	for _, e := range r.Edges {
		if _, again := recorded[e.Child]; !again {
			recorded[e.Child] = e.Parent
		}
	}
	trunks := make(map[string]bool, len(r.Trunks))
	for _, t := range r.Trunks {
		trunks[t] = true
	}
	seen := make(map[string]bool, len(r.Edges))
	for i, e := range r.Edges {
		if i == MaxEdges {
			m.note("%s: only the first %d branches count", r.Source, MaxEdges)
			return
		}
		if seen[e.Child] || trunks[e.Child] || !m.exists(e.Child) {
			continue
		}
		seen[e.Child] = true
		parent, ok := m.living(e.Child, recorded, r.Trunks)
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

// living follows the record from a branch down to the next one that exists.
func (m *merger) living(child string, recorded map[string]string, trunks []string) (string, bool) {
	met := map[string]bool{child: true}
	for at := recorded[child]; at != ""; at = recorded[at] {
		if met[at] {
			return "", false
		}
		if m.exists(at) {
			return at, true
		}
		met[at] = true
	}
	for _, trunk := range trunks {
		if trunk != child && m.exists(trunk) {
			return trunk, true
		}
	}
	return "", false
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
	for _, r := range records {
		for _, trunk := range r.Trunks {
			if _, stacked := m.edges[trunk]; stacked || !m.exists(trunk) ||
				slices.ContainsFunc(doc.Roots, func(r twig.Root) bool { return r.Branch == trunk }) {
				continue
			}
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
