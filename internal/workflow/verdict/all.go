package verdict

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/session"
)

// Selection says which stacks of a repository are looked at.
type Selection struct {
	// Branch is one whose stack comes first; "" is the branch that is worked on.
	Branch string
	// From is how many stacks are passed over.
	From int
	// Limit is how many branches are looked at, but always a whole stack of up to
	// [MaxBranches]; 0 is [MaxBranches].
	Limit int
}

// Overview is the stacks of a repository.
type Overview struct {
	// Stacks begin with the selected one. Those with a worktree come next, then the others by
	// the name of their lowest branch.
	Stacks []Status
	// Loose are branches that are stacked on nothing.
	Loose []Branch
	// Total counts the stacks, and Branches the branches, of the repository, without trunks.
	Total, Branches int
	// Next is where the stacks after these begin, 0 if there are none.
	Next int
	// GitHub is how GitHub answered about all of them.
	GitHub GitHub
	Notes  []string
}

// group is a stack before it is looked at.
type group struct {
	shape
	first  bool // it is the selected one
	held   bool // a worktree has one of its branches
	bottom string
}

// All returns the verdicts on the stacks of the repository.
func (v *Verdicts) All(ctx context.Context, q Selection, asking Asking) (Overview, error) {
	return session.Read(ctx, v.o.Branches.Session(), func(ctx context.Context, view *session.View) (Overview, error) {
		return v.all(ctx, view, q, asking)
	})
}

func (v *Verdicts) all(ctx context.Context, view *session.View, q Selection, asking Asking) (Overview, error) {
	repo, err := view.Repo(ctx)
	if err != nil {
		return Overview{}, err
	}
	groups, err := v.groups(ctx, view, q.Branch)
	if err != nil {
		return Overview{}, err
	}
	out := Overview{Total: len(groups)}
	for _, g := range groups {
		out.Branches += len(g.branches) + g.left
	}
	shown := groups[min(q.From, len(groups)):]
	count := 0
	for i, g := range shown {
		if count += len(g.branches); count > cmp.Or(q.Limit, MaxBranches) && i > 0 {
			shown = shown[:i]
			out.Next = q.From + i
			break
		}
	}
	// Branches with the same trunk are compared with one run of git.
	byTrunk := map[string]*shape{}
	var trunks []string
	for _, g := range shown {
		all := byTrunk[g.trunk]
		if all == nil {
			all = &shape{trunk: g.trunk}
			byTrunk[g.trunk] = all
			trunks = append(trunks, g.trunk)
		}
		all.branches = append(all.branches, g.branches...)
	}
	current := view.Current(ctx)
	var notes notes
	for _, trunk := range trunks {
		all := byTrunk[trunk]
		for i := range all.branches {
			all.branches[i].Current = all.branches[i].Branch == current
		}
		t, err := readTips(ctx, repo, *all)
		if err != nil {
			return Overview{}, session.Explain(err)
		}
		var g errgroup.Group
		g.Go(func() error { return v.compare(ctx, repo, *all, t) })
		g.Go(func() error { return v.hold(ctx, repo, *all) })
		g.Go(func() error {
			v.link(ctx, *all, asking, &notes)
			return nil
		})
		pulls := make([]fact.Fact[github.Status], len(all.branches))
		g.Go(func() error {
			copy(pulls, v.ask(ctx, *all, t, asking))
			return nil
		})
		if err := g.Wait(); err != nil {
			return Overview{}, session.Explain(err)
		}
		out.GitHub = worse(out.GitHub, v.take(all.branches, pulls, trunk, &notes))
	}
	for _, g := range shown {
		all := byTrunk[g.trunk]
		own := all.branches[:len(g.branches):len(g.branches)]
		all.branches = all.branches[len(g.branches):]
		if len(own) == 1 && own[0].Parent == "" {
			out.Loose = append(out.Loose, own[0])
			continue
		}
		s := Status{Trunk: g.trunk, Branches: own, GitHub: out.GitHub}
		s.conclude()
		out.Stacks = append(out.Stacks, s)
	}
	notes.add(v.o.Branches.Note(ctx))
	out.Notes = notes.list
	return out, nil
}

