package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/github/graphql"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// askStatus reads the parts of a status with GraphQL.
func (c *Client) askStatus(ctx context.Context, r remoteurl.Repo, n int) (findings, error) {
	next := graphql.Everything()
	f := findings{complete: true, threads: []pullrequest.Thread{}}
	for pages := 1; ; pages++ {
		a, err := c.ask(ctx, r, n, next)
		if err != nil {
			return findings{}, err
		}
		p := a.Pull()
		if next.Core {
			if p.Number != n || p.HeadRefOID == "" {
				return findings{}, &unavailableError{rest.Malformed("pull request " + strconv.Itoa(n))}
			}
			f.pull = p.Model(a.AsOf)
		}
		f.asOf = rest.Earlier(f.asOf, a.AsOf)
		f.partial(a, next)
		following := f.take(p, next)
		if following == (graphql.Variables{}) {
			break
		}
		if pages == rest.MaxPages {
			f.unread(following)
			break
		}
		next = following
	}
	slices.SortStableFunc(f.threads, func(a, b pullrequest.Thread) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
	return f, nil
}

// take adds the lists of one answer, and returns the positions at which incomplete lists continue.
func (f *findings) take(p *graphql.PullRequest, asked graphql.Variables) (following graphql.Variables) {
	if asked.Reviews != nil {
		var older []pullrequest.Review
		for _, review := range p.Reviews.Nodes {
			if review != nil {
				older = append(older, review.Model())
			}
		}
		f.reviews = append(older, f.reviews...)
		following.Reviews = p.Reviews.Before()
	}
	if asked.Threads != nil && f.threads != nil {
		for _, t := range p.Threads.Nodes {
			if t != nil && !t.Resolved {
				f.threads = append(f.threads, t.Model())
			}
		}
		following.Threads = p.Threads.Before()
	}
	if asked.Checks != nil && p.Rollup != nil {
		for _, check := range p.Rollup.Contexts.Nodes {
			if check != nil {
				f.checks = append(f.checks, check.Model())
			}
		}
		following.Checks = p.Rollup.Contexts.After()
		f.rollup, f.total = p.Rollup.Model(), p.Rollup.Contexts.Total
	}
	return following
}

// partial notes what an answer lacks because the token may not see it.
func (f *findings) partial(a graphql.Answer, asked graphql.Variables) {
	said := func(field string) string {
		for _, e := range a.Errors {
			if e.At(field) {
				return remote.Clean(e.Message)
			}
		}
		return ""
	}
	if why := said("statusCheckRollup"); why != "" && asked.Checks != nil {
		if f.complete {
			f.note("the checks are unknown: " + why)
		}
		f.complete = false
	}
	if why := said("reviewThreads"); why != "" && asked.Threads != nil {
		f.note("unresolved review threads are unknown: " + why)
		f.threads = nil
	}
	if why := said("reviews"); why != "" && asked.Reviews != nil {
		f.note("the reviews are unknown: " + why)
	}
}

// unread notes the incomplete lists.
func (f *findings) unread(left graphql.Variables) {
	if left.Reviews != nil {
		f.note("only the latest reviews were read: " + strconv.Itoa(len(f.reviews)))
	}
	if left.Threads != nil {
		f.note("only the latest review threads were read: " + strconv.Itoa(rest.MaxPages*rest.PerPage))
	}
	if left.Checks != nil {
		f.complete, f.unreadChecks = false, max(f.total-len(f.checks), 1)
		text := fmt.Sprintf("%d of %d checks were read", len(f.checks), len(f.checks)+f.unreadChecks)
		if f.rollup != "" {
			text += "; GitHub reports their combined state as " + f.rollup
		}
		f.note(text)
	}
}
