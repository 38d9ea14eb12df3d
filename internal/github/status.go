package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/remote"
)

// Status is a pull request with its reviews and the checks of its head commit.
type Status struct {
	PullRequest PullRequest `json:"pull_request"`
	// Reviews has the effective review of each author first, the latest first, and then the others
	// in the same order. The effective review is an author's last approval, request for changes, or
	// dismissed review, and without any of these, the last review.
	Reviews []Review `json:"reviews"`
	// Checks has failing checks first, then those without a verdict, then the rest; each by name.
	Checks  []Check `json:"checks"`
	Summary Summary `json:"summary"`
	// UnresolvedThreads are the unresolved review threads, the one with the latest comment first.
	// It is nil if they are unknown.
	UnresolvedThreads []Thread `json:"unresolved_threads,omitzero"`
	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string `json:"notes,omitempty"`
	// AsOf is when GitHub confirmed this: the earliest of its parts.
	AsOf time.Time `json:"-"`
}

// Status reads pull request n with its reviews, its checks, and its unresolved review threads: in
// one request with GraphQL, with more for lists longer than a hundred, or else with REST, which
// does not know the threads. Of a list longer than a thousand it reads a part, and reports that in
// Notes. Checks that the credentials cannot access are a note, too, not an error.
func (c *Client) Status(ctx context.Context, r Repo, n int) (Status, error) {
	f, err := c.askStatus(ctx, r, n)
	if u := (*unavailableError)(nil); errors.As(err, &u) {
		if f, err = c.readStatus(ctx, r, n); err == nil {
			f.notes = slices.Insert(f.notes, 0, noteWithoutGraphQL(u, "unresolved review threads and the merge queue are"))
		}
	}
	if err != nil {
		return Status{}, err
	}
	c.note(ctx, r, f.pull)
	return c.conclude(ctx, r, f), nil
}

// findings are the parts of a status.
type findings struct {
	pull     PullRequest
	reviews  []Review // oldest first
	checks   []Check
	complete bool // these are all checks
	threads  []Thread
	notes    []string
	asOf     time.Time
}

func (f *findings) note(text string) {
	if text != "" {
		f.notes = append(f.notes, text)
	}
}

// conclude computes the status from its parts. If GitHub blocks the merge and nothing explains it,
// it reads the rules of the base.
func (c *Client) conclude(ctx context.Context, r Repo, f findings) Status {
	slices.SortStableFunc(f.checks, compareChecks)
	e := Evidence{PullRequest: f.pull, Reviews: f.reviews, Checks: f.checks, Complete: f.complete, Threads: f.threads}
	if f.pull.MergeState == mergeBlocked && len(e.unmet(count(f.reviews))) == 0 && !f.pull.Draft {
		e.PullRequest.Rules = e.PullRequest.Rules.with(c.rules(ctx, r, f.pull.Base))
	}
	s := Status{
		PullRequest:       f.pull,
		Reviews:           countingFirst(f.reviews),
		Checks:            append([]Check{}, f.checks...),
		Summary:           Summarize(e),
		UnresolvedThreads: f.threads,
		Notes:             append(f.pull.Notes, f.notes...),
		AsOf:              f.asOf,
	}
	return s
}

// readStatus reads the parts of a status with REST.
func (c *Client) readStatus(ctx context.Context, r Repo, n int) (findings, error) {
	var (
		pr             PullRequest
		reviews        part[Review]
		runs, statuses part[Check]
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		reviews, err = read(gctx, c, "reviews", c.endpoint(r, nil, "pulls", strconv.Itoa(n), "reviews"), reviewsOf)
		return err
	})
	g.Go(func() (err error) {
		if pr, err = c.readPull(gctx, r, n); err != nil {
			return err
		}
		if pr.HeadSHA == "" {
			return malformed("a pull request with a head commit")
		}
		g.Go(func() (err error) {
			runs, err = read(gctx, c, "check runs", c.endpoint(r, nil, "commits", pr.HeadSHA, "check-runs"), wireCheckRuns.model)
			return runs.unlessRefused(err)
		})
		g.Go(func() (err error) {
			statuses, err = read(gctx, c, "commit statuses", c.endpoint(r, nil, "commits", pr.HeadSHA, "status"), wireStatuses.model)
			return statuses.unlessRefused(err)
		})
		return nil
	})
	if err := g.Wait(); err != nil {
		return findings{}, err
	}
	f := findings{
		pull: pr, reviews: reviews.items, checks: slices.Concat(runs.items, statuses.items),
		complete: runs.note == "" && statuses.note == "",
		asOf:     earlier(earlier(pr.AsOf, reviews.asOf), earlier(runs.asOf, statuses.asOf)),
	}
	f.note(reviews.note)
	f.note(runs.note)
	f.note(statuses.note)
	return f, nil
}

// part is a list that may be incomplete.
type part[T any] struct {
	items []T
	note  string // what is missing, and why
	asOf  time.Time
	what  string
}

// unlessRefused converts an error about missing access to this part into a note. Fine-grained
// tokens often allow pull requests, but not checks.
func (p *part[T]) unlessRefused(err error) error {
	var e *remote.Error
	if errors.As(err, &e) && (e.Kind == remote.Refused || e.Kind == remote.NotFound) {
		p.note = fmt.Sprintf("the %s are unknown: %s", p.what, e.Detail)
		return nil
	}
	return err
}

func reviewsOf(w []wireReview) []Review {
	var reviews []Review
	for _, r := range w {
		reviews = append(reviews, r.model())
	}
	return reviews
}

// read reads the list at u: its first page and, if it has more than maxPages, the last ones, where
// the latest reviews are. It reads the pages one after the other, as GitHub recommends.
func read[W, T any](ctx context.Context, c *Client, what string, u *url.URL, model func(W) []T) (part[T], error) {
	p := part[T]{what: what}
	for n, pages := 1, 1; ; {
		at := *u
		at.RawQuery = page(n, perPage).Encode()
		var w W
		a, err := c.get(ctx, &at, &w)
		if err != nil {
			return p, err
		}
		p.items = append(p.items, model(w)...)
		p.asOf = earlier(p.asOf, a.asOf)
		switch {
		case !a.more:
			return p, nil
		case pages == maxPages:
			// A list without a last page, or one that has grown in the meantime.
			p.note = fmt.Sprintf("there are more %s than the %d read", what, len(p.items))
			return p, nil
		case n == 1 && a.last > maxPages:
			n = a.last - maxPages + 2
			p.note = fmt.Sprintf("only %d of %d pages of %s were read, the first and the last ones", maxPages, a.last, what)
		default:
			n++
		}
		pages++
	}
}

// countingFirst orders reviews, which GitHub returns oldest first, as Status promises.
func countingFirst(reviews []Review) []Review {
	counting := countingReviews(reviews)
	out := make([]Review, 0, len(reviews))
	for _, i := range counting {
		out = append(out, reviews[i])
	}
	for i, review := range slices.Backward(reviews) {
		if !slices.Contains(counting, i) {
			out = append(out, review)
		}
	}
	return out
}

func compareChecks(a, b Check) int {
	if c := int(a.verdict()) - int(b.verdict()); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
