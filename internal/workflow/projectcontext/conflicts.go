package projectcontext

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

// Radar knows which branches conflict with the one that is checked out.
type Radar interface {
	// Soon returns the conflicts that are known or found within wait, and a text about the rest, "" if there is none.
	Soon(ctx context.Context, q conflicts.Request, wait time.Duration) (found conflicts.Report, left string)
}

// Conflicts are the branches that conflict with the worktree.
type Conflicts struct {
	With []Conflicting
	// Left is what copse has not compared, "" for nothing: there can be conflicts that With omits.
	Left string
}

// Conflicting is a branch, and how many files are in conflict with it.
type Conflicting struct {
	Branch string
	Files  int
	// File is one of them.
	File string
}

// radarWait is how long the context waits for uncached conflicts.
const radarWait = 700 * time.Millisecond

// conflicting asks the radar.
func (g *gathering) conflicting(ctx context.Context) *Conflicts {
	if g.Radar == nil {
		return nil
	}
	found, left := g.Radar.Soon(ctx, conflicts.Request{Current: true}, radarWait)
	if len(found.Conflicts) == 0 && left == "" {
		return nil
	}
	out := &Conflicts{Left: left}
	for _, c := range found.Conflicts {
		mine := 0
		for _, h := range c.Holders {
			if h.Worktree == g.Root && h.Branch == c.Branches[1] {
				mine = 1
			}
		}
		out.With = append(out.With, Conflicting{Branch: c.Branches[1-mine], Files: len(c.Files) + c.MoreFiles, File: c.Files[0]})
	}
	return out
}
