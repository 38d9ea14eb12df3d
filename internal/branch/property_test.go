package branch_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

// encodedSize returns what n takes as JSON and as a JSON string of text, HTML escaped or not,
// whichever is more.
func encodedSize(t rapid.TB, n *branch.Node) int {
	t.Helper()
	largest := 0
	for _, escape := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escape)
		for _, v := range []any{n, n.Text()} {
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
		largest = max(largest, b.Len()-2) // two line ends
	}
	return largest
}

// drawRepo draws a repository with everything that is awkward: cycles, missing
// branches, several parents, roots with parents, names that must be escaped.
func drawRepo(t *rapid.T) (*twig.State, branch.Refs, []string) {
	names := []string{"a", "b", "c", "d", "e", "<f>", "g\"\\", "h\u2028\x01", "é漢", "\xff", "main"}
	name := rapid.SampledFrom(names)
	maybe := rapid.OneOf(name, rapid.Just(""))
	doc := twig.Document{
		Branches: rapid.MapOfN(name, rapid.Custom(func(t *rapid.T) twig.Branch {
			return twig.Branch{
				JiraIssue: rapid.SampledFrom([]string{"", "P-1", "P&\n\x7f"}).Draw(t, "issue"),
				GitHubPR:  rapid.SampledFrom([]uint32{0, 7, 1<<32 - 1}).Draw(t, "pr"),
			}
		}), 0, 6).Draw(t, "links"),
		Dependencies: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) twig.Dependency {
			return twig.Dependency{Child: name.Draw(t, "child"), Parent: name.Draw(t, "parent")}
		}), 0, 16).Draw(t, "dependencies"),
		Roots: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) twig.Root {
			return twig.Root{Branch: name.Draw(t, "root"), IsDefault: rapid.Bool().Draw(t, "default")}
		}), 0, 3).Draw(t, "roots"),
	}
	local := rapid.SliceOfDistinct(name, rapid.ID).Draw(t, "local")
	refs := branch.NewRefs(local, maybe.Draw(t, "git default"), maybe.Draw(t, "current"))
	return twig.NewState(doc), refs, names
}

func TestTreesOfAnyRepository(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkRepo)
}

func FuzzTrees(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkRepo)) }

func checkRepo(t *rapid.T) {
	state, refs, names := drawRepo(t)
	graph := branch.NewGraph(state, refs)
	checkStacks(t, state, refs, names)

	whole := make(map[string]*branch.Tree) // by root
	for _, root := range append(slices.Clone(names), "") {
		tree, err := graph.Tree(root, branch.Limit{})
		if err != nil {
			continue
		}
		if root == "" {
			root = tree.Root.Branch
			if roots := graph.Roots(); roots[0] != root {
				t.Fatalf("the tree begins at %q, Roots at %q", root, roots[0])
			}
		}
		whole[root] = tree
		checkWhole(t, tree)
		limit := branch.Limit{
			Nodes: rapid.IntRange(0, 12).Draw(t, "nodes"),
			Bytes: rapid.SampledFrom([]int{0, 150, 200, 300, 400, 600, 800, 1200, 2000}).Draw(t, "bytes"),
		}
		cut, err := graph.Tree(root, limit)
		if err != nil {
			t.Fatal(err)
		}
		checkCut(t, tree, cut, limit)
	}
	checkComplete(t, state, graph, whole)
}

// checkWhole: the children of a branch stand under its first place, sorted.
func checkWhole(t *rapid.T, tree *branch.Tree) {
	kids := make(map[string][]string)
	count := 0
	all(tree.Root, func(n *branch.Node, _ int) {
		count++
		var names []string
		for _, c := range n.Children {
			names = append(names, c.Branch)
		}
		if !slices.IsSorted(names) || n.Omitted != 0 || n.Children == nil {
			t.Fatalf("bad node %+v in\n%s", n, tree.Root.Text())
		}
		if before, met := kids[n.Branch]; met && names != nil {
			t.Fatalf("%q has children %q after %q in\n%s", n.Branch, names, before, tree.Root.Text())
		} else if !met {
			kids[n.Branch] = names
		}
	})
	if count != tree.Shown || tree.Omitted != 0 {
		t.Fatalf("%d nodes, %d shown, %d omitted", count, tree.Shown, tree.Omitted)
	}
}

