package relation

import (
	"cmp"
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// ancestry is the source whose tool considers a branch out of sync by its history alone.
const ancestry = "git-machete"

// Compare fills in the distance of each branch from its parent and from its remote branch, whether it
// must be rebased, and whether its trunk has it. Searches is the maximum number of branches whose
// changes are searched for in the trunk, which starts git several times; a later call continues with
// the others. Compare copies no branch, and writes only these members.
func (k *Known) Compare(ctx context.Context, repo *git.Repo, t Tips, searches int) error {
	below := func(b *verdict.Branch) string {
		if b.Parent != "" {
			return t.Commit(b.Parent)
		}
		return t.Commit(t.trunk)
	}
	var pairs []history.Pair
	for i := range t.branches {
		b := &t.branches[i]
		tip := t.Commit(b.Branch)
		if tip == "" {
			continue
		}
		if base := below(b); base != "" {
			pairs = append(pairs, history.Pair{Commit: tip, Base: base})
		}
		if at := t.published[b.Branch]; at != "" {
			pairs = append(pairs, history.Pair{Commit: tip, Base: t.commits[at]})
		}
	}
	gaps, err := k.gapsOf(ctx, repo, pairs)
	if err != nil {
		return err
	}
	for i := range t.branches {
		b := &t.branches[i]
		tip, base := t.Commit(b.Branch), below(b)
		if tip == "" {
			b.Unborn = !b.Missing
			continue
		}
		if base != "" {
			gap := gaps[history.Pair{Commit: tip, Base: base}]
			if gap.Behind > 0 && b.Parent != t.trunk {
				gap.Ahead = cmp.Or(k.fork(ctx, repo, b, tip, base), gap.Ahead)
			}
			b.Ahead, b.Behind = &gap.Ahead, &gap.Behind
			b.NeedsRestack = needsRestack(b, base)
		}
		if at := t.published[b.Branch]; at != "" {
			gap := gaps[history.Pair{Commit: tip, Base: t.commits[at]}]
			b.Remote = strings.TrimPrefix(at, remotePrefix)
			b.Unpushed, b.Unpulled = &gap.Ahead, gap.Behind
		} else if t.remote {
			b.Unpushed = b.Ahead
		}
	}
	return k.merged(ctx, repo, t, searches)
}

// fork fills in the commit on which a branch was stacked, if no tool recorded it and the reflogs show
// that the parent has replaced it since. It returns the number of the branch's own commits, 0 if that
// is unknown: git may no longer have a commit of a reflog.
func (k *Known) fork(ctx context.Context, repo *git.Repo, b *verdict.Branch, tip, base string) int {
	if b.Parent == "" || b.StackedOn != "" {
		return 0
	}
	logs, err := history.Logs(ctx, repo.Program(), repo.CommonDir())
	if err != nil {
		return 0
	}
	compared := func(pairs []history.Pair) (map[history.Pair]history.Gap, error) { return k.gapsOf(ctx, repo, pairs) }
	old, err := history.Fork(logs(b.Branch), logs(b.Parent), tip, base, compared, func(commits []string) (map[string]string, error) { return k.treesOf(ctx, repo, commits) })
	if err != nil || old == "" {
		return 0
	}
	own := history.Pair{Commit: tip, Base: old}
	gaps, err := compared([]history.Pair{own})
	if err != nil {
		return 0
	}
	b.StackedOn = old
	return gaps[own].Ahead
}

// needsRestack reports whether the branch must be rebased onto its parent, which has the commit base;
// nil if that is unknown.
func needsRestack(b *verdict.Branch, base string) *bool {
	switch {
	case b.Parent == "":
		return nil
	case b.StackedOn != "":
		return new(b.StackedOn != base || *b.Behind > 0)
	case cmp.Or(b.Manager, b.Source) == ancestry:
		return new(*b.Behind > 0)
	}
	return nil
}
