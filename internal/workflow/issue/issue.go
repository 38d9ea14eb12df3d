// Package issue implements every surface's operations on Jira issues: reading one, and listing a
// project's.
//
// Use [New]. Results are complete; a surface cuts them to its size. Errors are [failure.Error]s, or
// a [*jira.InvalidError] for an argument. Checks happen in this order: key, credentials, network.
package issue

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/session/service"
)

// Clients finds the client.
type Clients interface {
	Jira(ctx context.Context) (*jira.Client, error)
}

// Links knows the issue of the branch that is checked out.
type Links interface {
	LinkedIssue(ctx context.Context) (string, error)
}

// Issues reads the issues of one Jira.
type Issues struct {
	links   Links
	clients Clients
}

// New returns the issues.
func New(links Links, clients Clients) *Issues { return &Issues{links: links, clients: clients} }

// Get returns an issue, that of the current branch if key is "".
func (i *Issues) Get(ctx context.Context, key string) (jira.Issue, error) {
	key, err := i.key(ctx, key)
	if err != nil {
		return jira.Issue{}, err
	}
	client, err := i.clients.Jira(ctx)
	if err != nil {
		return jira.Issue{}, err
	}
	issue, err := client.Issue(ctx, key)
	return issue, service.Explain(err)
}

// key returns the given key, else that of the branch, in the form that Jira has.
func (i *Issues) key(ctx context.Context, given string) (string, error) {
	if given != "" {
		return jira.ParseKey(given)
	}
	linked, err := i.links.LinkedIssue(ctx)
	if err != nil {
		return "", err
	}
	key, err := jira.ParseKey(linked)
	if err != nil {
		return "", failure.New(failure.Invalid,
			fmt.Sprintf("The current branch is linked to %q, which is not a Jira issue key", cleantext.Line(linked)),
			"Provide an explicit issue_key parameter.")
	}
	return key, nil
}

// Search returns up to limit issues of a project, from a place in the list on.
func (i *Issues) Search(ctx context.Context, q jira.Query, limit int, cursor string) (jira.Page, error) {
	client, err := i.clients.Jira(ctx)
	if err != nil {
		return jira.Page{}, err
	}
	page, err := client.Search(ctx, q, limit, cursor)
	return page, service.Explain(err)
}

// Seen returns the issues that Jira answered with before, the latest answer first. It uses
// no network.
func (i *Issues) Seen(ctx context.Context) ([]seen.Entry, error) {
	client, err := i.clients.Jira(ctx)
	if err != nil {
		return nil, err
	}
	return client.Seen(), nil
}

// Linked returns an issue for views that combine several sources. A failure is a fact, too.
func (i *Issues) Linked(ctx context.Context, key string, w failure.Words) fact.Fact[jira.Issue] {
	issue, err := i.Get(ctx, key)
	if err == nil {
		// Such views have no place for them.
		issue.Links, issue.Comments, issue.TotalComments, issue.Notes = nil, nil, 0, nil
		return fact.Known(issue, "Jira", issue.AsOf)
	}
	if errors.Is(err, remote.ErrNotCached) {
		return fact.Unavailable[jira.Issue](fact.NotFetched, "")
	}
	e := failure.Of(err)
	if bad, ok := errors.AsType[*jira.InvalidError](err); ok {
		e = failure.New(failure.Invalid, fmt.Sprintf("Argument %q %s", bad.Argument, bad.Message), "")
	}
	return fact.Unavailable[jira.Issue](e.Message(w), e.Hint(w))
}
