package conflicts

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
)

// withBases returns the merges that show what the sides of conflicting pairs inherit from the trunk:
// each side with the other one's merge base with the trunk.
func (g *survey) withBases(ctx context.Context, pairs []pair) ([]pair, error) {
	colliding := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool {
		m, _ := g.merge(p)
		return p.B == g.trunk || len(m.Files) == 0
	})
	if err := g.findBases(ctx, colliding); err != nil {
		return nil, err
	}
	var found []pair
	met := make(map[string]bool)
	for _, p := range colliding {
		for _, one := range g.inheritance(p) {
			if key := g.key(one); !met[key] {
				met[key] = true
				found = append(found, one)
			}
		}
	}
	return found, nil
}

// findBases finds the merge bases of the sides of pairs with the trunk.
func (g *survey) findBases(ctx context.Context, pairs []pair) error {
	if g.bases == nil {
		g.bases = make(map[*side]*side)
	}
	var unknown []*side
	for _, p := range pairs {
		for _, s := range []*side{p.A, p.B} {
			if g.bases[s] != nil {
				continue
			}
			m, known := g.result("base " + g.mergedKey(s.head, g.trunk.head))
			g.bases[s] = &side{name: g.trunk.name, commit: m.Base, head: m.Base, made: true}
			if !known {
				unknown = append(unknown, s)
			}
		}
	}
	var asking errgroup.Group
	asking.SetLimit(runtime.GOMAXPROCS(0))
	for _, s := range unknown {
		asking.Go(func() error {
			base, err := g.repo.MergeBase(ctx, s.head, g.trunk.head)
			g.bases[s].commit, g.bases[s].head = base, base
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		for _, s := range unknown {
			delete(g.bases, s)
		}
		return err
	}
	for _, s := range unknown {
		g.fresh.Merges["base "+g.mergedKey(s.head, g.trunk.head)] = results.Merge{Base: g.bases[s].commit}
	}
	return nil
}

// inheritance returns the merges of each side of a pair with the base of the other one, none if both
// start at the same commit.
func (g *survey) inheritance(p pair) []pair {
	a, b := g.bases[p.A], g.bases[p.B]
	if a.commit == "" || b.commit == "" || a.commit == b.commit {
		return nil
	}
	return []pair{{p.A, b}, {a, p.B}}
}

// own returns the files of a conflict that neither side inherits from the trunk, false if that is not
// known.
func (g *survey) own(p pair, files []trial.File) ([]trial.File, bool) {
	if p.B == g.trunk {
		return files, true
	}
	if g.bases[p.A] == nil || g.bases[p.B] == nil {
		return nil, false
	}
	inherited := make(map[collision.Clash]bool)
	for _, one := range g.inheritance(p) {
		m, known := g.merge(one)
		if !known {
			return nil, false
		}
		for _, f := range m.Files {
			inherited[collision.Of(f)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f trial.File) bool { return collision.Named(f) && inherited[collision.Of(f)] }), true
}

// fold describes conflicts, each with the lowest sides that have it.
func (g *survey) fold(ctx context.Context, all []collision.Collision[*side], clients map[string][]string) []collision.Conflict {
	g.learnAbove(ctx, collision.Groups(all))
	out := []collision.Conflict{}
	for _, c := range collision.Fold(all, g.sides, g.below) {
		one := collision.Describe(c.A.described(clients), c.B.described(clients), c.Files)
		for low, above := range c.Above {
			if one.Above == nil {
				one.Above = make(map[string][]string)
			}
			for _, s := range above {
				one.Above[low.name] = append(one.Above[low.name], s.name)
			}
		}
		out = append(out, one)
	}
	return out
}

// below reports whether a side contains another one. Of two with the same commit, the first by name is
// below.
func (g *survey) below(low, high *side) bool {
	if low.head == high.head {
		return cmp.Or(cmp.Compare(low.name, high.name), cmp.Compare(low.root, high.root)) < 0
	}
	m, _ := g.result(g.mergedKey(low.head, high.head))
	return m.Contained
}

// learnAbove finds out which of the sides with the same version of a file contain which. It asks git
// once. Without an answer, each of them has conflicts of its own.
func (g *survey) learnAbove(ctx context.Context, groups map[collision.Clash]map[collision.Pair[*side]]bool) {
	unknown := make(map[history.Pair]bool)
	learn := func(sides map[*side]bool) {
		for a := range sides {
			for b := range sides {
				if a.head >= b.head {
					continue // the other order, or the same commit
				}
				if _, known := g.result(g.mergedKey(a.head, b.head)); !known {
					unknown[history.Pair{Commit: a.head, Base: b.head}] = true
				}
			}
		}
	}
	for _, group := range groups {
		if len(group) < 2 {
			continue
		}
		first, second := make(map[*side]bool), make(map[*side]bool)
		for p := range group {
			first[p.A], second[p.B] = true, true
		}
		learn(first)
		learn(second)
	}
	gaps, err := history.Gaps(ctx, g.repo.Program(), slices.Collect(maps.Keys(unknown)))
	if err != nil {
		return
	}
	for p, gap := range gaps {
		g.fresh.Merges[g.mergedKey(p.Commit, p.Base)] = results.Merge{Contained: gap.Ahead == 0}
		g.fresh.Merges[g.mergedKey(p.Base, p.Commit)] = results.Merge{Contained: gap.Behind == 0}
	}
}
