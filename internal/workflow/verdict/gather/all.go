package gather

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch/lineage"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// Selection selects stacks of a repository.
type Selection struct {
	// Branch is the branch whose stack comes first; "" is the current branch.
	Branch string
	// From is the number of skipped stacks.
	From int
	// Limit is the number of examined branches, but always a complete stack of up to [MaxBranches];
	// 0 is [MaxBranches].
	Limit int
}

// Overview contains the stacks of a repository.
type Overview struct {
	// Stacks begin with the selected one. Those with a worktree come next, then the others by
	// the name of their lowest branch.
	Stacks []verdict.Status
	// Trunks are the trunks of these stacks, by name.
	Trunks map[string]Trunk
	// Loose are branches that are stacked on nothing.
	Loose []verdict.Branch
	// Total counts the stacks, and Branches the branches, of the repository, without trunks.
	Total, Branches int
	// Next is where the stacks after these begin, 0 if there are none.
	Next int
	// GitHub describes GitHub's answer about all of them.
	GitHub verdict.GitHub
	Notes  []string
}

// group is a stack before it is examined.
type group struct {
	bottom   string
	members  int
	selected bool
	held     bool // a worktree has one of its branches
	stacked  bool
}

// grouping is all stacks of a repository.
type grouping struct {
	*lineage.Walker
	groups []group
	above  map[string][]string // the branches that are stacked on each
	notes  []string
}

// All returns the verdicts on the stacks of the repository.
func (v *Verdicts) All(ctx context.Context, q Selection, asking Asking) (Overview, error) {
	return session.Read(ctx, v.o.Branches.Session(), func(ctx context.Context, view *session.View) (Overview, error) {
		out, changed, err := v.all(ctx, view, q, asking)
		if changed && err == nil {
			out, _, err = v.all(ctx, view, q, Recent)
		}
		return out, err
	})
}

// maxNotes is the maximum number of notes of an overview.
const maxNotes = 3

// all returns the overview, and whether the records that it is based on have changed.
func (v *Verdicts) all(ctx context.Context, view *session.View, q Selection, asking Asking) (out Overview, changed bool, err error) {
	repo, err := view.Repo(ctx)
	if err != nil {
		return Overview{}, false, err
	}
	all, err := v.group(ctx, view, q.Branch)
	if err != nil {
		return Overview{}, false, err
	}
	out.Total = len(all.groups)
	for _, g := range all.groups {
		out.Branches += g.members
	}
	var shown []shape
	count := 0
	for i := q.From; i < len(all.groups); i++ {
		if count += min(all.groups[i].members, MaxBranches); count > cmp.Or(q.Limit, MaxBranches) && i > q.From {
			out.Next = i
			break
		}
		shown = append(shown, all.shape(all.groups[i]))
	}
	byTrunk, trunks := joinByTrunk(shown)
	current := view.Current(ctx)
	var notes notes
	out.Trunks = make(map[string]Trunk, len(trunks))
	for _, trunk := range trunks {
		same := byTrunk[trunk]
		same.mark(current)
		var g errgroup.Group
		var below Trunk
		if trunk != "" {
			g.Go(func() (err error) {
				below, err = v.trunk(ctx, repo, trunk, current)
				return err
			})
		}
		found, asked, err := v.look(ctx, repo, *same, asking, &notes)
		if err = cmp.Or(err, g.Wait()); err != nil {
			return Overview{}, false, session.Explain(err)
		}
		if trunk != "" {
			out.Trunks[trunk] = below
		}
		changed = changed || asked
		out.GitHub = worse(out.GitHub, found)
	}
	for _, g := range shown {
		rest := byTrunk[g.trunk]
		own := rest.branches[:len(g.branches):len(g.branches)]
		rest.branches = rest.branches[len(g.branches):]
		if len(own) == 1 && own[0].Parent == "" {
			out.Loose = append(out.Loose, own[0])
			continue
		}
		s := verdict.Status{Trunk: g.trunk, Branches: own, GitHub: out.GitHub}
		s.Conclude()
		out.Stacks = append(out.Stacks, s)
	}
	notes.add(v.o.Branches.TwoStates(ctx))
	for _, note := range all.notes {
		notes.add(note)
	}
	out.Notes = notes.list[:min(len(notes.list), maxNotes)]
	return out, changed, nil
}

