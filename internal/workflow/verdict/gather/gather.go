package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// Stack returns the verdict on the stack of a branch, of the current one if start is "".
func (v *Verdicts) Stack(ctx context.Context, start string, asking Asking) (verdict.Status, error) {
	return session.Read(ctx, v.o.Branches.Session(), func(ctx context.Context, view *session.View) (verdict.Status, error) {
		out, changed, err := v.stack(ctx, view, start, asking)
		if changed && err == nil {
			// GitHub has stacks other than before; its answers are recent.
			out, _, err = v.stack(ctx, view, start, Recent)
		}
		return out, err
	})
}

// stack returns the verdict, and whether its records have changed.
func (v *Verdicts) stack(ctx context.Context, view *session.View, start string, asking Asking) (out verdict.Status, changed bool, err error) {
	repo, err := view.Repo(ctx)
	if err != nil {
		return verdict.Status{}, false, err
	}
	s, err := v.shape(ctx, view, start)
	if err != nil {
		return verdict.Status{}, false, err
	}
	current := view.Current(ctx)
	s.mark(current)
	t, err := relation.Read(ctx, repo, s.trunk, s.branches)
	if err != nil {
		return verdict.Status{}, false, session.Explain(err)
	}
	var notes notes
	var g errgroup.Group
	g.Go(func() error { return v.known.Compare(ctx, repo, t, s.searches) })
	g.Go(func() error { return v.hold(ctx, repo, s) })
	g.Go(func() error {
		v.link(ctx, repo, s, asking, &notes)
		return nil
	})
	var lag string
	g.Go(func() (err error) {
		lag, err = v.lag(ctx, repo, s.trunk)
		return err
	})
	pulls := make([]fact.Fact[pullrequest.Status], len(s.branches))
	g.Go(func() error {
		pulls, changed = v.ask(ctx, repo, s, t, asking)
		return nil
	})
	out = verdict.Status{Trunk: s.trunk, Branches: s.branches}
	names, named := s.names(t), cmp.Or(start, current)
	g.Go(func() error {
		out.Conflicts, out.ConflictsUnknown = v.conflicts(ctx, names, named)
		return nil
	})
	if err := g.Wait(); err != nil {
		return verdict.Status{}, false, session.Explain(err)
	}
	if out.Branches == nil {
		out.Branches = []verdict.Branch{} // null is not a list
	}
	out.GitHub = v.take(s.branches, pulls, s.trunk, &notes)
	notes.add(v.o.Branches.TwoStates(ctx))
	notes.add(lag)
	for _, note := range s.notes {
		notes.add(note)
	}
	out.Notes = notes.list
	for i := range out.Branches {
		b := &out.Branches[i]
		b.TrunkConflict = conflictOf(out.Conflicts, b.Branch, s.trunk)
	}
	out.Conclude()
	if out.Total = len(s.branches) + s.left; s.left > 0 {
		out.Showing = fmt.Sprintf("%d of %d branches; for others pass one of them as branch", len(s.branches), out.Total)
	}
	return out, changed, nil
}

// radarWait is how long a verdict waits for conflicts that are not known: enough for the worktrees of
// a large repository.
const radarWait = 2 * time.Second