// checkCut: the limit holds, what was left out adds up, and the levels near to
// the root stay.
func checkCut(t *rapid.T, whole, cut *branch.Tree, limit branch.Limit) {
	text := cut.Root.Text()
	shown, omitted, marks, deepest := 0, 0, 0, 0
	all(cut.Root, func(n *branch.Node, depth int) {
		shown++
		omitted += n.Omitted
		deepest = max(deepest, depth)
		if n.Omitted > 0 {
			marks++
		}
	})
	all(cut.Root, func(n *branch.Node, depth int) {
		if n.Omitted > 0 && depth < deepest-1 {
			t.Fatalf("%q lost children two levels above the lowest of\n%s", n.Branch, text)
		}
	})
	if shown != cut.Shown || omitted != cut.Omitted || shown+omitted != whole.Shown {
		t.Fatalf("%d nodes and %d marked are %d shown and %d omitted, of %d", shown, omitted, cut.Shown, cut.Omitted, whole.Shown)
	}
	if got := strings.Count(text, "\n"); got != shown+marks {
		t.Fatalf("%d lines for %d nodes and %d marks:\n%s", got, shown, marks, text)
	}
	if limit.Nodes > 0 && shown > limit.Nodes {
		t.Fatalf("%d nodes with a limit of %d", shown, limit.Nodes)
	}
	if limit.Bytes == 0 && shown != min(whole.Shown, max(limit.Nodes, 1)) && limit.Nodes > 0 {
		t.Fatalf("%d nodes of %d with a limit of %d", shown, whole.Shown, limit.Nodes)
	}
	size := encodedSize(t, cut.Root)
	if limit.Bytes > 0 && size > limit.Bytes && shown > 1 {
		t.Fatalf("%d bytes with a limit of %d:\n%s", size, limit.Bytes, text)
	}
	if wholeSize := encodedSize(t, whole.Root); omitted > 0 && limit.Nodes == 0 && wholeSize*2 < limit.Bytes {
		t.Fatalf("cut to %d bytes, although the whole has %d and the limit is %d", size, wholeSize, limit.Bytes)
	}
}

// checkComplete: the trees of the roots have every local and every declared
// branch, and only what has no better place hangs under the home root.
func checkComplete(t *rapid.T, state *twig.State, graph *branch.Graph, whole map[string]*branch.Tree) {
	roots := graph.Roots()
	if len(roots) == 0 {
		return
	}
	shown := make(map[string]bool)
	for _, root := range roots {
		all(whole[root].Root, func(n *branch.Node, _ int) { shown[n.Branch] = true })
	}
	for name, tree := range whole {
		if (!tree.Root.Missing || state.Declared(name)) && !shown[name] {
			t.Fatalf("%q is in no tree of the roots %q", name, roots)
		}
		for _, c := range tree.Root.Children {
			declared := slices.Contains(state.Parents(c.Branch), name)
			switch {
			case declared:
			case name != roots[0]:
				t.Fatalf("%q hangs under %q, which is not the home root %q", c.Branch, name, roots[0])
			case slices.Contains(roots, c.Branch):
				t.Fatalf("the root %q hangs under the home root", c.Branch)
			case len(state.Parents(c.Branch)) > 0 && !inCycle(state, c.Branch):
				t.Fatalf("%q hangs under the home root, although it has a parent", c.Branch)
			}
		}
		for _, child := range state.Children(name) {
			if !slices.ContainsFunc(tree.Root.Children, func(n *branch.Node) bool { return n.Branch == child }) {
				t.Fatalf("%q lacks its child %q", name, child)
			}
		}
	}
}

// inCycle reports whether the first parents of name lead back to it.
func inCycle(state *twig.State, name string) bool {
	at := name
	for range len(state.Dependencies) + 1 {
		parent, ok := state.Parent(at)
		if !ok {
			return false
		}
		if parent == name {
			return true
		}
		at = parent
	}
	return false
}

// checkStacks: a stack follows the first parents, repeats nothing, and ends for
// a reason.
func checkStacks(t *rapid.T, state *twig.State, refs branch.Refs, names []string) {
	for _, name := range names {
		stack, err := branch.Stack(state, refs.Has, name)
		if err != nil {
			continue
		}
		met := make(map[string]bool)
		for i, e := range stack {
			if met[e.Branch] {
				t.Fatalf("%q twice in %+v", e.Branch, stack)
			}
			met[e.Branch] = true
			parent, hasParent := state.Parent(e.Branch)
			final := e.Missing || state.IsRoot(e.Branch) || !hasParent || met[parent]
			if last := i == len(stack)-1; final != last || !last && stack[i+1].Branch != parent {
				t.Fatalf("entry %d of %+v: final %v", i, stack, final)
			}
		}
		if stack[0].Branch != name {
			t.Fatalf("the stack of %q begins with %q", name, stack[0].Branch)
		}
	}
}
