package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github/graphql"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// OfBranches returns the status of the pull request of each branch, in their order: with GraphQL in
// one request for up to fifty branches, or else with REST, which does not know review threads and
// the merge queue. Open pull requests take precedence, and those from forks are ignored. The
// bodies, labels, and reviewers of pull requests, and the texts of threads, are omitted.
//
// Under [remote.WithCachedOnly], each branch has its last cached answer, even if it was requested
// with other branches.
func (c *Client) OfBranches(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head) []fact.Fact[pullrequest.Status] {
	out := make([]fact.Fact[pullrequest.Status], 0, len(heads))
	var late error // the service takes too long, and is not asked for the rest
	for part := range slices.Chunk(heads, graphql.MaxBatch) {
		if late != nil {
			out = append(out, failed(part, late)...)
			continue
		}
		within, cancel := remote.WithCallLimit(ctx, c.timeout)
		out = append(out, c.batch(within, r, part)...)
		if within.Err() != nil {
			late = remote.TransportError(rest.Service, context.Cause(within))
		}
		cancel()
	}
	var pulls []pullrequest.PullRequest
	for _, found := range out {
		if status, known := found.Get(); known {
			pulls = append(pulls, status.PullRequest)
		}
	}
	c.note(ctx, r, pulls...)
	return out
}

// batch answers for at most maxBatch branches.
func (c *Client) batch(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head) []fact.Fact[pullrequest.Status] {
	if remote.FromCache(ctx) {
		return c.keptBatch(ctx, r, heads)
	}
	found, err := c.askBatch(ctx, r, heads)
	if e := (*remote.Error)(nil); errors.As(err, &e) && len(heads) > 1 && (e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout) {
		// The request exceeded GitHub's time limit.
		half := len(heads) / 2
		return append(c.batch(ctx, r, heads[:half]), c.batch(ctx, r, heads[half:])...)
	}
	if u := (*unavailableError)(nil); errors.As(err, &u) {
		found, err = c.readBatch(ctx, r, heads, u)
	}
	if err != nil {
		return failed(heads, err)
	}
	return found
}

// usualPause is how long to wait if GitHub asks clients to wait without naming a time.
const usualPause = time.Minute

// failed returns facts without values for branches.
func failed(heads []pullrequest.Head, err error) []fact.Fact[pullrequest.Status] {
	reason, hint := err.Error(), ""
	if errors.Is(err, remote.ErrNotCached) {
		reason = fact.NotFetched
	}
	var retry time.Duration
	if e := (*remote.Error)(nil); errors.As(err, &e) {
		hint = e.NextStep()
		if e.Kind == remote.RateLimited {
			retry = cmp.Or(e.RetryAfter, usualPause)
		}
	}
	out := make([]fact.Fact[pullrequest.Status], len(heads))
	for i := range out {
		out[i] = fact.Unavailable[pullrequest.Status](reason, hint)
		out[i].Unasked, out[i].Retry = errors.Is(err, remote.ErrNotCached), retry
	}
	return out
}

// keptBatch answers from the cached answer for each branch.
func (c *Client) keptBatch(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head) []fact.Fact[pullrequest.Status] {
	out := make([]fact.Fact[pullrequest.Status], len(heads))
	for i, h := range heads {
		one := []pullrequest.Head{h}
		found, err := c.askBatch(ctx, r, one)
		if errors.Is(err, remote.ErrNotCached) {
			found, err = c.readBatch(ctx, r, one, &unavailableError{err})
		}
		if err != nil {
			found = failed(one, err)
		}
		out[i] = found[0]
	}
	return out
}

// askBatch requests all branches at once.
func (c *Client) askBatch(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head) ([]fact.Fact[pullrequest.Status], error) {
	kept := remote.FromCache(ctx)
	if refused := c.noGraphQL.Load(); refused != nil && !kept {
		return nil, refused
	}
	var last error
	for _, queue := range []bool{true, false} {
		if queue && c.noQueue.Load() && !kept {
			continue
		}
		a, resp, err := c.askBatchShape(ctx, r, heads, queue) //nolint:bodyclose // its body has been read
		if errors.Is(err, remote.ErrNotCached) {
			last = err
			continue
		}
		if err != nil {
			return nil, c.unlessFinal(ctx, err)
		}
		if a.Data.Repository == nil {
			refused, smaller := c.refusedBatch(a, r, remote.RetryAfter(resp))
			if smaller && queue {
				c.noQueue.Store(true)
				last = refused
				continue
			}
			return nil, refused
		}
		if !kept {
			c.keepEach(resp, r, heads, queue, a)
		}
		found := make([]fact.Fact[pullrequest.Status], len(heads))
		for i, h := range heads {
			found[i] = statusOf(a, i, h, r, remote.AsOf(resp))
		}
		return found, nil
	}
	return nil, last
}

