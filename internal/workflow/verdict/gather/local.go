package gather

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

const (
	remotePrefix = "refs/remotes/"
	// maxGaps is the number of cached distances.
	maxGaps = 10_000
)

// ancestry is the source whose tool considers a branch out of sync by its history alone.
const ancestry = "git-machete"

// tips are the commits of the branches of a stack, and their remote branches.
type tips struct {
	commits   map[string]string // by full name of the ref
	published map[string]string // ref by branch, "" for none
	// remote means that the repository has one to push to.
	remote bool
}

func (t tips) of(branch string) string { return t.commits[refstore.BranchPrefix+branch] }

// readTips reads the refs of a stack.
func readTips(ctx context.Context, repo *git.Repo, s shape) (tips, error) {
	var refs []string
	if s.trunk != "" {
		refs = append(refs, refstore.BranchPrefix+s.trunk)
	}
	names := make([]string, len(s.branches))
	for i, b := range s.branches {
		names[i] = b.Branch
	}
	candidates, err := repo.Published(ctx, names)
	if err != nil {
		return tips{}, err
	}
	for _, b := range s.branches {
		// A branch that was created from the trunk's upstream has not been pushed there.
		candidates[b.Branch] = slices.DeleteFunc(candidates[b.Branch], func(ref string) bool {
			name := shortOf(ref)
			return name != b.Branch && (name == s.trunk || name == b.Parent)
		})
		refs = append(append(refs, refstore.BranchPrefix+b.Branch), candidates[b.Branch]...)
		if b.Parent != "" {
			refs = append(refs, refstore.BranchPrefix+b.Parent)
		}
	}
	slices.Sort(refs)
	commits, err := repo.CommitsOf(ctx, slices.Compact(refs))
	if err != nil {
		return tips{}, err
	}
	remotes, err := repo.Remotes(ctx)
	if err != nil {
		return tips{}, err
	}
	out := tips{commits: commits, published: make(map[string]string, len(s.branches)), remote: len(remotes) > 0}
	for branch, refs := range candidates {
		for _, ref := range refs {
			if commits[ref] != "" {
				out.published[branch] = ref
				break
			}
		}
	}
	return out, nil
}

// shortOf returns the name of a remote-tracking branch without that of its remote.
func shortOf(ref string) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(ref, remotePrefix), "/")
	return name
}

// compare fills in the distance of each branch from its parent and from its remote branch. Like
// hold, link, and ask, it runs concurrently with the others: each writes its own members, and none
// copies a branch.
func (v *Verdicts) compare(ctx context.Context, repo *git.Repo, s shape, t tips) error {
	below := func(b *verdict.Branch) string {
		if b.Parent != "" {
			return t.of(b.Parent)
		}
		return t.of(s.trunk)
	}
	var pairs []history.Pair
	for i := range s.branches {
		b := &s.branches[i]
		tip := t.of(b.Branch)
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
	gaps, err := v.gapsOf(ctx, repo, pairs)
	if err != nil {
		return err
	}
	for i := range s.branches {
		b := &s.branches[i]
		tip, base := t.of(b.Branch), below(b)
		if tip == "" {
			continue
		}
		if base != "" {
			gap := gaps[history.Pair{Commit: tip, Base: base}]
			if gap.Behind > 0 && b.Parent != s.trunk {
				gap.Ahead = cmp.Or(v.fork(ctx, repo, b, tip, base), gap.Ahead)
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
	return nil
}

// fork fills in the commit on which a branch was stacked, if no tool recorded it and the reflogs show
// that the parent has replaced it since. It returns the number of the branch's own commits, 0 if that
// is unknown: git may no longer have a commit of a reflog.
func (v *Verdicts) fork(ctx context.Context, repo *git.Repo, b *verdict.Branch, tip, base string) int {
	if b.Parent == "" || b.StackedOn != "" {
		return 0
	}
	logs, err := history.Logs(ctx, repo.Program(), repo.CommonDir())
	if err != nil {
		return 0
	}
	compared := func(pairs []history.Pair) (map[history.Pair]history.Gap, error) { return v.gapsOf(ctx, repo, pairs) }
	old, err := history.Fork(logs(b.Branch), logs(b.Parent), tip, base, compared)
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

// gapsOf returns distances, and caches them.
func (v *Verdicts) gapsOf(ctx context.Context, repo *git.Repo, pairs []history.Pair) (map[history.Pair]history.Gap, error) {
	found := make(map[history.Pair]history.Gap, len(pairs))
	var missing []history.Pair
	v.mu.Lock()
	for _, p := range pairs {
		if gap, ok := v.gaps[p]; ok {
			found[p] = gap
		} else {
			missing = append(missing, p)
		}
	}
	v.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	more, err := history.Gaps(ctx, repo.Program(), missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(found, more)
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.gaps)+len(more) > maxGaps {
		clear(v.gaps)
	}
	maps.Copy(v.gaps, more)
	return found, nil
}

// hold fills in the worktree of each branch, and its state.
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
	var roots []string
	for _, w := range list {
		name := w.Branch
		if name == "" && w.Operation != nil {
			name = w.Operation.Branch
		}
		i, ok := at[name]
		if !ok || w.Prunable || w.Bare || s.branches[i].Worktree != nil {
			continue
		}
		one := &verdict.Worktree{Name: w.Name, Path: w.Path, Current: w.Path == repo.Root()}
		if w.Operation != nil {
			one.Operation = string(w.Operation.Kind)
		}
		s.branches[i].Worktree = one
		held, roots = append(held, one), append(roots, w.Path)
	}
	if v.o.Radar == nil {
		return nil
	}
	changes, err := v.o.Radar.Uncommitted(ctx, roots)
	for _, one := range held {
		if n, known := changes[one.Path]; known && err == nil {
			one.Dirty = &n // otherwise it is unknown
		}
	}
	return ctx.Err()
}
