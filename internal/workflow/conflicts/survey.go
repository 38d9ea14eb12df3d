package conflicts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
	"github.com/copse-dev/copse/internal/workflow/conflicts/listing"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
)

const (
	// maxAge is the maximum age of the last commit of a branch in flight, unless the branch is in a
	// stack.
	maxAge = 30 * 24 * time.Hour
	// maxSides is the maximum number of compared branches and worktrees.
	maxSides = 60
	// maxWorktrees is the maximum number of worktrees whose files are examined, which starts git
	// in each.
	maxWorktrees = 50
)

// survey is one look at a repository.
type survey struct {
	*Radar
	repo    *git.Repo
	request Request
	mine    bool // it is the turn of this survey
	results *results.Cache
	// known are the earlier results, fresh those that this survey learned or used.
	known, fresh *results.Results

	trunk *side
	sides []*side
	// worktrees are the sides that are worktrees, also what the trunk has already.
	worktrees  []*side
	unexamined []string // the roots of the worktrees beyond the limit
	notes      []string
	ways       string          // names how files are merged
	bases      map[*side]*side // see withBases
	read       bool            // the files of the worktrees
	shallow    string          // names where the history of a shallow clone ends, "" for all of the history
}

// side is a branch, or a worktree and the commit checked out there.
type side struct {
	name string
	// commit is the commit to merge; that of a worktree with uncommitted changes may not exist yet.
	commit string
	at     time.Time
	head   string // the commit without the changes
	named  bool   // by the request

	root        string             // of the worktree, "" for none
	current     bool               // the worktree of the session
	branch      bool               // the worktree has checked out a branch
	uncommitted int                // files that are compared
	state       *uncommitted.State // of the worktree
	made        bool               // the commit is there to be merged
	apart       bool               // it has no history in common with the trunk
}

// save stores the results. Those about worktrees stay if this survey has not read all of them.
func (g *survey) save() {
	if !g.read {
		for root, state := range g.known.Worktrees {
			if g.fresh.Worktrees[root] == nil {
				g.fresh.Worktrees[root] = state
			}
		}
	}
	g.results.Save(g.known, g.fresh)
}

// changes returns the number of uncommitted changes.
func (s *side) changes() int {
	if s.state == nil {
		return 0
	}
	return s.state.Count()
}

// find finds the trunk and the sides.
func (g *survey) find(ctx context.Context) error {
	v := g.o.Branches.Session().View()
	standard, err := v.Default(ctx)
	if err != nil {
		return err
	}
	if g.request.soon {
		if alone, err := listing.Alone(ctx, g.repo, standard); alone || err != nil {
			g.trunk = &side{name: standard}
			return err
		}
	}
	listed, tips, err := g.lister.List(ctx, g.repo, standard)
	if err != nil {
		return err
	}
	if err := g.checkNames(tips); err != nil {
		return err
	}
	if err := g.findTrunk(ctx, standard, tips); err != nil {
		return err
	}
	held, err := g.findWorktrees(ctx, g.examined(listed))
	if err != nil {
		return err
	}
	branches, err := g.branches(ctx, tips, held)
	if err != nil {
		return err
	}
	if left := len(g.sides) + len(branches) - maxSides; left > 0 {
		g.notes = append(g.notes, "copse does not compare "+cleantext.Count(left, "older branch")+"; name a branch to compare it")
		branches = branches[:len(branches)-left]
	}
	g.sides = append(g.sides, branches...)
	slices.SortFunc(g.sides, func(a, b *side) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.root, b.root)) })
	return nil
}

// checkNames makes sure that the branches of the request exist.
func (g *survey) checkNames(tips []git.Tip) error {
	for _, name := range g.request.Branches {
		if !slices.ContainsFunc(tips, func(t git.Tip) bool { return t.Branch() == name }) {
			return failure.New(failure.NotFound, fmt.Sprintf("Branch %s not found", foreign.Branch(name)), "Name local branches, or name none to compare all work in flight.")
		}
	}
	return nil
}

// findTrunk sets the trunk: the branch on which others start, or its counterpart at origin if that
// contains all of it and more.
func (g *survey) findTrunk(ctx context.Context, standard string, tips []git.Tip) error {
	local := listing.Find(tips, func(t git.Tip) bool { return t.Branch() == standard })
	remote := listing.Find(tips, func(t git.Tip) bool { return t.Ref == listing.OriginPrefix+standard })
	g.trunk = &side{name: standard, commit: local.Commit, head: local.Commit, made: true}
	if remote.Commit == "" || remote.Commit == local.Commit {
		return nil
	}
	ahead := local.Commit == ""
	if !ahead {
		var err error
		if ahead, err = g.contains(ctx, remote.Commit, local.Commit); err != nil {
			return err
		}
	}
	if ahead {
		g.trunk = &side{name: "origin/" + standard, commit: remote.Commit, head: remote.Commit, made: true}
	}
	return nil
}

// contains reports whether a commit has another one among its ancestors.
func (g *survey) contains(ctx context.Context, in, commit string) (bool, error) {
	key := g.mergedKey(commit, in)
	if m, ok := g.result(key); ok {
		return m.Contained, nil
	}
	found, err := g.repo.MergeBase(ctx, in, commit)
	if err != nil {
		return false, err
	}
	g.fresh.Merges[key] = results.Merge{Contained: found == commit}
	return found == commit, nil
}