// refusedBatch returns the reason why an answer is empty, and whether a smaller request may
// succeed.
func (c *Client) refusedBatch(a graphql.BatchAnswer, r remoteurl.Repo, pause time.Duration) (err error, smaller bool) {
	if len(a.Errors) == 0 {
		return &unavailableError{rest.Malformed("a repository with pull requests")}, false
	}
	first := a.Errors[0]
	message := remote.Clean(first.Message)
	switch first.Type {
	case "NOT_FOUND":
		return &remote.Error{Service: rest.Service, Kind: remote.NotFound, Credential: c.rest.Source, Detail: fmt.Sprintf("there is no repository %s", r)}, false
	case "RATE_LIMITED", "RATE_LIMIT":
		return &remote.Error{Service: rest.Service, Kind: remote.RateLimited, RetryAfter: pause, Credential: c.rest.Source, Detail: message}, false
	}
	return &unavailableError{errors.New(message)}, first.UnknownField()
}

// askBatchShape sends one request. The body of the response has been read.
func (c *Client) askBatchShape(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head, queue bool) (graphql.BatchAnswer, *http.Response, error) {
	var a graphql.BatchAnswer
	req, err := c.batchRequest(ctx, r, heads, queue)
	if err != nil {
		return a, nil, err
	}
	resp, err := c.rest.HTTP.Do(req)
	if err != nil {
		return a, nil, remote.TransportError(rest.Service, err)
	}
	if err := remote.CheckResponse(rest.Service, c.rest.Source, resp); err != nil {
		return a, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, nil, remote.TransportError(rest.Service, err)
	}
	return a, resp, remote.DecodeJSON(rest.Service, resp, raw, &a)
}

