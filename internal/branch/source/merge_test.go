package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/twig"
)

func among(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func edges(s *twig.State) map[string]string {
	out := map[string]string{}
	for _, d := range s.Dependencies {
		out[d.Child] = d.Parent + " by " + d.Source
	}
	return out
}

func TestMerge(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 40)
	m := source.Merge(nil, []source.Record{
		{Source: "one", Trunks: []string{"main"}, Edges: []source.Edge{
			{Child: "a", Parent: "main", BaseHash: hash}, {Child: "c", Parent: "gone", BaseHash: hash}, {Child: "gone", Parent: "a"},
			{Child: "dead", Parent: "main"}, {Child: "x", Parent: "y-gone"}, {Child: "y-gone", Parent: "x"}, {Child: "main", Parent: "a"},
		}},
		{Source: "two", Notes: []string{"odd\x1b[1m"}, Trunks: []string{"main", "rel", "a"}, Edges: []source.Edge{
			{Child: "c", Parent: "main", PR: 7}, {Child: "b", Parent: "a", PR: 8}, {Child: "d", Parent: "lost"},
		}},
	}, among("main", "rel", "a", "b", "c", "d", "x"))
	want := map[string]string{"a": "main by one", "c": "a by one", "b": "a by two", "d": "main by two"}
	if diff := cmp.Diff(want, edges(m.State)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, d := range m.State.Dependencies {
		if (d.BaseHash != "") != (d.Child == "a") {
			t.Errorf("%s has the base %q", d.Child, d.BaseHash)
		}
	}
	if m.State.Metadata("c").PRNumber != 7 || m.State.Metadata("b").PRNumber != 8 {
		t.Error("pull requests are lost")
	}
	var roots []string
	for _, r := range m.State.Roots {
		roots = append(roots, r.Branch)
	}
	if !slices.Equal(roots, []string{"main", "rel"}) || !m.State.Roots[0].IsDefault {
		t.Errorf("got roots %q", roots)
	}
	wantNotes := []string{"two: odd", "parent of c: one says a, two says main; copse uses the first"}
	if diff := cmp.Diff(wantNotes, m.Notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A stack tool that records the same parent as twig's state manages the branch. A guess does not, nor
// does a tool that names another parent.
func TestMergeNamesTheManager(t *testing.T) {
	t.Parallel()
	own := twig.NewState(twig.Document{Dependencies: []twig.Dependency{
		{Child: "a", Parent: "main"}, {Child: "b", Parent: "a"}, {Child: "c", Parent: "a"},
	}})
	m := source.Merge(own, []source.Record{
		{Source: source.Twig},
		{Source: "git-spice", Edges: []source.Edge{{Child: "a", Parent: "main"}, {Child: "b", Parent: "main"}}},
		{Source: "git-town", Edges: []source.Edge{{Child: "a", Parent: "main"}}},
		{Source: "reflog", Edges: []source.Edge{{Child: "c", Parent: "a"}}},
	}, among("main", "a", "b", "c"))
	managers := map[string]string{}
	for _, d := range m.State.Dependencies {
		managers[d.Child] = d.Manager + d.Source
	}
	if diff := cmp.Diff(map[string]string{"a": "git-spice", "b": "", "c": ""}, managers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Beside the trunks that the user chose, an inferred trunk is one only if a branch is stacked on it.
func TestMergeKeepsTheChosenTrunks(t *testing.T) {
	t.Parallel()
	own := twig.NewState(twig.Document{Roots: []twig.Root{{Branch: "develop", IsDefault: true}}})
	for _, tt := range []struct {
		edges []source.Edge
		want  bool
	}{
		{nil, false},
		{[]source.Edge{{Child: "a", Parent: "develop"}}, false},
		{[]source.Edge{{Child: "a", Parent: "main"}}, true},
	} {
		m := source.Merge(own, []source.Record{
			{Source: source.Twig}, {Source: "reflog", Inferred: true, Trunks: []string{"main"}, Edges: tt.edges},
		}, among("main", "develop", "a"))
		if got := m.State.IsRoot("main"); got != tt.want {
			t.Errorf("%v: main is a trunk: %t", tt.edges, got)
		}
	}
}

// Whatever is recorded, each branch that exists has one parent at most, which exists.
func TestMergeIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		edge := rapid.Custom(func(t *rapid.T) source.Edge {
			return source.Edge{Child: name.Draw(t, "child"), Parent: name.Draw(t, "parent")}
		})
		record := rapid.Custom(func(t *rapid.T) source.Record {
			return source.Record{Source: "s", Edges: rapid.SliceOfN(edge, 0, 8).Draw(t, "edges"), Trunks: rapid.SliceOfN(name, 0, 2).Draw(t, "trunks")}
		})
		exists := among(rapid.SliceOfDistinct(name, func(s string) string { return s }).Draw(t, "exists")...)
		m := source.Merge(nil, rapid.SliceOfN(record, 0, 3).Draw(t, "records"), exists)
		seen := map[string]bool{}
		for _, d := range m.State.Dependencies {
			if seen[d.Child] || d.Child == d.Parent || !exists(d.Child) || !exists(d.Parent) {
				t.Fatalf("got %+v", m.State.Dependencies)
			}
			seen[d.Child] = true
		}
		for child := range seen { // no chain of parents comes back
			steps := 0
			for at, more := child, true; more; at, more = m.State.Parent(at) {
				if steps++; steps > len(seen)+1 {
					t.Fatalf("cycle in %+v", m.State.Dependencies)
				}
			}
		}
	})
}

// Branches of which each hangs at the end of one long chain of branches that are gone take
// no longer than the chain.
func TestLongChains(t *testing.T) {
	t.Parallel()
	var r source.Record
	const n = source.MaxEdges / 2
	for i := range n {
		r.Trunks = append(r.Trunks, fmt.Sprintf("lost-%d", i))
		r.Edges = append(r.Edges, source.Edge{Child: fmt.Sprintf("gone-%d", i), Parent: fmt.Sprintf("gone-%d", i+1)})
	}
	for i := range n {
		r.Edges = append(r.Edges, source.Edge{Child: fmt.Sprintf("here-%d", i), Parent: "gone-0"})
	}
	asked := 0
	m := source.Merge(nil, []source.Record{r}, func(name string) bool {
		asked++
		return strings.HasPrefix(name, "here-")
	})
	if len(m.State.Dependencies) != 0 {
		t.Errorf("got %d edges to branches that are gone", len(m.State.Dependencies))
	}
	if most := 10 * source.MaxEdges; asked > most {
		t.Errorf("asked %d times whether a branch exists, want %d at most", asked, most)
	}
}

// What a record says too much of is counted, not told.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	r := source.Record{Source: "x", Notes: slices.Repeat([]string{"odd"}, 1000)}
	if m := source.Merge(nil, []source.Record{r}, among()); len(m.Notes) > 10 || !strings.Contains(m.Notes[len(m.Notes)-1], "995 more") {
		t.Errorf("got %d notes: %q", len(m.Notes), m.Notes)
	}
	r.Notes = r.Notes[:5]
	if m := source.Merge(nil, []source.Record{r}, among()); len(m.Notes) != 5 || strings.Contains(strings.Join(m.Notes, "\n"), "more") {
		t.Errorf("as many as are told: %q", m.Notes)
	}
	for n, want := range map[int]string{5: "copse uses the first", 6: "the records also disagree on 1 more parent"} {
		one, two := source.Record{Source: "one"}, source.Record{Source: "two"}
		names := []string{"main", "rel"}
		for i := range n {
			child := fmt.Sprint("b", i)
			names = append(names, child)
			one.Edges = append(one.Edges, source.Edge{Child: child, Parent: "main"})
			two.Edges = append(two.Edges, source.Edge{Child: child, Parent: "rel"})
		}
		if m := source.Merge(nil, []source.Record{one, two}, among(names...)); !strings.HasSuffix(m.Notes[len(m.Notes)-1], want) {
			t.Errorf("%d disagreements: %q", n, m.Notes)
		}
	}
}
