package projectcontext

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

// Radar knows which branches conflict with the one that is checked out.
type Radar interface {
	// Mine returns the conflicts of the worktree, and when they were found: the zero time if
	// nothing is known yet. It takes no longer than wait.
	Mine(ctx context.Context, wait time.Duration) ([]conflicts.Conflict, time.Time)
}

// Conflicts are the branches that conflict with the worktree. The zero Conflicts means that nothing
// is known of them yet.
type Conflicts struct {
	With []Conflicting
	// AsOf is when they were found. Earlier means that an earlier search found them, and that they can
	// have changed.
	AsOf    time.Time
	Earlier bool
}

// Conflicting is a branch, and how many files are in conflict with it.
type Conflicting struct {
	Branch string
	Files  int
	// File is one of them.
	File string
}

// radarWait is how long the context waits for uncached conflicts.
const radarWait = 300 * time.Millisecond

// conflicting asks the radar.
func (g *gathering) conflicting(ctx context.Context) *Conflicts {
	if g.Radar == nil {
		return nil
	}
	began := g.Now()
	found, asOf := g.Radar.Mine(ctx, radarWait)
	earlier := asOf.Before(began)
	switch {
	case len(found) == 0 && earlier:
		return &Conflicts{} // an earlier search need not know this state
	case len(found) == 0:
		return nil
	}
	out := &Conflicts{AsOf: asOf, Earlier: earlier}
	for _, c := range found {
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
