package context

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/toolset/branches"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/wiring"
)

// view is what the command shows. What could not be learned is a fact that says
// why.
type view struct {
	Root        string                    `json:"root"`
	Branch      string                    `json:"branch,omitempty"`
	Commit      string                    `json:"commit,omitempty"`
	Detached    bool                      `json:"detached,omitempty"`
	Origin      string                    `json:"origin,omitempty"`
	Status      fact.Fact[git.Status]     `json:"status"`
	Stack       fact.Fact[[]branch.Entry] `json:"stack"`
	StackNote   string                    `json:"stack_showing,omitempty"` // set where the stack was cut
	Commits     []git.Commit              `json:"commits"`
	Branches    []string                  `json:"branches"`
	Worktrees   []git.Worktree            `json:"worktrees,omitempty"`
	Jira        fact.Fact[jira.Issue]     `json:"jira"`
	PullRequest fact.Fact[github.Status]  `json:"pull_request"`
}

// maxCommits is how many of the last commits are shown.
const maxCommits = 3

// look asks all sources, the slow ones at the same time.
func look(ctx context.Context, s *wiring.Sources) (view, error) {
	repo, err := s.Here.Repo(ctx)
	if err != nil {
		return view{}, err
	}
	head, err := s.Here.Head(ctx)
	if err != nil {
		return view{}, err
	}
	v := view{Root: repo.Root(), Branch: head.Branch, Commit: head.Commit, Detached: head.Detached}
	if v.Root == "" {
		v.Root = repo.GitDir()
	}
	if v.Branches, err = s.Here.Branches(ctx); err != nil {
		return view{}, err
	}
	if origin, err := s.Here.GitHubRepository(ctx); err == nil {
		v.Origin = origin.Host + "/" + origin.String()
	}
	var asking sync.WaitGroup
	asking.Go(func() { v.Status = status(ctx, repo) })
	asking.Go(func() {
		// Like the worktrees, these are left out where git cannot tell.
		if commits, err := repo.Log(ctx, maxCommits); err == nil {
			v.Commits = commits
		}
	})
	asking.Go(func() {
		// The list is a nicety; without it the rest still stands.
		if list, err := repo.Worktrees(ctx); err == nil && len(list) > 1 {
			v.Worktrees = list
		}
	})
	v.Stack, v.StackNote = stack(ctx, s)
	if linked, ok := v.Stack.Get(); ok {
		asking.Go(func() { v.Jira = ask(ctx, linked[0].JiraIssue, s.Jira.Linked) })
		asking.Go(func() { v.PullRequest = ask(ctx, linked[0].PRNumber, s.GitHub.Linked) })
	}
	asking.Wait()
	// An interrupted look is no view: what is missing would seem unknown.
	return v, context.Cause(ctx)
}

func status(ctx context.Context, repo *git.Repo) fact.Fact[git.Status] {
	st, err := repo.Status(ctx)
	switch {
	case errors.Is(err, git.ErrBare):
		return fact.Fact[git.Status]{State: fact.StateNone, Source: "git"}
	case err != nil:
		return fact.Unavailable[git.Status](err.Error(), "")
	}
	return fact.Fact[git.Status]{State: fact.StateKnown, Value: st, Source: "git"}
}

// stack is the stack, and what was cut from it.
func stack(ctx context.Context, s *wiring.Sources) (found fact.Fact[[]branch.Entry], note string) {
	out, err := s.Branches.GetBranchStack(ctx, branches.StackIn{})
	switch {
	case errors.Is(err, twig.ErrNoState):
		return fact.Fact[[]branch.Entry]{State: fact.StateNone, Source: twig.Name}, ""
	case err != nil:
		e := envelope.Of(err)
		return fact.Unavailable[[]branch.Entry](e.Message, e.Hint), ""
	}
	return fact.Fact[[]branch.Entry]{State: fact.StateKnown, Value: slices.Clone(out.Stack), Source: twig.Name}, out.Showing
}

// ask asks for what is linked, if something is.
func ask[K comparable, V any](ctx context.Context, key K, service func(context.Context, K) fact.Fact[V]) fact.Fact[V] {
	var none K
	if key == none {
		return fact.Fact[V]{State: fact.StateNone, Source: twig.Name}
	}
	return service(ctx, key)
}
