package conflicts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/copse-dev/copse/internal/git/trial"
)

// unrelated is the reason of a pair without a common history, which is not a conflict: a branch of
// documentation, or of work items. In a shallow clone, the common history can be missing.
const unrelated = "unrelated histories"

// try merges the pairs whose result is not known.
func (g *survey) try(ctx context.Context, pairs []pair) (err error) {
	attributes := g.attributes(ctx)
	g.ways = digest(attributes)
	missing := g.missing(pairs)
	if len(missing) == 0 {
		return nil
	}
	t, err := trial.New(g.repo, attributes)
	if err != nil {
		return err
	}
	defer func() {
		if closing := t.Close(); err == nil {
			err = closing
		}
	}()
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

// first returns the number of pairs to try at once: those with the trunk before the others, because
// a branch without a common history with it is not tried again.
func (g *survey) first(pairs []pair) int {
	for i, p := range pairs {
		if p.b != g.trunk && i > 0 {
			return i
		}
		if p.b != g.trunk {
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
		for _, s := range []*side{p.a, p.b} {
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
		commits[i] = trial.Pair{A: p.a.commit, B: p.b.commit}
	}
	outcomes, err := t.Merge(ctx, commits)
	if err != nil {
		return err
	}
	for i, p := range pairs {
		g.fresh.Merges[g.key(p)] = merge{Files: outcomes[i].Files, Reason: outcomes[i].Reason}
		if outcomes[i].Reason == unrelated && p.b == g.trunk {
			p.a.apart = true
		}
	}
	return nil
}

// merge returns the result of a pair, and whether it is known.
func (g *survey) merge(p pair) (merge, bool) {
	if p.a.commit == "" || p.b.commit == "" {
		return merge{}, false
	}
	if p.a.commit == p.b.commit {
		return merge{}, true
	}
	if p.b != g.trunk && (p.a.apart || p.b.apart) {
		return merge{Reason: unrelated}, true
	}
	m, known := g.result(g.key(p))
	if known && m.Reason == unrelated && p.b == g.trunk {
		p.a.apart = true
	}
	return m, known
}

// result returns the stored value of a key.
func (g *survey) result(key string) (merge, bool) {
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
	return fmt.Sprintf("%s %s %s%s", p.a.commit, p.b.commit, g.ways, g.shallow)
}

// mergedKey names the question whether a commit is in another one.
func (g *survey) mergedKey(commit, in string) string { return commit + " in " + in + g.shallow }

// digest returns a short name of a text.
func digest(text string) string {
	const digits = 16
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
