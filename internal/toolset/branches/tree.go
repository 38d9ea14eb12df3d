package branches

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/page"
)

// TreeIn selects a tree.
type TreeIn struct {
	Branch string `json:"branch,omitempty" description:"Tree root. Defaults to the default root."`
	Limit  int    `json:"limit,omitempty" min:"1" max:"5000" description:"Most branches to show. Default: what fits 10 KB."`
}

// TreeOut is a tree as text and as data.
type TreeOut struct {
	Root     string         `json:"root"`
	TreeText string         `json:"tree_text"`
	Branches []*branch.Node `json:"branches"`
	Showing  string         `json:"showing,omitempty"`
}

// mostBytes bounds a tree whose limit was asked for: the text of a deep one grows
// with the square of its depth.
const mostBytes = 1 << 20

// GetBranchTree draws the tree of a root.
func (t *Tools) GetBranchTree(ctx context.Context, in TreeIn) (TreeOut, error) {
	limit := branch.Limit{Bytes: page.DefaultBudget}
	if in.Limit > 0 {
		limit = branch.Limit{Nodes: in.Limit, Bytes: mostBytes}
	}
	tree, err := t.branches.Tree(ctx, in.Branch, limit)
	if err != nil {
		return TreeOut{}, err
	}
	out := TreeOut{Root: tree.Root.Branch, TreeText: tree.Root.Text(), Branches: []*branch.Node{tree.Root}}
	if tree.Omitted > 0 {
		out.Showing = fmt.Sprintf("%d of %d branches; for more pass a higher limit, or as branch one that has omitted", tree.Shown, tree.Shown+tree.Omitted)
	}
	return out, nil
}

// StackIn selects a stack.
type StackIn struct {
	Branch string `json:"branch,omitempty" description:"Branch to trace from. Defaults to current branch."`
}

// StackOut is a stack, from the branch that was asked for to its root.
type StackOut struct {
	Stack   []branch.Entry `json:"stack"`
	Showing string         `json:"showing,omitempty"`
}

// GetBranchStack follows the first parents of a branch to its root.
func (t *Tools) GetBranchStack(ctx context.Context, in StackIn) (StackOut, error) {
	stack, err := t.branches.Stack(ctx, in.Branch)
	if err != nil {
		return StackOut{}, err
	}
	out := StackOut{Stack: stack}
	if n := page.Fit(stack, page.Size, page.DefaultBudget); n < len(stack) {
		out.Stack = stack[:n]
		out.Showing = fmt.Sprintf("%d of %d; for the rest pass branch %q", n, len(stack), stack[n].Branch)
	}
	return out, nil
}
