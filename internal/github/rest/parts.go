package rest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/remote"
)

// Part is a list that may be incomplete.
type Part[T any] struct {
	Items []T
	Note  string // the reason why items are missing; "" if none are
	AsOf  time.Time
	what  string
}

// unlessRefused converts an error about missing access to this part into a note. Fine-grained
// tokens often allow pull requests, but not checks.
func (p *Part[T]) unlessRefused(err error) error {
	var e *remote.Error
	if errors.As(err, &e) && (e.Kind == remote.Refused || e.Kind == remote.NotFound) {
		p.Note = fmt.Sprintf("the %s are unknown: %s", p.what, e.Detail)
		return nil
	}
	return err
}

func reviewsOf(w []wireReview) []pullrequest.Review {
	var reviews []pullrequest.Review
	for _, r := range w {
		reviews = append(reviews, r.model())
	}
	return reviews
}

// read reads the list at u: its first page and, if it has more than maxPages, the last ones, where
// the latest reviews are. It reads the pages one after the other, as GitHub recommends.
func read[W, T any](ctx context.Context, c *Conn, what string, u *url.URL, convert func(W) []T) (Part[T], error) {
	p := Part[T]{what: what}
	for n, pages := 1, 1; ; {
		at := *u
		at.RawQuery = page(n, PerPage).Encode()
		var w W
		a, err := c.Get(ctx, &at, &w)
		if err != nil {
			return p, err
		}
		p.Items = append(p.Items, convert(w)...)
		p.AsOf = Earlier(p.AsOf, a.asOf)
		switch {
		case !a.more:
			return p, nil
		case pages == MaxPages:
			// A list without a last page, or one that has grown in the meantime.
			p.Note = fmt.Sprintf("there are more %s than the %d read", what, len(p.Items))
			return p, nil
		case n == 1 && a.last > MaxPages:
			n = a.last - MaxPages + 2
			p.Note = fmt.Sprintf("only %d of %d pages of %s were read, the first and the last ones", MaxPages, a.last, what)
		default:
			n++
		}
		pages++
	}
}

// Reviews reads the reviews of pull request n, the oldest first.
func (c *Conn) Reviews(ctx context.Context, r remoteurl.Repo, n int) (Part[pullrequest.Review], error) {
	return read(ctx, c, "reviews", c.Endpoint(r, nil, "pulls", strconv.Itoa(n), "reviews"), reviewsOf)
}

// CheckRuns reads the check runs of a commit. Without access to them they are unknown.
func (c *Conn) CheckRuns(ctx context.Context, r remoteurl.Repo, commit string) (Part[pullrequest.Check], error) {
	p, err := read(ctx, c, "check runs", c.Endpoint(r, nil, "commits", commit, "check-runs"), wireCheckRuns.model)
	err = p.unlessRefused(err)
	return p, err
}

// Statuses reads the commit statuses of a commit. Without access to them they are unknown.
func (c *Conn) Statuses(ctx context.Context, r remoteurl.Repo, commit string) (Part[pullrequest.Check], error) {
	p, err := read(ctx, c, "commit statuses", c.Endpoint(r, nil, "commits", commit, "status"), wireStatuses.model)
	err = p.unlessRefused(err)
	return p, err
}
