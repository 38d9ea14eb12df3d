package conflicts

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
)

// try merges the pairs whose result is not known, and then those that show what each side inherits.
func (g *survey) try(ctx context.Context, pairs []pair, attributes string) (err error) {
	var t *trial.Trial
	defer func() {
		if t == nil {
			return
		}
		if closing := t.Close(); err == nil {
			err = closing
		}
	}()
	for _, next := range []func() ([]pair, error){
		func() ([]pair, error) { return pairs, nil },
		func() ([]pair, error) { return g.withBases(ctx, pairs) },
	} {
		wanted, err := next()
		if err != nil {
			return err
		}
		missing := g.missing(wanted)
		if len(missing) == 0 {
			continue
		}
		if t == nil {
			if t, err = trial.New(g.repo, attributes); err != nil {
				return err
			}
		}
		if err := g.tryIn(ctx, t, missing); err != nil {
			return err
		}
	}
	return nil
}

// tryIn merges pairs.
func (g *survey) tryIn(ctx context.Context, t *trial.Trial, missing []pair) error {
	if err := g.snapshot(ctx, t, missing); err != nil {
		return err
	}
	// The files may be others now than when the last commit of them was made.
	for missing = g.missing(missing); len(missing) > 0; {
		n := g.first(missing)
		if err := g.run(ctx, t, missing[:n]); err != nil {
			return err
		}
		missing = g.missing(missing[n:])
	}
	return nil
}

// maxAtOnce is the number of pairs that one process of git merges. Their results are lost if the time
// ends before all of them are known.
const maxAtOnce = 100

// first returns the number of pairs to try at once: those with the trunk before the others, because
// a branch without a common history with it is not tried again.
func (g *survey) first(pairs []pair) int {
	pairs = pairs[:min(len(pairs), maxAtOnce)]
	for i, p := range pairs {
		if p.B != g.trunk && i > 0 {
			return i
		}
		if p.B != g.trunk {
			break
		}
	}
	return len(pairs)
}

// missing returns the pairs whose result is not known.
func (g *survey) missing(pairs []pair) []pair {
	var missing []pair
	for _, p := range pairs {
		if _, known := g.merge(p); !known {
			missing = append(missing, p)
		}
	}
	return missing
}

// snapshot makes the commits of worktrees with uncommitted changes.
func (g *survey) snapshot(ctx context.Context, t *trial.Trial, pairs []pair) error {
	var sides []*side
	var worktrees []trial.Worktree
	for _, p := range pairs {
		for _, s := range []*side{p.A, p.B} {
			if !s.made {
				s.made = true
				sides = append(sides, s)
				worktrees = append(worktrees, trial.Worktree{Root: s.root, Head: s.head, Edits: s.state.Edits})
			}
		}
	}
	commits, err := t.Snapshots(ctx, worktrees)
	if err != nil {
		return err
	}
	for i, s := range sides {
		changed := *s.state
		changed.Commit, s.commit = commits[i], commits[i]
		s.state = &changed
		g.fresh.Worktrees[s.root] = s.state
	}
	return nil
}

// run merges pairs.
func (g *survey) run(ctx context.Context, t *trial.Trial, pairs []pair) error {
	commits := make([]trial.Pair, len(pairs))
	for i, p := range pairs {
		commits[i] = trial.Pair{A: p.A.commit, B: p.B.commit}
	}
	outcomes, err := t.Merge(ctx, commits)
	if err != nil {
		return err
	}
	for i, p := range pairs {
		g.fresh.Merges[g.key(p)] = results.Merge{Files: outcomes[i].Files, Reason: outcomes[i].Reason}
		if outcomes[i].Reason == results.Unrelated && p.B == g.trunk {
			p.A.apart = true
		}
	}
	return nil
}

// merge returns the result of a pair, and whether it is known.
func (g *survey) merge(p pair) (results.Merge, bool) {
	if p.A.commit == "" || p.B.commit == "" {
		return results.Merge{}, false
	}
	if p.A.commit == p.B.commit {
		return results.Merge{}, true
	}
	if p.B != g.trunk && (p.A.apart || p.B.apart) {
		return results.Merge{Reason: results.Unrelated}, true
	}
	m, known := g.result(g.key(p))
	if known && m.Reason == results.Unrelated && p.B == g.trunk {
		p.A.apart = true
	}
	return m, known
}

// result returns the stored value of a key.
func (g *survey) result(key string) (results.Merge, bool) {
	if m, ok := g.fresh.Merges[key]; ok {
		return m, true
	}
	m, ok := g.known.Merges[key]
	if ok {
		g.fresh.Merges[key] = m // it is in use
	}
	return m, ok
}

// key names the merge of a pair, with all of the history or with that of a shallow clone.
func (g *survey) key(p pair) string {
	return fmt.Sprintf("%s %s %s%s", p.A.commit, p.B.commit, g.ways, g.shallow)
}

// mergedKey names the question whether a commit is in another one.
func (g *survey) mergedKey(commit, in string) string { return commit + " in " + in + g.shallow }
