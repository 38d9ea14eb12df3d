package branch_test

import (
	"fmt"
	"testing"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

// big returns a repository of n branches in stacks of eight.
func big(n int) (*twig.State, branch.Refs) {
	doc := twig.Document{
		Branches: make(map[string]twig.Branch),
		Roots:    []twig.Root{{Branch: "main", IsDefault: true}},
	}
	local := make([]string, 0, n+1)
	for i := range n {
		name, parent := fmt.Sprintf("feature/branch-%05d", i), "main"
		if i%8 != 0 {
			parent = local[i-1]
		}
		local = append(local, name)
		doc.Branches[name] = twig.Branch{Branch: name, JiraIssue: fmt.Sprintf("PROJ-%d", i), GitHubPR: uint32(i)}
		doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: name, Parent: parent})
	}
	return twig.NewState(doc), branch.NewRefs(append(local, "main"), "main", "main")
}

func BenchmarkTree(b *testing.B) {
	state, refs := big(10_000)
	for _, bb := range []struct {
		name  string
		limit branch.Limit
	}{{"cut", branch.Limit{Nodes: 500, Bytes: 10_000}}, {"whole", branch.Limit{}}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				tree, err := branch.NewGraph(state, refs).Tree("", bb.limit)
				if err != nil {
					b.Fatal(err)
				}
				_ = tree.Root.Text()
			}
		})
	}
}

func BenchmarkStack(b *testing.B) {
	state, refs := big(10_000)
	for b.Loop() {
		if _, err := branch.Stack(state, refs.Has, "feature/branch-09999"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnknown(b *testing.B) {
	state, refs := big(10_000)
	for b.Loop() {
		if e := branch.NotFound(state, refs, "feature/brunch-0999"); len(e.Nearest) == 0 {
			b.Fatal("nothing near")
		}
	}
}