// worse returns what holds for two sets of branches together.
func worse(a, b GitHub) GitHub {
	rank := map[string]int{"": -1, string(fact.StateKnown): 0, PullUnknown: 1, PullFailed: 2}
	if rank[b.State] > rank[a.State] {
		a, b = b, a
	}
	if !b.AsOf.IsZero() && (a.AsOf.IsZero() || b.AsOf.Before(a.AsOf)) {
		a.AsOf, a.Age = b.AsOf, b.Age
	}
	return a
}

// groups returns all stacks, without facts, in the order of an overview.
func (v *Verdicts) groups(ctx context.Context, view *session.View, selected string) ([]group, error) {
	state, err := v.o.Branches.State(ctx)
	if errors.Is(err, twig.ErrNoState) {
		state, err = &twig.State{}, nil
	}
	if err != nil {
		return nil, err
	}
	standard, err := view.Default(ctx)
	if err != nil {
		return nil, err
	}
	names, err := view.Branches(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := view.Repo(ctx)
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	list, err := repo.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		held[c.Branch] = true
		if c.Operation != nil {
			held[c.Operation.Branch] = true
		}
	}
	if selected == "" {
		selected = view.Current(ctx)
	}
	w := walker{state, edgesOf(state), standard}
	all := slices.Clone(names)
	for child := range w.first {
		if _, ok := slices.BinarySearch(names, child); !ok {
			all = append(all, child) // it is recorded, and gone
		}
	}
	bottoms := map[string]string{} // by branch
	grouped := map[string]*group{}
	for _, name := range all {
		if w.root(name) {
			continue
		}
		bottom := w.bottom(name, bottoms)
		g := grouped[bottom]
		if g == nil {
			g = &group{bottom: bottom}
			grouped[bottom] = g
		}
		g.first = g.first || name == selected
		g.held = g.held || held[name]
	}
	groups := make([]group, 0, len(grouped))
	for _, g := range grouped {
		trunk, chain := w.down(g.bottom)
		stacked := w.up(g.bottom, trunk, chain)
		g.trunk = cmp.Or(trunk, standard)
		if len(stacked) > MaxBranches {
			g.left = len(stacked) - MaxBranches
			stacked = stacked[:MaxBranches]
		}
		for _, name := range stacked {
			b := w.branch(name)
			_, exists := slices.BinarySearch(names, name)
			b.Missing = !exists
			g.branches = append(g.branches, b)
		}
		groups = append(groups, *g)
	}
	rank := func(g group) int {
		switch {
		case g.first:
			return 0
		case g.held:
			return 1
		case len(g.branches) > 1 || g.branches[0].Parent != "":
			return 2
		}
		return 3
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.bottom, b.bottom)) })
	return groups, nil
}

// bottom returns the lowest branch of the stack of a branch. It remembers what it finds.
func (w walker) bottom(name string, known map[string]string) string {
	var path []string
	at := name
	met := map[string]bool{}
	for known[at] == "" && !met[at] {
		met[at] = true
		path = append(path, at)
		edge, ok := w.first[at]
		if !ok || w.root(edge.Parent) {
			known[at] = at
			break
		}
		at = edge.Parent
	}
	found := known[at]
	if found == "" { // the edges form a cycle
		found = slices.Min(path)
	}
	for _, one := range path {
		known[one] = found
	}
	return found
}

// Of returns how a branch of a stack stands by itself, in one sentence where it is not ready.
func (s Status) Of(b Branch) (Outcome, string) {
	found := b.judge(s.Trunk)
	return found.outcome, found.text.Plain()
}

// Blocking returns the branch that the verdict is about, "" for none.
func (s Status) Blocking() string {
	found, about := judge(s.Branches, s.Trunk)
	if about == nil || found.outcome == Ready {
		return ""
	}
	return about.Branch
}

// Path returns where the worktree is.
func (w Worktree) Path() string { return w.path }
