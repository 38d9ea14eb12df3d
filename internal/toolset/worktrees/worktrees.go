// Package worktrees provides the tool get_worktrees of the full program: it shows who works in
// which worktree. The read-only program has a tool of the same name that only lists the worktrees.
package worktrees

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
)

// Lister lists worktrees.
type Lister interface {
	List(ctx context.Context) ([]worktrees.Worktree, error)
}

// In selects a page.
type In struct {
	Cursor string `json:"cursor,omitempty"`
}

// Out is a page of worktrees.
type Out struct {
	Worktrees  []worktrees.Worktree `json:"worktrees"`
	Showing    string               `json:"showing,omitempty"`
	NextCursor string               `json:"next_cursor,omitempty"`
}

var limits = page.Limits{Default: 100, Max: 100}

// Tool returns the tool.
func Tool(form envelope.Form, list Lister) toolset.Tool {
	return envelope.Tool(form, toolset.Spec{
		Name: "get_worktrees", Hints: toolset.Hints{ReadOnly: true, Idempotent: true},
		Description: "Get active worktrees: who works in each, what is uncommitted or unpushed, and which are safe to remove",
	}, func(ctx context.Context, in In) (Out, error) { return get(ctx, list, in) })
}

func get(ctx context.Context, list Lister, in In) (Out, error) {
	window, err := limits.Open(page.Request{Cursor: in.Cursor}, "get_worktrees")
	if err != nil {
		return Out{}, &toolset.ArgumentError{Message: err.Error()}
	}
	all, err := list.List(ctx)
	if err != nil {
		return Out{}, err
	}
	// Such a list grows at the end, so a position is an index.
	type numbered struct {
		key   string
		value worktrees.Worktree
	}
	rows := make([]numbered, len(all))
	for i, w := range all {
		rows[i] = numbered{fmt.Sprintf("%08d", i), w}
	}
	cut := page.List[numbered]{
		Key:  func(n numbered) string { return n.key },
		Size: func(n numbered) int { return page.Size(n.value) },
	}.Cut(window, rows)
	out := Out{Worktrees: make([]worktrees.Worktree, len(cut.Items)), NextCursor: cut.Next}
	for i, row := range cut.Items {
		out.Worktrees[i] = row.value
	}
	if cut.Next != "" || in.Cursor != "" {
		out.Showing = cut.Showing()
	}
	return out, nil
}
