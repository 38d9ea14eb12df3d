package stack

import (
	"context"
	"fmt"
	"sync"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/session"
)

// Services read the linked issues and pull requests. A nil one is disabled.
type Services struct {
	// PullRequest reads the pull request with a number, which is that of a branch; "" if the branch
	// is unknown.
	PullRequest func(ctx context.Context, branch string, number uint32) fact.Fact[pullrequest.Status]
	Issue       func(ctx context.Context, key string) fact.Fact[jira.Issue]
}

// Context is a branch with its linked issue and pull request.
type Context struct {
	twig.Metadata
	Current     bool                          `json:"current,omitempty"`
	Missing     bool                          `json:"missing,omitempty"`
	Jira        fact.Fact[jira.Issue]         `json:"jira"`
	PullRequest fact.Fact[pullrequest.Status] `json:"pull_request"`
}

// Context queries the services, concurrently, for the links of a branch. A missing fact gives the
// reason.
func (b *Branches) Context(ctx context.Context, name string, ask Services) (Context, error) {
	stack, err := b.Stack(ctx, name)
	if err != nil {
		return Context{}, err
	}
	out := Context{Metadata: stack[0].Metadata, Missing: stack[0].Missing, Current: stack[0].Branch == b.Checked(ctx)}
	var asking sync.WaitGroup
	asking.Go(func() { out.Jira = linked(ctx, out.JiraIssue, ask.Issue, "jira") })
	asking.Go(func() {
		var pulls func(context.Context, uint32) fact.Fact[pullrequest.Status]
		if ask.PullRequest != nil {
			pulls = func(ctx context.Context, n uint32) fact.Fact[pullrequest.Status] {
				return ask.PullRequest(ctx, out.Branch, n)
			}
		}
		out.PullRequest = linked(ctx, out.PRNumber, pulls, "github")
	})
	asking.Wait()
	return out, nil
}

// linked asks for what key names, unless there is none or nobody to ask.
func linked[K comparable, V any](ctx context.Context, key K, ask func(context.Context, K) fact.Fact[V], name string) fact.Fact[V] {
	var none K
	switch {
	case key == none:
		return fact.Fact[V]{State: fact.StateNone, Source: twig.Name}
	case ask == nil:
		return fact.Unavailable[V]("the "+name+" toolset is switched off", "")
	}
	return ask(ctx, key)
}

// LinkedPullRequest returns the number of the pull request that is linked to the
// branch checked out.
func (b *Branches) LinkedPullRequest(ctx context.Context) (int, error) {
	meta, err := b.checkedOut(ctx, "pr_number")
	if err != nil {
		return 0, err
	}
	if meta.PRNumber == 0 {
		return 0, notLinked(meta.Branch, "GitHub PR", "pr_number")
	}
	return int(meta.PRNumber), nil
}

// LinkedIssue returns the key of the Jira issue that is linked to the branch checked
// out.
func (b *Branches) LinkedIssue(ctx context.Context) (string, error) {
	meta, err := b.checkedOut(ctx, "issue_key")
	if err != nil {
		return "", err
	}
	if meta.JiraIssue == "" {
		return "", notLinked(meta.Branch, "Jira issue", "issue_key")
	}
	return meta.JiraIssue, nil
}

// checkedOut returns the links of the checked-out branch. The argument is the one
// that makes it unnecessary, for messages.
func (b *Branches) checkedOut(ctx context.Context, argument string) (twig.Metadata, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (twig.Metadata, error) {
		name, err := v.Branch(ctx)
		if err != nil {
			return twig.Metadata{}, err
		}
		if name == "" {
			return twig.Metadata{}, &failure.Error{
				Kind: failure.Invalid,
				What: failure.Text(fmt.Sprintf("No %s provided and could not detect current branch", argument)),
				Do:   provide(argument),
			}
		}
		state, err := b.stateAround(ctx, v, name)
		if err != nil {
			return twig.Metadata{}, err
		}
		return state.Metadata(name), nil
	})
}

func notLinked(branch, what, argument string) error {
	return &failure.Error{
		Kind: failure.NotFound,
		What: failure.Text(fmt.Sprintf("Branch %s has no linked %s", foreign.Branch(branch), what)),
		Do:   provide(argument),
	}
}

func provide(argument string) failure.Phrase {
	return failure.Text(fmt.Sprintf("Provide an explicit %s parameter.", argument))
}
