package gather

import (
	"context"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// hold fills in the worktree of each branch, and its state. Like link, ask, and [relation.Known.Compare],
// it runs concurrently with the others: each writes its own members, and none copies a branch.
func (v *Verdicts) hold(ctx context.Context, repo *git.Repo, s shape) error {
	list, err := repo.Checkouts(ctx)
	if err != nil {
		return err
	}
	at := make(map[string]int, len(s.branches))
	for i := range s.branches {
		at[s.branches[i].Branch] = i
	}
	var held []*verdict.Worktree
	var here *verdict.Worktree
	var roots []string
	for _, w := range list {
		name := w.Branch
		if name == "" && w.Operation != nil {
			name = w.Operation.Branch
		}
		i, ok := at[name]
		ok = ok && s.branches[i].Worktree == nil
		if w.Prunable || w.Bare || !ok && w.Path != repo.Root() {
			continue
		}
		one := &verdict.Worktree{Name: w.Name, Path: w.Path, Current: w.Path == repo.Root()}
		if w.Operation != nil {
			one.Operation = string(w.Operation.Kind)
		}
		if ok {
			s.branches[i].Worktree = one
		}
		if one.Current {
			here = one
		}
		held, roots = append(held, one), append(roots, w.Path)
	}
	if v.o.Radar == nil {
		return nil
	}
	changes, err := v.o.Radar.Uncommitted(ctx, roots)
	for _, one := range held {
		if found, known := changes[one.Path]; known && err == nil {
			one.Dirty = &found.All // otherwise it is unknown
			one.Tracked, one.Conflicted, one.InConflict = found.Tracked, found.Conflicted, found.InConflict
		}
	}
	for i := range s.branches {
		s.branches[i].Here = here
	}
	return ctx.Err()
}
