package github

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// Status reads pull request n with its reviews, its checks, and its unresolved review threads: in
// one request with GraphQL, with more for lists longer than a hundred, or else with REST, which
// does not know the threads. Of a list longer than a thousand it reads a part, and reports that in
// Notes. Checks that the credentials cannot access are a note, too, not an error.
func (c *Client) Status(ctx context.Context, r remoteurl.Repo, n int) (pullrequest.Status, error) {
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	f, err := c.askStatus(ctx, r, n)
	if u := (*unavailableError)(nil); errors.As(err, &u) {
		if f, err = c.readStatus(ctx, r, n); err == nil {
			f.notes = slices.Insert(f.notes, 0, noteWithoutGraphQL(u, "unresolved review threads and the merge queue are"))
		}
	}
	if err != nil {
		return pullrequest.Status{}, err
	}
	c.note(ctx, r, f.pull)
	return c.conclude(ctx, r, f), nil
}

// findings are the parts of a status.
type findings struct {
	pull     pullrequest.PullRequest
	reviews  []pullrequest.Review // oldest first
	checks   []pullrequest.Check
	complete bool // these are all checks
	// rollup is GitHub's verdict on all checks, "" if it is unknown, and total their number.
	rollup       string
	total        int
	unreadChecks int
	threads      []pullrequest.Thread
	notes        []string
	asOf         time.Time
}

func (f *findings) note(text string) {
	if text != "" {
		f.notes = append(f.notes, text)
	}
}

// evidence returns the parts that explain GitHub's verdict.
func (f *findings) evidence() pullrequest.Evidence {
	return pullrequest.Evidence{
		PullRequest: f.pull, Reviews: f.reviews, Checks: f.checks, Complete: f.complete, Rollup: f.rollup, Unread: f.unreadChecks, Threads: f.threads,
	}
}

// conclude computes the status from its parts. If GitHub blocks the merge and nothing explains it,
// it reads the rules of the base.
func (c *Client) conclude(ctx context.Context, r remoteurl.Repo, f findings) pullrequest.Status {
	slices.SortStableFunc(f.checks, pullrequest.CompareChecks)
	e := f.evidence()
	if e.Unexplained() {
		e.PullRequest.Rules = e.PullRequest.Rules.With(c.rest.Rules(ctx, r, f.pull.Base))
	}
	s := pullrequest.Status{
		PullRequest:       f.pull,
		Reviews:           pullrequest.EffectiveFirst(f.reviews),
		Checks:            append([]pullrequest.Check{}, f.checks...),
		Summary:           pullrequest.Summarize(e),
		UnresolvedThreads: f.threads,
		Notes:             append(f.pull.Notes, f.notes...),
		AsOf:              f.asOf,
	}
	return s
}

// readStatus reads the parts of a status with REST.
func (c *Client) readStatus(ctx context.Context, r remoteurl.Repo, n int) (findings, error) {
	var (
		pr             pullrequest.PullRequest
		reviews        rest.Part[pullrequest.Review]
		runs, statuses rest.Part[pullrequest.Check]
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		reviews, err = c.rest.Reviews(gctx, r, n)
		return err
	})
	g.Go(func() (err error) {
		if pr, err = c.rest.PullRequest(gctx, r, n); err != nil {
			return err
		}
		if pr.HeadSHA == "" {
			return rest.Malformed("a pull request with a head commit")
		}
		g.Go(func() (err error) {
			runs, err = c.rest.CheckRuns(gctx, r, pr.HeadSHA)
			return err
		})
		g.Go(func() (err error) {
			statuses, err = c.rest.Statuses(gctx, r, pr.HeadSHA)
			return err
		})
		return nil
	})
	if err := g.Wait(); err != nil {
		return findings{}, err
	}
	f := findings{
		pull: pr, reviews: reviews.Items, checks: slices.Concat(runs.Items, statuses.Items),
		complete: runs.Note == "" && statuses.Note == "",
		asOf:     rest.Earlier(rest.Earlier(pr.AsOf, reviews.AsOf), rest.Earlier(runs.AsOf, statuses.AsOf)),
	}
	f.note(reviews.Note)
	f.note(runs.Note)
	f.note(statuses.Note)
	return f, nil
}