func (c *Client) batchRequest(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head, queue bool) (*http.Request, error) {
	variables := graphql.BatchVariables(r, heads)
	body, err := json.Marshal(graphql.Question{Query: graphql.BatchDocument(variables, queue), Variables: variables})
	if err != nil {
		return nil, fmt.Errorf("request pull requests: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, graphql.Address(c.rest.API).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request pull requests: %w", err)
	}
	req.Header = c.rest.Header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// keepEach caches the answer about each branch as if it had been requested alone.
func (c *Client) keepEach(resp *http.Response, r remoteurl.Repo, heads []pullrequest.Head, queue bool, a graphql.BatchAnswer) {
	for i, h := range heads {
		var one graphql.BatchAnswer
		one.Data.Repository = map[string]json.RawMessage{}
		for _, prefix := range []string{graphql.OpenAlias, graphql.EndedAlias, graphql.NumberAlias} {
			if raw, ok := a.Data.Repository[prefix+strconv.Itoa(i)]; ok {
				one.Data.Repository[prefix+"0"] = raw
			}
		}
		for _, e := range a.Errors {
			if at := e.Alias(i); at != "" {
				e.Path = slices.Clone(e.Path)
				for j, p := range e.Path {
					if p == at+strconv.Itoa(i) {
						e.Path[j] = at + "0"
					}
				}
				one.Errors = append(one.Errors, e)
			}
		}
		c.keepOne(resp, r, h, queue, one)
		if number, raw := a.Open(i, h); raw != nil {
			// A caller that knows the number by then requests that.
			one.Data.Repository = map[string]json.RawMessage{graphql.NumberAlias + "0": raw}
			c.keepOne(resp, r, pullrequest.Head{Branch: h.Branch, Number: number}, queue, one)
		}
	}
}

// keepOne caches the answer about a branch.
func (c *Client) keepOne(resp *http.Response, r remoteurl.Repo, h pullrequest.Head, queue bool, one graphql.BatchAnswer) {
	req, err := c.batchRequest(resp.Request.Context(), r, []pullrequest.Head{h}, queue)
	if err != nil {
		return
	}
	if raw, err := json.Marshal(one); err == nil {
		c.rest.Transport.KeepAs(req, resp, raw)
	}
}

// statusOf returns the status of branch i in an answer.
func statusOf(a graphql.BatchAnswer, i int, h pullrequest.Head, r remoteurl.Repo, asOf time.Time) fact.Fact[pullrequest.Status] {
	var errs []graphql.Error
	for _, e := range a.Errors {
		if e.Alias(i) != "" {
			errs = append(errs, e)
		}
	}
	p := a.Pick(i, h)
	if p == nil {
		if len(errs) > 0 && !a.Answers(i) {
			return fact.Unavailable[pullrequest.Status](remote.Clean(errs[0].Message), "")
		}
		return fact.None[pullrequest.Status](rest.Service, asOf)
	}
	f := findings{complete: true, threads: []pullrequest.Thread{}, pull: p.Model(asOf), asOf: asOf}
	everything := graphql.Everything()
	f.partial(graphql.Answer{Errors: errs}, everything)
	following := f.take(p, everything)
	// Older reviews than these rarely decide anything.
	following.Reviews = nil
	f.unread(following)
	slices.SortStableFunc(f.checks, pullrequest.CompareChecks)
	return fact.Known(pullrequest.Status{
		PullRequest: f.pull, Reviews: pullrequest.EffectiveFirst(f.reviews), Checks: f.checks, Summary: pullrequest.Summarize(f.evidence()),
		UnresolvedThreads: f.threads, Notes: f.notes, AsOf: asOf,
	}, rest.Service, asOf)
}

const (
	// restPages is the maximum number of pages of open pull requests to request with REST.
	restPages = 3
	// restAtOnce is the number of pull requests to read with REST at the same time.
	restAtOnce = 4
)

// readBatch answers for branches with REST. reason is why GraphQL does not.
func (c *Client) readBatch(ctx context.Context, r remoteurl.Repo, heads []pullrequest.Head, reason *unavailableError) ([]fact.Fact[pullrequest.Status], error) {
	numbers := make([]int, len(heads))
	unknown := false
	for i, h := range heads {
		numbers[i] = h.Number
		unknown = unknown || h.Number == 0
	}
	var list rest.Page
	complete := true
	for from, pages := (rest.Cursor{}), 0; unknown; pages++ {
		if pages == restPages {
			complete = false
			break
		}
		next, err := c.PullRequests(ctx, r, pullrequest.Open, from, rest.PerPage)
		if err != nil {
			return nil, err
		}
		list.PullRequests = append(list.PullRequests, next.PullRequests...)
		list.AsOf = rest.Earlier(list.AsOf, next.AsOf)
		if next.Next == nil {
			break
		}
		from = *next.Next
	}
	for i, h := range heads {
		for _, pr := range list.PullRequests {
			if numbers[i] == 0 && pr.Head == h.Branch && pr.Fork == "" {
				numbers[i] = pr.Number
			}
		}
	}
	out := make([]fact.Fact[pullrequest.Status], len(heads))
	var reading errgroup.Group
	reading.SetLimit(restAtOnce)
	for i, n := range numbers {
		switch {
		case n == 0 && complete:
			out[i] = fact.None[pullrequest.Status](rest.Service, list.AsOf)
		case n == 0:
			out[i] = fact.Unavailable[pullrequest.Status](fmt.Sprintf("it has none among the %d newest", len(list.PullRequests)), "")
		default:
			reading.Go(func() error {
				f, err := c.readStatus(ctx, r, n)
				if err != nil {
					out[i] = failed(heads[i:i+1], err)[0]
					return nil
				}
				f.note(noteWithoutGraphQL(reason, "unresolved review threads and the merge queue are"))
				slices.SortStableFunc(f.checks, pullrequest.CompareChecks)
				out[i] = fact.Known(pullrequest.Status{
					PullRequest: f.pull, Reviews: pullrequest.EffectiveFirst(f.reviews), Checks: f.checks, Summary: pullrequest.Summarize(f.evidence()), Notes: f.notes, AsOf: f.asOf,
				}, rest.Service, f.asOf)
				return nil
			})
		}
	}
	return out, reading.Wait()
}