// examined returns the worktrees to examine: that of the session, the main one, those of named
// branches, and the most recently used others.
func (g *survey) examined(listed []git.Worktree) []git.Worktree {
	found := slices.DeleteFunc(slices.Clone(listed), func(w git.Worktree) bool { return w.Bare || w.Prunable })
	if len(found) <= maxWorktrees {
		return found
	}
	first := func(w git.Worktree) bool {
		return w.Path == g.repo.Root() || w.Path == g.repo.MainRoot() || slices.Contains(g.request.Branches, w.Branch)
	}
	slices.SortStableFunc(found, func(a, b git.Worktree) int {
		if first(a) != first(b) {
			if first(a) {
				return -1
			}
			return 1
		}
		return b.Used.Compare(a.Used)
	})
	for _, w := range found[maxWorktrees:] {
		g.unexamined = append(g.unexamined, w.Path)
	}
	g.notes = append(g.notes, "copse does not compare the files of "+cleantext.Count(len(g.unexamined), "less recently used worktree")+"; name a branch to compare its worktree")
	return found[:maxWorktrees]
}

// findWorktrees adds the worktrees that the trunk does not have, and returns which
// branches worktrees hold.
func (g *survey) findWorktrees(ctx context.Context, listed []git.Worktree) (held map[string]bool, err error) {
	held = make(map[string]bool)
	var sides, onBranch []*side
	for _, w := range listed {
		if w.Bare || w.Prunable || w.Head == "" {
			continue
		}
		s := &side{name: w.Branch, commit: w.Head, head: w.Head, root: w.Path, current: w.Path == g.repo.Root(), branch: w.Branch != ""}
		if w.Detached && w.Operation != nil {
			s.name = w.Operation.Branch
		}
		if s.name == "" {
			s.name = w.Name + " (detached HEAD)"
		}
		held[s.name] = true
		sides = append(sides, s)
		if w.Branch != "" {
			onBranch = append(onBranch, s)
		}
	}
	if err := g.learnMerged(ctx, onBranch); err != nil {
		return nil, err
	}
	if err := g.readFiles(ctx, sides); err != nil {
		return nil, err
	}
	g.worktrees = sides
	for _, s := range sides {
		s.made = s.uncommitted == 0
		if s.name == g.trunk.name {
			g.trunk = s // with the changes that are not committed
			continue
		}
		s.named = slices.Contains(g.request.Branches, s.name)
		if s.uncommitted == 0 && !s.named {
			merged, err := g.merged(ctx, s.head)
			if err != nil {
				return nil, err
			}
			if merged {
				continue
			}
		}
		g.sides = append(g.sides, s)
	}
	return held, nil
}

// learnMerged finds out which tips of branches the trunk has, with one question to git for
// all that are not known.
func (g *survey) learnMerged(ctx context.Context, tips []*side) error {
	known := func(s *side) bool {
		_, known := g.result(g.mergedKey(s.head, g.trunk.head))
		return known
	}
	unknown := slices.DeleteFunc(slices.Clone(tips), known)
	if g.trunk.head == "" || len(unknown) == 0 {
		return nil
	}
	merged, err := g.repo.Merged(ctx, g.trunk.head)
	if err != nil {
		return err
	}
	for _, s := range unknown {
		g.fresh.Merges[g.mergedKey(s.head, g.trunk.head)] = results.Merge{Contained: merged[s.head]}
	}
	return nil
}

// merged reports whether the trunk has a commit.
func (g *survey) merged(ctx context.Context, commit string) (bool, error) {
	if g.trunk.head == "" {
		return false, nil
	}
	return g.contains(ctx, g.trunk.head, commit)
}

// branches returns the branches in flight that no worktree holds, the newest first.
func (g *survey) branches(ctx context.Context, tips []git.Tip, held map[string]bool) ([]*side, error) {
	stacked := g.stacked(ctx)
	oldest := g.o.Now().Add(-maxAge)
	var found []*side
	for _, t := range tips {
		name := t.Branch()
		named := slices.Contains(g.request.Branches, name)
		if name == "" || name == g.trunk.name || held[name] || !named && t.At.Before(oldest) && !stacked(name) {
			continue
		}
		found = append(found, &side{name: name, commit: t.Commit, head: t.Commit, at: t.At, named: named, made: true})
	}
	if err := g.learnMerged(ctx, found); err != nil {
		return nil, err
	}
	var inFlight []*side
	for _, s := range found {
		merged, err := g.merged(ctx, s.head)
		if err != nil {
			return nil, err
		}
		if !merged || s.named {
			inFlight = append(inFlight, s)
		}
	}
	slices.SortStableFunc(inFlight, func(a, b *side) int {
		if a.named != b.named {
			if a.named {
				return -1
			}
			return 1
		}
		return b.at.Compare(a.at)
	})
	return inFlight, nil
}

// stacked returns a function that reports whether a branch has a parent in a stack.
func (g *survey) stacked(ctx context.Context) func(string) bool {
	state, err := g.o.Branches.State(ctx)
	if err != nil {
		return func(string) bool { return false } // no stacks are known
	}
	return func(name string) bool {
		_, ok := state.Parent(name)
		return ok
	}
}

// pair is two sides that are compared.
type pair collision.Pair[*side]

// pairs returns what the request selects: each side with the trunk, then with the others.
func (g *survey) pairs() []pair {
	wanted := func(a, b *side) bool {
		switch {
		case a.head == "" || b.head == "":
			return false
		case g.request.Current:
			return a.current || b.current
		case len(g.request.Branches) > 0:
			return slices.Contains(g.request.Branches, a.name) || slices.Contains(g.request.Branches, b.name)
		}
		return true
	}
	var pairs []pair
	for _, s := range g.sides {
		if wanted(s, g.trunk) {
			pairs = append(pairs, pair{s, g.trunk})
		}
	}
	for i, a := range g.sides {
		for _, b := range g.sides[i+1:] {
			if wanted(a, b) {
				pairs = append(pairs, pair{a, b})
			}
		}
	}
	return pairs
}
