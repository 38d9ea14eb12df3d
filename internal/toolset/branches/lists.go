package branches

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// PageIn selects a page of a list without a limit of its own.
type PageIn struct {
	Cursor string `json:"cursor,omitempty"`
}

// Repository is a registered repository.
type Repository struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// ListRepositoriesOut is a page of repositories, in the order of the registry.
type ListRepositoriesOut struct {
	Repositories []Repository `json:"repositories"`
	Showing      string       `json:"showing,omitempty"`
	NextCursor   string       `json:"next_cursor,omitempty"`
}

// ListRepositories lists the repositories that the user registered.
func (t *Tools) ListRepositories(_ context.Context, in PageIn) (ListRepositoriesOut, error) {
	entries, err := t.opts.Repositories.Load()
	if err != nil {
		return ListRepositoriesOut{}, failure.New(failure.Internal, fmt.Sprintf("Failed to load registry: %v", err),
			"Correct the file, or remove it: copse creates it again when you add a repository.")
	}
	all := make([]Repository, len(entries))
	for i, e := range entries {
		all[i] = Repository{Name: e.Name, Path: e.Path}
	}
	found, err := inOrder(ListIn{Cursor: in.Cursor}, "list_repositories", all)
	if err != nil {
		return ListRepositoriesOut{}, err
	}
	return ListRepositoriesOut{
		Repositories: found.Items, NextCursor: found.Next, Showing: showing(found, ListIn{Cursor: in.Cursor}),
	}, nil
}

// GetWorktreesOut is a page of worktrees.
type GetWorktreesOut struct {
	Worktrees  []stack.Worktree `json:"worktrees"`
	Showing    string           `json:"showing,omitempty"`
	NextCursor string           `json:"next_cursor,omitempty"`
}

// GetWorktrees lists the worktrees of the repository.
func (t *Tools) GetWorktrees(ctx context.Context, in PageIn) (GetWorktreesOut, error) {
	all, err := t.branches.Worktrees(ctx)
	if err != nil {
		return GetWorktreesOut{}, err
	}
	found, err := inOrder(ListIn{Cursor: in.Cursor}, "get_worktrees", all)
	if err != nil {
		return GetWorktreesOut{}, err
	}
	return GetWorktreesOut{
		Worktrees: found.Items, NextCursor: found.Next, Showing: showing(found, ListIn{Cursor: in.Cursor}),
	}, nil
}

// inOrder cuts a list that keeps the order of its file. A position is an index:
// such lists grow at the end.
func inOrder[T any](in ListIn, query string, all []T) (page.Page[T], error) {
	type numbered struct {
		key   string
		value T
	}
	list := make([]numbered, len(all))
	for i, v := range all {
		list[i] = numbered{fmt.Sprintf("%08d", i), v}
	}
	found, err := cut(in, query, list, page.List[numbered]{
		Key:  func(n numbered) string { return n.key },
		Size: func(n numbered) int { return page.Size(n.value) },
	})
	if err != nil {
		return page.Page[T]{}, err
	}
	out := page.Page[T]{Items: make([]T, len(found.Items)), Total: found.Total, Next: found.Next}
	for i, n := range found.Items {
		out.Items[i] = n.value
	}
	return out, nil
}
