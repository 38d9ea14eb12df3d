package conflicts

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
)

// readFiles finds the changed files of worktrees. It compares an unreadable worktree by its commit.
func (g *survey) readFiles(ctx context.Context, sides []*side) error {
	var reading errgroup.Group
	reading.SetLimit(runtime.GOMAXPROCS(0))
	failed := make([]error, len(sides))
	for i, s := range sides {
		reading.Go(func() error {
			repo, err := g.open(ctx, s.root)
			if err == nil {
				s.state, err = g.uncommitted.State(ctx, repo, s.head, g.known.Worktrees[s.root])
			}
			failed[i] = err
			return ctx.Err()
		})
	}
	if err := reading.Wait(); err != nil {
		for _, s := range sides { // the next survey need not read them again
			if s.state != nil {
				g.fresh.Worktrees[s.root] = s.state
			}
		}
		return err
	}
	g.read = true
	for i, s := range sides {
		if failed[i] != nil {
			g.notes = append(g.notes, fmt.Sprintf("the uncommitted changes of %s are not compared: %v", s.name, failed[i]))
			continue
		}
		g.fresh.Worktrees[s.root] = s.state
		switch {
		case s.state.Edits.Conflicted > 0:
			g.notes = append(g.notes, fmt.Sprintf("the uncommitted changes of %s are not compared: %s with unresolved conflicts", s.name, cleantext.Count(s.state.Edits.Conflicted, "file")))
			continue
		case s.state.LeftOut > 0:
			g.notes = append(g.notes, fmt.Sprintf("copse does not compare %s of %s", cleantext.Count(s.state.LeftOut, "untracked file"), s.name))
		}
		if s.uncommitted = len(s.state.Edits.Files); s.uncommitted > 0 {
			s.commit = s.state.Commit
		}
	}
	return nil
}

// open returns the repository as seen from a worktree.
func (r *Radar) open(ctx context.Context, root string) (*git.Repo, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if known := r.repos[root]; known != nil {
		if _, err := known.Head(ctx); err == nil {
			return known, nil
		}
	}
	repo, err := git.Discover(ctx, root, r.o.Git)
	if err != nil {
		return nil, err
	}
	r.repos[root] = repo
	return repo, nil
}
