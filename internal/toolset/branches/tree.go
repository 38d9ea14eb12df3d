package branches

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/page"
)

// TreeIn selects a tree.
type TreeIn struct {
	Branch string `json:"branch,omitempty" description:"Tree root. Defaults to the default root."`
	Limit  int    `json:"limit,omitempty" min:"1" max:"5000" description:"Default: what fits 10 KB."`
}

// TreeOut is a tree as text and as data.
type TreeOut struct {
	Root     string         `json:"root"`
	TreeText string         `json:"tree_text"`
	Branches []*branch.Node `json:"branches"`
	// OtherRoots are the roots of further trees, each available by the argument branch.
	OtherRoots []string `json:"other_roots,omitempty"`
	Showing    string   `json:"showing,omitempty"`
	Note       string   `json:"note,omitempty"`
}

// maxBytes limits a tree with an explicit limit: the text of a deep one grows with the square of
// its depth.
const maxBytes = 1 << 20

// GetBranchTree draws the tree of a root.
func (t *Tools) GetBranchTree(ctx context.Context, in TreeIn) (TreeOut, error) {
	limit := branch.Limit{Bytes: page.DefaultBudget}
	if in.Limit > 0 {
		limit = branch.Limit{Nodes: in.Limit, Bytes: maxBytes}
	}
	forest, err := t.branches.Forest(ctx, in.Branch, limit)
	if err != nil {
		return TreeOut{}, err
	}
	tree := forest.Tree
	out := TreeOut{
		Root: tree.Root.Branch, TreeText: tree.Root.Text(), Branches: []*branch.Node{tree.Root},
		OtherRoots: forest.OtherRoots, Note: forest.Note,
	}
	if n := page.Fit(out.OtherRoots, page.Size, otherBytes); n < len(out.OtherRoots) {
		out.OtherRoots = out.OtherRoots[:n]
	}
	var showing []string
	if tree.Omitted > 0 {
		showing = append(showing, fmt.Sprintf("%d of %d branches; for more pass a higher limit, or as branch one that has omitted", tree.Shown, tree.Shown+tree.Omitted))
	}
	if forest.CurrentRoot != "" {
		showing = append(showing, fmt.Sprintf("not the branch that is checked out; for it pass branch %q", forest.CurrentRoot))
	}
	out.Showing = strings.Join(showing, "; ")
	return out, nil
}

// otherBytes is the maximum size of the names of other roots in bytes.
const otherBytes = 1 << 10

// StackIn selects a stack.
type StackIn struct {
	Branch string `json:"branch,omitempty" description:"Branch to trace from. Defaults to current branch."`
}

// StackOut is a stack, from the requested branch to its root.
type StackOut struct {
	Stack   []branch.Entry `json:"stack"`
	Showing string         `json:"showing,omitempty"`
	Note    string         `json:"note,omitempty"`
}

// GetBranchStack follows the first parents of a branch to its root.
func (t *Tools) GetBranchStack(ctx context.Context, in StackIn) (StackOut, error) {
	noted, err := t.branches.NotedStack(ctx, in.Branch)
	if err != nil {
		return StackOut{}, err
	}
	stack := noted.Stack
	out := StackOut{Stack: stack, Note: noted.Note}
	if n := page.Fit(stack, page.Size, page.DefaultBudget); n < len(stack) {
		out.Stack = stack[:n]
		out.Showing = fmt.Sprintf("%d of %d; for the rest pass branch %q", n, len(stack), stack[n].Branch)
	}
	return out, nil
}
