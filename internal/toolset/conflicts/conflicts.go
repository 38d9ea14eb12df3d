// Package conflicts provides the tool get_conflicts of the toolset "branches": the branches and
// worktrees in flight that cannot be merged with each other or with the trunk. The read-only
// program does not link it, because trying merges writes to the user's cache.
package conflicts

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
)

// Radar finds conflicts.
type Radar interface {
	Report(ctx context.Context, r conflicts.Request) (conflicts.Report, error)
}

// In selects conflicts.
type In struct {
	Branches []string `json:"branches,omitempty"`
	Limit    *int     `json:"limit,omitempty" min:"1" max:"200" default:"50"`
	Cursor   string   `json:"cursor,omitempty"`
}

// Out is a page of conflicts, those with the trunk first.
type Out struct {
	Trunk string `json:"trunk,omitempty"`
	// Compared is the number of branches and worktrees that were compared with the trunk and each
	// other.
	Compared   int                  `json:"compared"`
	Conflicts  []collision.Conflict `json:"conflicts"`
	Notes      []string             `json:"notes,omitempty"`
	Showing    string               `json:"showing,omitempty"`
	NextCursor string               `json:"next_cursor,omitempty"`
}

const (
	// maxNotes is the number of displayed notes.
	maxNotes = 10
	// budget is the maximum size of the conflicts of a page in bytes; notes take the rest.
	budget = 7 << 10
)

var limits = page.Limits{Default: 50, Max: 200}

// Tool returns the tool.
func Tool(form envelope.Form, radar Radar) toolset.Tool {
	return envelope.Tool(form, toolset.Spec{
		Name: "get_conflicts", Hints: toolset.Hints{ReadOnly: true, Idempotent: true},
		Description: "Find merge conflicts, file by file, between branches and worktrees in flight and with the trunk, including uncommitted changes",
	}, func(ctx context.Context, in In) (Out, error) { return get(ctx, radar, in) })
}

func get(ctx context.Context, radar Radar, in In) (Out, error) {
	window, err := limits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, "get_conflicts\x00"+strings.Join(in.Branches, "\x00"))
	if err != nil {
		return Out{}, &toolset.ArgumentError{Message: err.Error()}
	}
	found, err := radar.Report(ctx, conflicts.Request{Branches: in.Branches})
	if err != nil {
		return Out{}, err
	}
	list := page.List[collision.Conflict]{
		Key: func(c collision.Conflict) string {
			group := "1"
			if c.Branches[1] == found.Trunk {
				group = "0"
			}
			return group + "\x00" + strings.Join(c.Branches, "\x00")
		},
		Size: page.Size[collision.Conflict], Budget: budget,
	}
	for i, c := range found.Conflicts {
		found.Conflicts[i] = c.Brief()
	}
	cut := list.Cut(window, found.Conflicts)
	out := Out{Trunk: found.Trunk, Compared: found.Compared, Conflicts: cut.Items, NextCursor: cut.Next, Notes: found.Notes}
	if len(out.Notes) > maxNotes {
		out.Notes = append(out.Notes[:maxNotes:maxNotes], cleantext.Count(len(found.Notes)-maxNotes, "more note"))
	}
	if cut.Next != "" || in.Cursor != "" {
		out.Showing = cut.Showing()
	}
	return out, nil
}