// joinByTrunk joins the branches that have the same trunk, which are compared with one run of git. It
// also returns the trunks in their order.
func joinByTrunk(shown []shape) (byTrunk map[string]*shape, trunks []string) {
	byTrunk = map[string]*shape{}
	for _, g := range shown {
		same := byTrunk[g.trunk]
		if same == nil {
			same = &shape{trunk: g.trunk, searches: searchesOfAll}
			byTrunk[g.trunk] = same
			trunks = append(trunks, g.trunk)
		}
		same.branches = append(same.branches, g.branches...)
	}
	return byTrunk, trunks
}

// look fills in the facts of branches with the same trunk, and returns GitHub's answer.
func (v *Verdicts) look(ctx context.Context, repo *git.Repo, s shape, asking Asking, notes *notes) (found verdict.GitHub, changed bool, err error) {
	t, err := relation.Read(ctx, repo, s.trunk, s.branches)
	if err != nil {
		return verdict.GitHub{}, false, err
	}
	var g errgroup.Group
	g.Go(func() error { return v.known.Compare(ctx, repo, t, s.searches) })
	g.Go(func() error { return v.hold(ctx, repo, s) })
	g.Go(func() error {
		v.link(ctx, repo, s, asking, notes)
		return nil
	})
	var pulls []fact.Fact[pullrequest.Status]
	g.Go(func() error {
		pulls, changed = v.ask(ctx, repo, s, t, asking)
		return nil
	})
	if err := g.Wait(); err != nil {
		return verdict.GitHub{}, false, err
	}
	return v.take(s.branches, pulls, s.trunk, notes), changed, nil
}

// worse returns the state of two sets of branches together.
func worse(a, b verdict.GitHub) verdict.GitHub {
	if rank(b.State) > rank(a.State) {
		a, b = b, a
	}
	if !b.AsOf.IsZero() && (a.AsOf.IsZero() || b.AsOf.Before(a.AsOf)) {
		a.AsOf, a.Age = b.AsOf, b.Age
	}
	return a
}

// rank orders the states of GitHub's answers, the worst last.
func rank(state string) int {
	return slices.Index([]string{"", string(fact.StateKnown), verdict.PullAbsent, verdict.PullUnknown, verdict.PullFailed}, state)
}

// group returns all stacks, without their branches, in the order of an overview.
func (v *Verdicts) group(ctx context.Context, view *session.View, selected string) (grouping, error) {
	state, notes, err := v.o.Branches.WithInferred(ctx)
	if err != nil {
		return grouping{}, err
	}
	standard, err := view.Default(ctx)
	if err != nil {
		return grouping{}, err
	}
	names, err := view.Branches(ctx)
	if err != nil {
		return grouping{}, err
	}
	held, err := checkedOut(ctx, view)
	if err != nil {
		return grouping{}, err
	}
	current := view.Current(ctx)
	has := func(name string) bool {
		_, ok := slices.BinarySearch(names, name)
		return ok || name == current && name != ""
	}
	out := grouping{notes: notes, Walker: lineage.New(state, standard, has)}
	out.above = out.Children()
	bottoms := map[string]string{} // by branch
	grouped := map[string]*group{}
	for _, name := range names {
		if out.Root(name) {
			continue
		}
		bottom := out.Bottom(name, bottoms)
		g := grouped[bottom]
		if g == nil {
			below, _ := out.Parent(bottom)
			g = &group{bottom: bottom, stacked: below != ""}
			grouped[bottom] = g
		}
		g.members++
		g.selected = g.selected || name == cmp.Or(selected, current)
		g.held = g.held || held[name]
		g.stacked = g.stacked || g.members > 1
	}
	for _, g := range grouped {
		out.groups = append(out.groups, *g)
	}
	rank := func(g group) int {
		switch {
		case g.selected:
			return 0
		case g.held:
			return 1
		case g.stacked:
			return 2
		}
		return 3
	}
	slices.SortFunc(out.groups, func(a, b group) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.bottom, b.bottom)) })
	return out, nil
}

// checkedOut returns the branches that a worktree has.
func checkedOut(ctx context.Context, view *session.View) (map[string]bool, error) {
	repo, err := view.Repo(ctx)
	if err != nil {
		return nil, err
	}
	list, err := repo.Checkouts(ctx)
	if err != nil {
		return nil, session.Explain(err)
	}
	held := make(map[string]bool, len(list))
	for _, c := range list {
		held[c.Branch] = true
		if c.Operation != nil {
			held[c.Operation.Branch] = true
		}
	}
	return held, nil
}

// shape returns the branches of a stack.
func (all grouping) shape(g group) shape { return shapeOf(all.Walker, g.bottom, all.above) }
