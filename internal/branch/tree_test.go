package branch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

func TestTree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		repo repo
		root string
		want string
	}{
		{"example", shop, "", `
main
├── Zed
├── feature/login (PROJ-101, #42)
│   ├── feature/login-tests (PROJ-102)
│   └── feature/payments (#43)
├── feature/payments (#43)
└── stray
`},
		{"example from another branch", shop, "feature/login", `
feature/login (PROJ-101, #42)
├── feature/login-tests (PROJ-102)
└── feature/payments (#43)
`},
		{"example from another root", shop, "develop", `
develop
`},
		{"children of two parents the first time only",
			repo{local: "a b c d main", roots: "*main", deps: "a<main b<main c<a c<b d<c"}, "", `
main
├── a
│   └── c
│       └── d
└── b
    └── c
`},
		{"children the first time from the top, not the nearest",
			repo{local: "a c d main", roots: "*main", deps: "a<main c<main c<a d<c"}, "", `
main
├── a
│   └── c
│       └── d
└── c
`},
		{"default root is not the first root",
			repo{local: "a develop main", roots: "main *develop", deps: "a<main"}, "", `
develop
`},
		{"first root that exists",
			repo{local: "a main release", roots: "*develop release main", deps: "a<main", def: "main"}, "", `
release
└── develop (missing)
`},
		{"orphans hang under the root of the call without a parameter",
			repo{local: "a develop main stray", roots: "main *develop", deps: "main<a"}, "", `
develop
├── a
│   └── main
└── stray
`},
		{"orphans do not hang under a root that was asked for",
			repo{local: "a develop main stray", roots: "main *develop"}, "main", `
main
`},
		{"no roots: what git calls default",
			repo{local: "a main topic", def: "main", current: "topic", deps: "a<topic"}, "", `
main
└── topic
    └── a
`},
		{"no roots, no default: the current branch",
			repo{local: "a other topic", def: "main", current: "topic", deps: "a<topic"}, "", `
topic
├── a
└── other
`},
		{"missing parent",
			repo{local: "child main", roots: "*main", deps: "child<gone"}, "", `
main
└── gone (missing)
    └── child
`},
		{"missing branch between",
			repo{local: "child main", roots: "*main", deps: "child<gone gone<main",
				links: map[string]twig.Branch{"gone": {JiraIssue: "PROJ-1"}}}, "", `
main
└── gone (PROJ-1, missing)
    └── child
`},
		{"missing child", repo{local: "main", roots: "*main", deps: "gone<main"}, "", `
main
└── gone (missing)
`},
		{"missing branch as the root", repo{local: "child main", roots: "*main", deps: "child<gone"}, "gone", `
gone (missing)
└── child
`},
		{"a linked branch that is gone is not shown",
			repo{local: "main", roots: "*main", links: map[string]twig.Branch{"gone": {GitHubPR: 7}}}, "", `
main
`},
		{"unless it is asked for",
			repo{local: "main", roots: "*main", links: map[string]twig.Branch{"gone": {GitHubPR: 7}}}, "gone", `
gone (#7, missing)
`},
		{"cycle of two", repo{local: "a b main", roots: "*main", deps: "a<b b<a"}, "a", `
a
└── b
    └── a
`},
		{"cycle that no root leads to", repo{local: "a b c main", roots: "*main", deps: "b<c c<b a<b"}, "", `
main
└── b
    ├── a
    └── c
        └── b
`},
		{"its own parent", repo{local: "a b main", roots: "*main", deps: "a<a b<a"}, "", `
main
└── a
    ├── a
    └── b
`},
		{"the default root as a child of an orphan", repo{local: "main stray", roots: "*main", deps: "main<stray"}, "", `
main
└── stray
    └── main
`},
		{"the default root as its own child", repo{local: "main stray", roots: "*main", deps: "main<main"}, "", `
main
├── main
└── stray
`},
		{"a repeated dependency", repo{local: "a main", roots: "*main *main", deps: "a<main a<main"}, "", `
main
└── a
`},
		{"branch without a commit", repo{current: "main", def: "main"}, "", `
main
`},
		{"detached", repo{local: "a main", def: "main"}, "", `
main
└── a
`},
		{"bytes, not words", repo{local: "main feature-login feature/login Zed develop é", roots: "*main"}, "", `
main
├── Zed
├── develop
├── feature-login
├── feature/login
└── é
`},
		{"names that would break the lines",
			repo{local: "main", roots: "*main", deps: "x\x1b[31m\u202ey<main",
				links: map[string]twig.Branch{"main": {JiraIssue: "P-1\n└── fake"}}}, "", `
main (P-1 └── fake)
└── xy (missing)
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := tt.repo.tree(t, tt.root, branch.Limit{})
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), tree.Root.Text()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if lines := strings.Count(tree.Root.Text(), "\n"); tree.Shown != lines || tree.Omitted != 0 {
				t.Errorf("%d shown, %d omitted; want %d and 0", tree.Shown, tree.Omitted, lines)
			}
		})
	}
}

func TestTreeJSON(t *testing.T) {
	t.Parallel()
	r := shop
	r.current = "feature/payments"
	r.deps += " stray<gone"
	got, err := json.Marshal(r.tree(t, "", branch.Limit{}).Root)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"branch":"main","children":[` +
		`{"branch":"Zed","children":[]},` +
		`{"branch":"feature/login","children":[` +
		`{"branch":"feature/login-tests","children":[],"jira_issue":"PROJ-102"},` +
		`{"branch":"feature/payments","children":[],"pr_number":43,"current":true}` +
		`],"jira_issue":"PROJ-101","pr_number":42},` +
		`{"branch":"feature/payments","children":[],"pr_number":43,"current":true},` +
		`{"branch":"gone","children":[{"branch":"stray","children":[]}],"missing":true}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCutTree(t *testing.T) {
	t.Parallel()
	wide := repo{
		local: "a a1 a2 a3 b b1 c c1 c2 main x", roots: "*main",
		deps: "a<main b<main c<main a1<a a2<a a3<a b1<b c1<c c2<c1 x<a x<main",
	}
	tests := []struct {
		nodes int
		want  string
	}{
		{1, `
main
└── … 11 more
`},
		{3, `
main
├── a
│   └── … 4 more
├── b
│   └── … 1 more
└── … 4 more
`},
		{5, `
main
├── a
│   └── … 4 more
├── b
│   └── … 1 more
├── c
│   └── … 2 more
└── x
`},
		{8, `
main
├── a
│   ├── a1
│   ├── a2
│   ├── a3
│   └── … 1 more
├── b
│   └── … 1 more
├── c
│   └── … 2 more
└── x
`},
		{12, `
main
├── a
│   ├── a1
│   ├── a2
│   ├── a3
│   └── x
├── b
│   └── b1
├── c
│   └── c1
│       └── c2
└── x
`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.nodes), func(t *testing.T) {
			t.Parallel()
			tree := wide.tree(t, "", branch.Limit{Nodes: tt.nodes})
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), tree.Root.Text()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if tree.Shown != tt.nodes || tree.Omitted != 12-tt.nodes {
				t.Errorf("%d shown, %d omitted; want %d of 12", tree.Shown, tree.Omitted, tt.nodes)
			}
		})
	}
}

// A branch with two places keeps its children at the one that stays.
func TestCutTreeKeepsChildrenAtTheNearestPlace(t *testing.T) {
	t.Parallel()
	r := repo{local: "a b c d main", roots: "*main", deps: "a<main b<a c<b c<main d<c"}
	tree := r.tree(t, "", branch.Limit{Nodes: 5})
	want := `main
├── a
│   └── b
│       └── … 1 more
└── c
    └── d
`
	if diff := cmp.Diff(want, tree.Root.Text()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTreeErrors(t *testing.T) {
	t.Parallel()
	_, err := shop.graph().Tree("feature/logn", branch.Limit{})
	unknown, ok := errors.AsType[*branch.NotFoundError](err)
	if !ok {
		t.Fatalf("unknown branch: %v, want a NotFoundError", err)
	}
	if diff := cmp.Diff([]string{"feature/login"}, unknown.Nearest); diff != "" {
		t.Errorf("nearest names (-want +got):\n%s", diff)
	}
	if got, want := err.Error(), `branch "feature/logn" not found; the nearest names are "feature/login"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := (repo{}).graph().Tree("", branch.Limit{}); !errors.Is(err, branch.ErrNoBranches) {
		t.Errorf("no branches: %v, want ErrNoBranches", err)
	}
	noRoot := repo{local: "a b", def: "main", deps: "b<a"}
	if _, err := noRoot.graph().Tree("", branch.Limit{}); !errors.Is(err, branch.ErrNoRoot) {
		t.Errorf("no root: %v, want ErrNoRoot", err)
	}
	if got := noRoot.tree(t, "a", branch.Limit{}).Root.Text(); got != "a\n└── b\n" {
		t.Errorf("a tree that is asked for needs no root: %q", got)
	}
	if got := noRoot.graph().Roots(); got != nil {
		t.Errorf("Roots() = %q, want none", got)
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		repo repo
		want []string
	}{
		{"the home root first", repo{local: "a develop main", roots: "main gone *develop main"}, []string{"develop", "main"}},
		{"none configured", repo{local: "a b", current: "b"}, []string{"b"}},
		{"none exists", repo{local: "a main", roots: "*gone", def: "main"}, []string{"main"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.repo.graph().Roots()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDeepChain(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	doc := twig.Document{Roots: []twig.Root{{Branch: "b000000", IsDefault: true}}}
	local := make([]string, depth)
	for i := range local {
		local[i] = fmt.Sprintf("b%06d", i)
		if i > 0 {
			doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: local[i], Parent: local[i-1]})
		}
	}
	state, refs := twig.NewState(doc), branch.NewRefs(local, "", "")
	graph := branch.NewGraph(state, refs)

	tree, err := graph.Tree("", branch.Limit{})
	if err != nil || tree.Shown != depth {
		t.Fatalf("whole tree: %+v, %v", tree, err)
	}
	tree, err = graph.Tree("", branch.Limit{Bytes: 10_000})
	if err != nil || tree.Shown+tree.Omitted != depth || tree.Shown < 45 { // each level costs more
		t.Fatalf("cut tree: %+v, %v", tree, err)
	}
	if size := encodedSize(t, tree.Root); size > 10_000 {
		t.Errorf("cut tree takes %d bytes", size)
	}
	stack, err := branch.Stack(state, refs.Has, local[depth-1])
	if err != nil || len(stack) != depth {
		t.Errorf("stack of %d, %v; want %d", len(stack), err, depth)
	}
}

// People see a star after the current branch; assistants see the text of the contract.
func TestMarkedText(t *testing.T) {
	t.Parallel()
	n := &branch.Node{Branch: "main", Children: []*branch.Node{{Branch: "a", JiraIssue: "AB-1", Current: true}, {Branch: "b"}}}
	if diff := cmp.Diff("main\n├── a (AB-1) *\n└── b\n", n.MarkedText()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("main\n├── a (AB-1)\n└── b\n", n.Text()); diff != "" {
		t.Error(diff)
	}
}
