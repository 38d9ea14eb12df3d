package relation

import (
	"context"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// origin is a branch at a commit, and the commit of its trunk.
type origin struct{ branch, tip, trunk string }

// past is the relation of a branch to its trunk, which does not change while their commits stay.
type past struct {
	ground history.Ground // on which the trunk has the branch
	// base is the commit on which the branch began, if the trunk has the changes up to it in other
	// commits.
	base string
}

// merged fills in which branches are merged, and what that means for those that were stacked on them.
// It runs after the distances are known. Left is the number of further searches.
func (k *Known) merged(ctx context.Context, repo *git.Repo, t Tips, left int) error {
	trunk := t.Commit(t.trunk)
	if trunk == "" {
		return nil
	}
	found := make(map[string]bool, len(t.branches))
	for i := range t.branches {
		b := &t.branches[i]
		tip := t.Commit(b.Branch)
		if tip == "" || b.Parent != "" && b.Parent != t.trunk && !found[b.Parent] {
			continue
		}
		pair := history.Pair{Commit: tip, Base: trunk}
		gaps, err := k.gapsOf(ctx, repo, []history.Pair{pair})
		if err != nil {
			return err
		}
		gap := gaps[pair]
		known, ok := k.pastOf(ctx, repo, origin{b.Branch, tip, trunk}, gap, &left)
		if err := ctx.Err(); err != nil {
			return err
		}
		b.Merged = known.ground.In(t.trunk)
		found[b.Branch] = ok && b.Merged != ""
		switch {
		case b.Merged != "" || gap.Behind == 0:
		case found[b.Parent]:
			b.OnMerged = &verdict.OnMerged{Holds: b.StackedOn != "" || b.Ahead != nil && gap.Ahead > *b.Ahead}
		case known.base != "" && b.StackedOn == "":
			own := history.Pair{Commit: tip, Base: known.base}
			if gaps, err = k.gapsOf(ctx, repo, []history.Pair{own}); err != nil {
				return err
			}
			b.StackedOn, b.AboveMerged, b.NeedsRestack = known.base, true, new(true)
			*b.Ahead = gaps[own].Ahead
		}
	}
	return nil
}

// pastOf returns the relation of a branch to its trunk, and whether it is known. Left is the number
// of further searches.
func (k *Known) pastOf(ctx context.Context, repo *git.Repo, o origin, gap history.Gap, left *int) (past, bool) {
	k.mu.Lock()
	known, ok := k.pasts[o]
	k.mu.Unlock()
	if ok || gap.Ahead > 0 && gap.Behind == 0 {
		return known, true
	}
	if *left == 0 {
		return past{}, false
	}
	*left--
	found, err := k.search(ctx, repo, o, gap)
	if ctx.Err() != nil {
		return past{}, false
	}
	if err != nil {
		found = past{} // what cannot be compared is not known to be merged
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pasts) >= maxKnown {
		clear(k.pasts)
	}
	k.pasts[o] = found
	return found, true
}

// search finds the relation of a branch to its trunk.
func (k *Known) search(ctx context.Context, repo *git.Repo, o origin, gap history.Gap) (past, error) {
	logs, err := history.Logs(ctx, repo.Program(), repo.CommonDir())
	if err != nil {
		return past{}, err
	}
	log := logs(o.branch)
	if gap.Ahead == 0 {
		if !log.Held[o.tip] {
			return past{}, nil // nothing was made on it yet, or git has forgotten that
		}
		return past{ground: history.AllCommits}, nil
	}
	ground, err := history.Contained(ctx, repo.Program(), o.tip, o.trunk)
	if err != nil || ground != history.NotContained {
		return past{ground: ground}, err
	}
	base := log.Commit
	if len(log.Onto) > 0 {
		base = log.Onto[0]
	}
	if base == "" || base == o.tip {
		return past{}, nil
	}
	below, above := history.Pair{Commit: base, Base: o.trunk}, history.Pair{Commit: o.tip, Base: base}
	gaps, err := k.gapsOf(ctx, repo, []history.Pair{below, above})
	if err != nil || gaps[below].Ahead == 0 || gaps[above].Behind > 0 {
		return past{}, nil //nolint:nilerr // git may no longer have the commit
	}
	if ground, err = history.Contained(ctx, repo.Program(), base, o.trunk); err != nil || ground == history.NotContained {
		return past{}, err
	}
	return past{base: base}, nil
}
