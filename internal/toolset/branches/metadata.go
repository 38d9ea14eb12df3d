package branches

import (
	"context"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// None is the input of a tool without arguments.
type None struct{}

// GetCurrentBranch returns the current branch and its links.
func (t *Tools) GetCurrentBranch(ctx context.Context, _ None) (stack.Checkout, error) {
	return t.branches.Current(ctx)
}

// BranchIn names a branch.
type BranchIn struct {
	Branch string `json:"branch" description:"Branch name to look up."`
}

// GetBranchMetadata returns the links of a branch that the state knows.
func (t *Tools) GetBranchMetadata(ctx context.Context, in BranchIn) (twig.Metadata, error) {
	return t.branches.Metadata(ctx, in.Branch)
}

// ListIn selects a page.
type ListIn struct {
	Limit  *int   `json:"limit,omitempty" min:"1" max:"1000" default:"100"`
	Cursor string `json:"cursor,omitempty"`
}

// ListBranchesOut is a page of branches, sorted by name.
type ListBranchesOut struct {
	Branches   []twig.Metadata `json:"branches"`
	Showing    string          `json:"showing,omitempty"`
	NextCursor string          `json:"next_cursor,omitempty"`
	Note       string          `json:"note,omitempty"`
}

// limits of these lists; the size budget usually cuts earlier.
var limits = page.Limits{Default: 100, Max: 1000}

// ListBranches lists the branches that the state knows.
func (t *Tools) ListBranches(ctx context.Context, in ListIn) (ListBranchesOut, error) {
	state, note, err := t.branches.NotedState(ctx)
	if err != nil {
		return ListBranchesOut{}, err
	}
	// Metadata is created only for the rows of the page.
	found, err := cut(in, "list_branches", state.Names(), page.List[string]{
		Key:  func(name string) string { return name },
		Size: func(name string) int { return page.Size(state.Metadata(name)) },
	})
	if err != nil {
		return ListBranchesOut{}, err
	}
	out := ListBranchesOut{Branches: make([]twig.Metadata, len(found.Items)), NextCursor: found.Next}
	for i, name := range found.Items {
		out.Branches[i] = state.Metadata(name)
	}
	out.Showing, out.Note = showing(found, in), note
	return out, nil
}

// cut returns the page of a list that in selects.
func cut[T any](in ListIn, query string, all []T, list page.List[T]) (page.Page[T], error) {
	window, err := limits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, query)
	if err != nil {
		return page.Page[T]{}, &toolset.ArgumentError{Message: err.Error()}
	}
	return list.Cut(window, all), nil
}

// showing describes the displayed part of a list, if that is not all.
func showing[T any](p page.Page[T], in ListIn) string {
	if p.Next == "" && in.Cursor == "" {
		return ""
	}
	return p.Showing()
}
