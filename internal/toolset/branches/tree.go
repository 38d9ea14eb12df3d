package branches

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset/envelope"
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
	tree, err := t.Tree(ctx, in.Branch, limit)
	if err != nil {
		return TreeOut{}, err
	}
	out := TreeOut{Root: tree.Root.Branch, TreeText: tree.Root.Text(), Branches: []*branch.Node{tree.Root}}
	if tree.Omitted > 0 {
		out.Showing = fmt.Sprintf("%d of %d branches; for more pass a higher limit, or as branch one that has omitted", tree.Shown, tree.Shown+tree.Omitted)
	}
	return out, nil
}

// Tree is the tree of a root, the home root if it is "", cut to limit.
func (t *Tools) Tree(ctx context.Context, root string, limit branch.Limit) (*branch.Tree, error) {
	graph, err := t.graph(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := graph.Tree(root, limit)
	if err != nil {
		return nil, explain(err)
	}
	return tree, nil
}

// graph reads state and branches at the same time: in a large repository that
// nothing is known of yet, each takes a while.
func (t *Tools) graph(ctx context.Context) (*branch.Graph, error) {
	var (
		state   *twig.State
		refs    branch.Refs
		reading errgroup.Group
	)
	reading.Go(func() (err error) {
		state, err = t.place.State(ctx)
		return err
	})
	reading.Go(func() (err error) {
		refs, err = t.Refs(ctx)
		return err
	})
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return branch.NewGraph(state, refs), nil
}

// explain words the errors of package branch.
func explain(err error) error {
	switch {
	case errors.Is(err, branch.ErrNoBranches):
		return &envelope.Error{
			Code: envelope.NotFound, Message: "No branches found in repository", Hint: "Make a first commit.",
		}
	case errors.Is(err, branch.ErrNoRoot):
		return &envelope.Error{
			Code:    envelope.NotFound,
			Message: "No root branch found in repository",
			Hint:    "Pass a branch as the root.",
		}
	}
	unknown, ok := errors.AsType[*branch.NotFoundError](err)
	if !ok {
		return err
	}
	hint := "Use `list_branches` to see tracked branches."
	if len(unknown.Nearest) > 0 {
		hint = "The nearest names are: " + strings.Join(unknown.Nearest, ", ") + "."
	}
	return &envelope.Error{
		Code: envelope.NotFound, Message: fmt.Sprintf("Branch '%s' not found", unknown.Branch), Hint: hint,
	}
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
	start := in.Branch
	if start == "" {
		head, err := t.place.Head(ctx)
		if err != nil {
			return StackOut{}, err
		}
		if head.Detached {
			return StackOut{}, &envelope.Error{
				Code:    envelope.NotFound,
				Message: "Not on any branch (detached HEAD)",
				Hint:    "Pass a branch.",
			}
		}
		start = head.Branch
	}
	stack, err := t.Stack(ctx, start)
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

// Stack is the stack from start up to its root, uncut. Git is asked for no more branches
// than it has, unless start is unknown and similar names are looked for.
func (t *Tools) Stack(ctx context.Context, start string) ([]branch.Entry, error) {
	state, err := t.place.State(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := t.place.Repo(ctx)
	if err != nil {
		return nil, err
	}
	current := t.Current(ctx)
	stack, err := branch.Stack(state, func(name string) (bool, error) {
		if name == current {
			return true, nil // also before its first commit
		}
		return repo.HasBranch(ctx, name)
	}, start)
	if _, unknown := errors.AsType[*branch.NotFoundError](err); unknown {
		refs, err := t.Refs(ctx)
		if err != nil {
			return nil, err
		}
		return nil, explain(branch.NotFound(state, refs, start))
	}
	return stack, t.place.Explain(err)
}
