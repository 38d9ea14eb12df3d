package twig_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/branch/twig"
)

func TestLookups(t *testing.T) {
	t.Parallel()
	s := twig.NewState(twig.Document{
		Branches: map[string]twig.Branch{
			"feature/login": {Branch: "feature/login", JiraIssue: "PROJ-101", GitHubPR: 42, CreatedAt: "yesterday"},
			"linked":        {Branch: "linked", JiraIssue: "PROJ-1"},
		},
		Dependencies: []twig.Dependency{
			{Child: "feature/login", Parent: "develop"},
			{Child: "feature/tests", Parent: "feature/login"},
			{Child: "feature/login", Parent: "main"},
			{Child: "feature/login", Parent: "develop"},
			{Child: "Zed", Parent: "develop"},
		},
		Roots: []twig.Root{{Branch: "main", IsDefault: true}, {Branch: "release"}},
	})

	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("Names", s.Names(), []string{"Zed", "develop", "feature/login", "feature/tests", "linked", "main", "release"})
	check("Parents", s.Parents("feature/login"), []string{"develop", "main", "develop"})
	check("Parents of none", s.Parents("develop"), []string(nil))
	check("Children", s.Children("develop"), []string{"feature/login", "feature/login", "Zed"})
	parent, ok := s.Parent("feature/login")
	check("Parent", []any{parent, ok}, []any{"develop", true})
	parent, ok = s.Parent("main")
	check("Parent of none", []any{parent, ok}, []any{"", false})
	check("Known", []bool{s.Known("linked"), s.Known("develop"), s.Known("release"), s.Known("other"), s.Known("")},
		[]bool{true, true, true, false, false})
	check("Declared", []bool{s.Declared("linked"), s.Declared("develop"), s.Declared("Zed"), s.Declared("release"), s.Declared("other")},
		[]bool{false, true, true, true, false})
	check("IsRoot", []bool{s.IsRoot("main"), s.IsRoot("release"), s.IsRoot("develop")}, []bool{true, true, false})

	metadata := func(name string) string {
		text, err := json.Marshal(s.Metadata(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	check("Metadata", metadata("feature/login"),
		`{"branch":"feature/login","jira_issue":"PROJ-101","pr_number":42,"parent_branch":"develop","created_at":"yesterday"}`)
	check("Metadata of a dependency only", metadata("Zed"), `{"branch":"Zed","parent_branch":"develop"}`)
	check("Metadata of an unknown branch", metadata("other"), `{"branch":"other"}`)
}

func TestZeroStateIsEmpty(t *testing.T) {
	t.Parallel()
	var s twig.State
	_, hasParent := s.Parent("main")
	if len(s.Names()) != 0 || s.Known("main") || s.Declared("main") || s.IsRoot("main") || hasParent {
		t.Errorf("not empty: %+v", &s)
	}
	if diff := cmp.Diff(twig.Metadata{Branch: "main"}, s.Metadata("main")); diff != "" {
		t.Error(diff)
	}
}

// The index answers what a search of the lists answers.
func TestLookupsAgreeWithTheLists(t *testing.T) {
	t.Parallel()
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	rapid.Check(t, func(t *rapid.T) {
		doc := twig.Document{
			Dependencies: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) twig.Dependency {
				return twig.Dependency{Child: name.Draw(t, "child"), Parent: name.Draw(t, "parent")}
			}), 0, 12).Draw(t, "dependencies"),
			Roots: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) twig.Root {
				return twig.Root{Branch: name.Draw(t, "root")}
			}), 0, 2).Draw(t, "roots"),
		}
		s := twig.NewState(doc)
		for _, n := range []string{"a", "b", "c", "d", "e"} {
			var parents, children []string
			for _, d := range doc.Dependencies {
				if d.Child == n {
					parents = append(parents, d.Parent)
				}
				if d.Parent == n {
					children = append(children, d.Child)
				}
			}
			root := slices.ContainsFunc(doc.Roots, func(r twig.Root) bool { return r.Branch == n })
			declared := root || parents != nil || children != nil
			if !slices.Equal(s.Parents(n), parents) || !slices.Equal(s.Children(n), children) ||
				s.IsRoot(n) != root || s.Declared(n) != declared || s.Known(n) != declared ||
				slices.Contains(s.Names(), n) != declared {
				t.Fatalf("%s: %+v", n, s)
			}
		}
		if !slices.IsSorted(s.Names()) {
			t.Fatalf("not sorted: %q", s.Names())
		}
	})
}