// conflicts returns the conflicts of branches, and what is not compared. That of the lowest branch with
// the trunk comes first, then those of the named branch, which may inherit them,
// then others.
func (v *Verdicts) conflicts(ctx context.Context, branches []string, named string) (list []verdict.Conflict, left string) {
	if v.o.Radar == nil || len(branches) == 0 {
		return nil, ""
	}
	found, left := v.o.Radar.Soon(ctx, conflicts.Request{Branches: branches}, radarWait)
	rank := func(c collision.Conflict) int {
		_, own := c.With(named)
		switch {
		case c.Branches[1] == found.Trunk && c.Branches[0] == branches[0]:
			return 0
		case slices.Contains(c.Branches, named):
			return 1
		case own:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(found.Conflicts, func(a, b collision.Conflict) int { return cmp.Compare(rank(a), rank(b)) })
	for _, c := range found.Conflicts {
		c = c.Brief()
		one := verdict.Conflict{Branches: [2]string(c.Branches), Files: c.Files, MoreFiles: c.MoreFiles}
		for name, above := range c.Above {
			if one.Above == nil {
				one.Above = make(map[string]int)
			}
			one.Above[name] = len(above)
		}
		list = append(list, one)
	}
	return list, left
}

// names returns the branches of a stack that have a commit.
func (s shape) names(t relation.Tips) []string {
	var names []string
	for i := range s.branches {
		if name := s.branches[i].Branch; t.Commit(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// conflictOf returns the conflict of a branch with the trunk, or with its remote branch; nil for none.
func conflictOf(all []verdict.Conflict, branch, trunk string) *verdict.Conflict {
	for i, c := range all {
		for n, name := range c.Branches {
			if other := c.Branches[1-n]; name == branch && (other == trunk || other == "origin/"+trunk) {
				return &all[i]
			}
		}
	}
	return nil
}

// notes are further notes for a reader, each once.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if text != "" && !slices.Contains(n.list, text) {
		n.list = append(n.list, text)
	}
}

// link fills in the work items and issues of each branch.
func (v *Verdicts) link(ctx context.Context, repo *git.Repo, s shape, asking Asking, notes *notes) {
	asked := ctx
	if asking != Fresh {
		asked = remote.WithCachedOnly(ctx)
	}
	var wait sync.WaitGroup
	for i := range s.branches {
		issue := s.branches[i].Jira
		if issue == nil || v.o.Services.Issue == nil {
			continue
		}
		wait.Go(func() {
			if found, ok := v.o.Services.Issue(asked, issue.Key).Get(); ok {
				issue.Status = found.Status
			}
		})
	}
	if err := v.items(ctx, repo, s); err != nil {
		notes.add("the work items could not be read: " + err.Error())
	}
	wait.Wait()
}

// items fills in the work items that are linked to branches.
func (v *Verdicts) items(ctx context.Context, repo *git.Repo, s shape) error {
	if v.o.Items == nil {
		return nil
	}
	links, err := v.o.Items.Links(ctx)
	if err != nil || len(links) == 0 {
		if errors.Is(err, storage.ErrNoProject) {
			return nil
		}
		return err
	}
	all, err := v.o.Items.Snapshot(ctx)
	if err != nil {
		return err
	}
	at := make(map[string]*verdict.Branch, len(s.branches))
	for i := range s.branches {
		at[s.branches[i].Branch] = &s.branches[i]
	}
	for _, id := range slices.Sorted(maps.Keys(links)) {
		b := at[links[id].Branch]
		if b == nil {
			continue
		}
		if it, err := all.Find(id); err == nil {
			b.Items = append(b.Items, verdict.Item{ID: id, Status: it.Status})
			if held, ok := all.Claim(id); ok && held.Holder.Worktree != "" && filepath.Clean(held.Holder.Worktree) != repo.Root() {
				b.Claimed = true
			}
		}
	}
	return nil
}

// take stores the pull requests in the branches, and returns GitHub's state.
func (v *Verdicts) take(branches []verdict.Branch, pulls []fact.Fact[pullrequest.Status], trunk string, notes *notes) verdict.GitHub {
	all := verdict.GitHub{State: string(fact.StateKnown)}
	for i, f := range pulls {
		pr := verdict.PullRequest{State: verdict.PullNone, Reason: f.Reason, AsOf: f.AsOf.UTC().Truncate(time.Second)}
		switch f.State {
		case fact.StateKnown:
			found := pullOf(f.Value, branches[i], trunk)
			found.Reason, found.AsOf = pr.Reason, pr.AsOf
			found.Found = &pulls[i].Value
			pr = found
			for _, note := range f.Value.Notes {
				notes.add(note)
			}
		case fact.StateNone:
		default:
			pr.State, pr.Number = verdict.PullFailed, branches[i].PullRequest.Number
			switch {
			case f.Absent && pr.Number == 0: // with a number, there is a repository somewhere
				pr.State = verdict.PullAbsent
			case f.Unasked:
				pr.State = verdict.PullUnknown
			}
			if rank(pr.State) > rank(all.State) {
				all.State = pr.State
			}
		}
		if f.Reason != "" && all.Reason == "" {
			all.Reason, all.Hint = f.Reason, f.Hint
		}
		if !f.AsOf.IsZero() && (all.AsOf.IsZero() || pr.AsOf.Before(all.AsOf)) {
			all.AsOf = pr.AsOf
		}
		branches[i].PullRequest = pr
	}
	all.Age = fact.Age(all.AsOf, v.o.Now())
	// A reason that applies to all is stated once.
	for i := range branches {
		pr := &branches[i].PullRequest
		if pr.AsOf.Equal(all.AsOf) {
			pr.AsOf = time.Time{}
		}
		if pr.Reason == all.Reason {
			pr.Reason = ""
		}
	}
	return all
}

// pullOf returns the relevant facts of a pull request.
func pullOf(s pullrequest.Status, b verdict.Branch, trunk string) verdict.PullRequest {
	pr := s.PullRequest
	out := verdict.PullRequest{
		Number: pr.Number, State: pr.State, Draft: pr.Draft, MergeQueue: pr.MergeQueue, Blockers: s.Summary.Blockers,
		Waits: pr.MergeState == "blocked" || pr.MergeState == "behind",
	}
	if pr.Merged {
		out.State = verdict.PullMerged
	}
	parent := b.Parent
	if parent == "" {
		parent = trunk
	}
	if pr.Base != parent {
		out.Base = pr.Base
	}
	if out.State != string(pullrequest.Open) {
		return out
	}
	out.ReviewDecision, out.Checks, out.Mergeable = s.Summary.ReviewDecision, s.Summary.Checks, pr.Mergeable
	if pr.AutoMerge != nil {
		out.AutoMerge = pr.AutoMerge.Method
	}
	if s.UnresolvedThreads != nil {
		out.UnresolvedThreads = new(len(s.UnresolvedThreads))
	}
	out.Failing = s.Summary.Failing
	return out
}
