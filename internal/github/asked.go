package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/remote"
)

// askStatus reads the parts of a status with GraphQL.
func (c *Client) askStatus(ctx context.Context, r Repo, n int) (findings, error) {
	next := everything()
	f := findings{complete: true, threads: []Thread{}}
	for pages := 1; ; pages++ {
		a, err := c.ask(ctx, r, n, next)
		if err != nil {
			return findings{}, err
		}
		p := a.pull()
		if next.core {
			if p.Number != n || p.HeadRefOID == "" {
				return findings{}, &unavailableError{malformed("pull request " + strconv.Itoa(n))}
			}
			f.pull = p.model(a.asOf)
		}
		f.asOf = earlier(f.asOf, a.asOf)
		f.partial(a, next)
		following := f.take(p, next)
		if following == (variables{}) {
			break
		}
		if pages == maxPages {
			f.unread(following)
			break
		}
		next = following
	}
	slices.SortStableFunc(f.threads, func(a, b Thread) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
	return f, nil
}

// take adds the lists of one answer, and returns the positions at which incomplete lists continue.
func (f *findings) take(p *nodePull, asked variables) (following variables) {
	if asked.reviews != nil {
		var older []Review
		for _, review := range p.Reviews.Nodes {
			if review != nil {
				older = append(older, review.model())
			}
		}
		f.reviews = append(older, f.reviews...)
		following.reviews = p.Reviews.before()
	}
	if asked.threads != nil && f.threads != nil {
		for _, t := range p.Threads.Nodes {
			if t != nil && !t.Resolved {
				f.threads = append(f.threads, t.model())
			}
		}
		following.threads = p.Threads.before()
	}
	if asked.checks != nil && p.Rollup != nil {
		for _, check := range p.Rollup.Contexts.Nodes {
			if check != nil {
				f.checks = append(f.checks, check.model())
			}
		}
		following.checks = p.Rollup.Contexts.after()
	}
	return following
}

// partial notes what an answer lacks because the token may not see it.
func (f *findings) partial(a reply, asked variables) {
	said := func(field string) string {
		for _, e := range a.Errors {
			if e.at(field) {
				return remote.Clean(e.Message)
			}
		}
		return ""
	}
	if why := said("statusCheckRollup"); why != "" && asked.checks != nil {
		if f.complete {
			f.note("the checks are unknown: " + why)
		}
		f.complete = false
	}
	if why := said("reviewThreads"); why != "" && asked.threads != nil {
		f.note("unresolved review threads are unknown: " + why)
		f.threads = nil
	}
	if why := said("reviews"); why != "" && asked.reviews != nil {
		f.note("the reviews are unknown: " + why)
	}
}

// unread notes the incomplete lists.
func (f *findings) unread(left variables) {
	if left.reviews != nil {
		f.note(fmt.Sprintf("only the latest %d reviews were read", len(f.reviews)))
	}
	if left.threads != nil {
		f.note(fmt.Sprintf("only the latest %d review threads were read", maxPages*perPage))
	}
	if left.checks != nil {
		f.note(fmt.Sprintf("only %d checks were read", len(f.checks)))
		f.complete = false
	}
}
