package track

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/branch/prune"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/session"
)

// Pruning contains the proposed updates.
type Pruning struct {
	Changes []prune.Change
	// Unasked is the reason why copse did not look for pull requests, nil if it did.
	Unasked error
}

// Prune finds declared branches that were renamed or deleted, or are stacked on a merged one. It
// changes nothing. Offline, it does not ask GitHub which pull requests are merged.
func (t *Tracker) Prune(ctx context.Context, offline bool) (Pruning, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Pruning{}, err
	}
	known := prune.Known{State: state, Root: defaultRoot(state), Logs: make(map[string]history.Log)}
	if known.Root == "" {
		if known.Root, err = t.standard(ctx); err != nil && !errors.Is(err, ErrNoBranch) {
			return Pruning{}, err
		}
	}
	names, err := t.session.View().Branches(ctx)
	if err != nil {
		return Pruning{}, err
	}
	logs, err := history.Logs(ctx, t.repo.Program(), t.repo.CommonDir())
	if err != nil {
		return Pruning{}, err
	}
	for _, name := range names {
		known.Logs[name] = logs(name)
	}
	var out Pruning
	merged := make(map[string]pullrequest.PullRequest) // by head branch
	if !offline {
		var pulls []pullrequest.PullRequest
		pulls, out.Unasked = t.pulls.Newest(ctx)
		for _, pr := range pulls {
			if pr.Merged {
				merged[pr.Head] = pr
			}
		}
		for _, pr := range pulls {
			if pr.State == string(pullrequest.Open) {
				delete(merged, pr.Head)
			}
		}
	}
	var failed error
	known.Merged = func(branch string) string {
		// A branch of a fork can have the same name.
		if pr := merged[branch]; pr.Number > 0 {
			_, ours := known.Logs[branch].Held[pr.HeadSHA]
			if ours || state.Branches[branch].GitHubPR == uint32(pr.Number) {
				return fmt.Sprintf("pull request #%d", pr.Number)
			}
		}
		how, err := t.merged(ctx, branch, known.Root, known.Logs[branch])
		failed = errors.Join(failed, err)
		return how
	}
	out.Changes = prune.Plan(known)
	return out, session.Explain(failed)
}

// merged returns how the trunk has all that was made on a branch, "" if it has not.
func (t *Tracker) merged(ctx context.Context, branch, trunk string, log history.Log) (how string, err error) {
	if exists, err := t.session.View().HasBranch(ctx, trunk); err != nil || !exists || branch == trunk {
		return "", err
	}
	tip, err := history.Tip(ctx, t.repo.Program(), branch)
	if err != nil {
		return "", err
	}
	base, err := history.Tip(ctx, t.repo.Program(), trunk)
	if err != nil {
		return "", err
	}
	ground, err := history.Contained(ctx, t.repo.Program(), tip, base)
	if err != nil || ground == history.AllCommits && !log.Held[tip] {
		return "", nil //nolint:nilerr // what cannot be compared, or has no commit of its own, is not known to be merged
	}
	return ground.In(trunk), nil
}

// ApplyPruning applies proposed changes. It leaves out each change that no longer fits the current
// state.
func (t *Tracker) ApplyPruning(ctx context.Context, changes []prune.Change) error {
	if len(changes) == 0 {
		return nil
	}
	_, err := t.Change(ctx, func(d *edit.Draft) error {
		for _, c := range changes {
			switch c.Kind {
			case prune.Rename:
				d.Rename(c.From, c.To)
			case prune.Reparent:
				_, err := d.Reparent(c.Branch, c.From, c.To)
				if _, cycle := errors.AsType[*edit.CycleError](err); err != nil && !cycle {
					return err
				}
			case prune.Forget:
				d.Forget(c.Branch)
			}
		}
		return nil
	})
	return err
}

// Untrack drops the data about branches. Branches that are stacked on one of them move to its
// parent. It returns these moves, the first one first.
func (t *Tracker) Untrack(ctx context.Context, names []string) ([]prune.Change, error) {
	var moves []prune.Change
	_, err := t.Change(ctx, func(d *edit.Draft) error {
		moves = nil
		for _, name := range names {
			if !d.Before().Known(name) {
				return failure.New(failure.NotFound, fmt.Sprintf("%s is not tracked", name), "`copse branch list --tracked` lists the branches that are.")
			}
			if d.Before().IsRoot(name) {
				return failure.New(failure.Invalid, fmt.Sprintf("%s is a trunk", name), "Run `"+cleantext.Command("copse", "branch", "trunk", "remove", name)+"` first.")
			}
			moved, err := untrack(d, name)
			if err != nil {
				return err
			}
			moves = append(moves, moved...)
		}
		return nil
	})
	return moves, err
}

func untrack(d *edit.Draft, name string) ([]prune.Change, error) {
	parents := slices.Clone(d.Parents(name))
	children := d.Children(name)
	d.Forget(name)
	var moves []prune.Change
	for _, child := range children {
		if len(parents) == 0 {
			d.Undepend(child, name)
			moves = append(moves, prune.Change{Kind: prune.Reparent, Branch: child, From: name})
			continue
		}
		if _, err := d.Reparent(child, name, parents[0]); err != nil {
			return nil, err
		}
		moves = append(moves, prune.Change{Kind: prune.Reparent, Branch: child, From: name, To: parents[0]})
	}
	return moves, nil
}
