package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/copse-dev/copse/internal/github/graphql"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// PullRequest reads pull request n, with GraphQL if possible, or else with REST, which does not
// know the merge queue.
func (c *Client) PullRequest(ctx context.Context, r remoteurl.Repo, n int) (pullrequest.PullRequest, error) {
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	pr, err := c.pullRequest(ctx, r, n)
	if err == nil {
		c.note(ctx, r, pr)
	}
	return pr, err
}

func (c *Client) pullRequest(ctx context.Context, r remoteurl.Repo, n int) (pullrequest.PullRequest, error) {
	a, err := c.ask(ctx, r, n, graphql.Variables{Core: true})
	if err == nil && a.Pull().Number != n {
		err = &unavailableError{rest.Malformed("pull request " + strconv.Itoa(n))}
	}
	if err == nil {
		return a.Pull().Model(a.AsOf), nil
	}
	u := (*unavailableError)(nil)
	if !errors.As(err, &u) {
		return pullrequest.PullRequest{}, err
	}
	pr, err := c.rest.PullRequest(ctx, r, n)
	if err == nil {
		pr.Notes = append(pr.Notes, noteWithoutGraphQL(u, "the merge queue is"))
	}
	return pr, err
}

// PullRequests lists up to limit pull requests (1 to 100), newest first, from a cursor on. While
// others open and close pull requests between the calls, none that stays in the list appears twice
// or is missing. One call usually takes one request.
func (c *Client) PullRequests(ctx context.Context, r remoteurl.Repo, state pullrequest.State, from rest.Cursor, limit int) (rest.Page, error) {
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	page, err := c.rest.PullRequests(ctx, r, state, from, limit)
	if err == nil {
		c.note(ctx, r, page.PullRequests...)
	}
	if e := (*remote.Error)(nil); errors.As(err, &e) && e.Kind == remote.NotFound {
		e.Detail = fmt.Sprintf("there is no repository %s", r)
	}
	return page, err
}
