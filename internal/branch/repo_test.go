package branch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

// repo is a repository in short.
type repo struct {
	local   string // names, separated by spaces
	def     string // what git calls default
	current string
	roots   string // names; the default one begins with '*'
	deps    string // "child<parent", separated by spaces
	links   map[string]twig.Branch
}

func (r repo) state() *twig.State {
	doc := twig.Document{Branches: r.links}
	for d := range strings.FieldsSeq(r.deps) {
		child, parent, _ := strings.Cut(d, "<")
		doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: child, Parent: parent})
	}
	for name := range strings.FieldsSeq(r.roots) {
		name, isDefault := strings.CutPrefix(name, "*")
		doc.Roots = append(doc.Roots, twig.Root{Branch: name, IsDefault: isDefault})
	}
	return twig.NewState(doc)
}

func (r repo) refs() branch.Refs {
	return branch.NewRefs(strings.Fields(r.local), r.def, r.current)
}

func (r repo) graph() *branch.Graph { return branch.NewGraph(r.state(), r.refs()) }

func (r repo) tree(t *testing.T, root string, limit branch.Limit) *branch.Tree {
	t.Helper()
	tree, err := r.graph().Tree(root, limit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// shop is the repository of the examples.
var shop = repo{
	local: "Zed develop feature/login feature/login-tests feature/payments main stray",
	roots: "*main develop",
	deps:  "feature/login<main feature/login-tests<feature/login feature/payments<main feature/payments<feature/login",
	links: map[string]twig.Branch{
		"feature/login":       {Branch: "feature/login", JiraIssue: "PROJ-101", GitHubPR: 42, CreatedAt: "2026-11-20T23:28:36+00:00"},
		"feature/login-tests": {Branch: "feature/login-tests", JiraIssue: "PROJ-102"},
		"feature/payments":    {Branch: "feature/payments", GitHubPR: 43},
	},
}

// all calls visit with every node under n and its depth.
func all(n *branch.Node, visit func(n *branch.Node, depth int)) {
	type level struct {
		n     *branch.Node
		depth int
	}
	todo := []level{{n, 0}}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(l.n, l.depth)
		for _, c := range slices.Backward(l.n.Children) {
			todo = append(todo, level{c, l.depth + 1})
		}
	}
}
