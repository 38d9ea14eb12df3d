package stack

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/session"
)

// Worktree is a worktree. Branch is "(detached HEAD)" where none is checked out, and
// "(bare)" for a main repository without files, as git words it.
type Worktree struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
}

// Worktrees returns the worktrees that the state names, or, without a state file,
// those that git has.
func (b *Branches) Worktrees(ctx context.Context) ([]Worktree, error) {
	v := b.session.View()
	state, err := v.State(ctx)
	if err == nil {
		all := make([]Worktree, len(state.Worktrees))
		for i, w := range state.Worktrees {
			all[i] = Worktree{Name: w.Name, Path: w.Path, Branch: w.Branch}
		}
		return all, nil
	}
	if !errors.Is(err, twig.ErrNoState) {
		return nil, err
	}
	repo, err := v.Repo(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, session.Explain(err)
	}
	all := make([]Worktree, len(listed))
	for i, w := range listed {
		all[i] = Worktree{Name: w.Name, Path: w.Path, Branch: w.Branch}
		switch {
		case w.Detached:
			all[i].Branch = "(detached HEAD)"
		case w.Bare:
			all[i].Branch = "(bare)"
		}
	}
	return all, nil
}
