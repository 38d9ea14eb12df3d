package projectcontext

import (
	"context"
	"errors"
	"sync"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/page"
)

// Stack is the current branch and the branches below it, down to its root.
type Stack struct {
	Branches []LinkedBranch
	// Total counts the branches of the stack; a long one is cut.
	Total int
	// Note is that of the repository if the section about the project is not requested.
	Note string
}

// LinkedBranch is a branch with what it is linked to.
type LinkedBranch struct {
	branch.Entry
	// Issue and PullRequest are nil if the branch has none or their service is disabled.
	Issue       *fact.Fact[jira.Issue]
	PullRequest *fact.Fact[pullrequest.Status]
}

func (g *gathering) stack(ctx context.Context) (Content, error) {
	name, err := g.Session.View().Branch(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, emptyError("no branch is checked out")
	}
	entries, err := g.Branches.Stack(ctx, name)
	if errors.Is(err, twig.ErrNoState) {
		return nil, emptyError("no .twig/state.json")
	}
	if err != nil {
		return nil, err
	}
	out := Stack{Total: len(entries)}
	if !g.request.has("project") {
		out.Note = g.Branches.Note(ctx)
	}
	entries = entries[:page.Fit(entries, page.Size, page.DefaultBudget)]
	out.Branches = make([]LinkedBranch, len(entries))
	var asking sync.WaitGroup
	for i, e := range entries {
		asking.Go(func() { out.Branches[i] = g.linked(ctx, e) })
	}
	asking.Wait()
	return out, nil
}

// linked asks the services what a branch is linked to.
func (g *gathering) linked(ctx context.Context, e branch.Entry) LinkedBranch {
	out := LinkedBranch{Entry: e}
	if e.JiraIssue != "" && g.Services.Issue != nil {
		out.Issue = new(g.Services.Issue(ctx, e.JiraIssue))
	}
	if e.PRNumber != 0 && g.Services.PullRequest != nil {
		out.PullRequest = new(g.Services.PullRequest(ctx, e.Branch, e.PRNumber))
	}
	return out
}
