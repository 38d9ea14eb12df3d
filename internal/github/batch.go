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
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/remote"
)

// Head is a branch whose pull request is wanted.
type Head struct {
	// Branch is its name at GitHub.
	Branch string
	// Number is the number of its pull request, 0 if it is unknown.
	Number int
	// Commit is the tip of the branch. A pull request that was found by name, and is merged or
	// closed, counts only if it ended with this commit: people reuse names.
	Commit string
}

// OfBranches returns the status of the pull request of each branch, in their order: with GraphQL in
// one request for up to fifty branches, or else with REST, which does not know review threads and
// the merge queue. Open pull requests take precedence, and those from forks are ignored. The
// bodies, labels, and reviewers of pull requests, and the texts of threads, are omitted.
//
// Under [remote.WithCachedOnly], each branch has its last cached answer, even if it was requested
// with other branches.
func (c *Client) OfBranches(ctx context.Context, r Repo, heads []Head) []fact.Fact[Status] {
	out := make([]fact.Fact[Status], 0, len(heads))
	for part := range slices.Chunk(heads, maxBatch) {
		out = append(out, c.batch(ctx, r, part)...)
	}
	var pulls []PullRequest
	for _, found := range out {
		if status, known := found.Get(); known {
			pulls = append(pulls, status.PullRequest)
		}
	}
	c.note(ctx, r, pulls...)
	return out
}

// batch answers for at most maxBatch branches.
func (c *Client) batch(ctx context.Context, r Repo, heads []Head) []fact.Fact[Status] {
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
func failed(heads []Head, err error) []fact.Fact[Status] {
	reason, hint := err.Error(), ""
	if errors.Is(err, remote.ErrNotCached) {
		reason = fact.NotFetched
	}
	var retry time.Duration
	if e := (*remote.Error)(nil); errors.As(err, &e) && e.Kind == remote.RateLimited {
		retry = cmp.Or(e.RetryAfter, usualPause)
		hint = fmt.Sprintf("Retry after %s.", retry.Round(time.Second))
	}
	out := make([]fact.Fact[Status], len(heads))
	for i := range out {
		out[i] = fact.Unavailable[Status](reason, hint)
		out[i].Unasked, out[i].Retry = errors.Is(err, remote.ErrNotCached), retry
	}
	return out
}

// keptBatch answers from the cached answer for each branch.
func (c *Client) keptBatch(ctx context.Context, r Repo, heads []Head) []fact.Fact[Status] {
	out := make([]fact.Fact[Status], len(heads))
	for i, h := range heads {
		one := []Head{h}
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

// batchReply is the answer about several branches. Its fields are stored unparsed.
type batchReply struct {
	Data struct {
		Repository map[string]json.RawMessage `json:"repository"`
	} `json:"data"`
	Errors []queryError `json:"errors,omitempty"`
}

// askBatch requests all branches at once.
func (c *Client) askBatch(ctx context.Context, r Repo, heads []Head) ([]fact.Fact[Status], error) {
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
		found := make([]fact.Fact[Status], len(heads))
		for i, h := range heads {
			found[i] = a.status(i, h, r, remote.AsOf(resp))
		}
		return found, nil
	}
	return nil, last
}

// refusedBatch returns the reason why an answer is empty, and whether a smaller request may
// succeed.
func (c *Client) refusedBatch(a batchReply, r Repo, pause time.Duration) (err error, smaller bool) {
	if len(a.Errors) == 0 {
		return &unavailableError{malformed("a repository with pull requests")}, false
	}
	first := a.Errors[0]
	message := remote.Clean(first.Message)
	switch first.Type {
	case "NOT_FOUND":
		return &remote.Error{Service: service, Kind: remote.NotFound, Credential: c.source, Detail: fmt.Sprintf("there is no repository %s", r)}, false
	case "RATE_LIMITED", "RATE_LIMIT":
		return &remote.Error{Service: service, Kind: remote.RateLimited, RetryAfter: pause, Credential: c.source, Detail: message}, false
	}
	return &unavailableError{errors.New(message)}, first.unknownField()
}

// askBatchShape sends one request. The body of the response has been read.
func (c *Client) askBatchShape(ctx context.Context, r Repo, heads []Head, queue bool) (batchReply, *http.Response, error) {
	var a batchReply
	req, err := c.batchRequest(ctx, r, heads, queue)
	if err != nil {
		return a, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return a, nil, remote.TransportError(service, err)
	}
	if err := remote.CheckResponse(service, c.source, resp); err != nil {
		return a, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, nil, remote.TransportError(service, err)
	}
	return a, resp, remote.DecodeJSON(service, resp, raw, &a)
}

func (c *Client) batchRequest(ctx context.Context, r Repo, heads []Head, queue bool) (*http.Request, error) {
	variables := batchVariables(r, heads)
	body, err := json.Marshal(question{Query: batchDocument(variables, queue), Variables: variables})
	if err != nil {
		return nil, fmt.Errorf("ask for pull requests: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, graphqlURL(c.api).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for pull requests: %w", err)
	}
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// keepEach caches the answer about each branch as if it had been requested alone.
func (c *Client) keepEach(resp *http.Response, r Repo, heads []Head, queue bool, a batchReply) {
	for i, h := range heads {
		var one batchReply
		one.Data.Repository = map[string]json.RawMessage{}
		for _, prefix := range []string{openAlias, endedAlias, numberAlias} {
			if raw, ok := a.Data.Repository[prefix+strconv.Itoa(i)]; ok {
				one.Data.Repository[prefix+"0"] = raw
			}
		}
		for _, e := range a.Errors {
			if at := e.alias(i); at != "" {
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
		if number, raw := a.open(i, h, r); raw != nil {
			// A caller that knows the number by then requests that.
			one.Data.Repository = map[string]json.RawMessage{numberAlias + "0": raw}
			c.keepOne(resp, r, Head{Branch: h.Branch, Number: number}, queue, one)
		}
	}
}

// keepOne caches the answer about a branch.
func (c *Client) keepOne(resp *http.Response, r Repo, h Head, queue bool, one batchReply) {
	req, err := c.batchRequest(resp.Request.Context(), r, []Head{h}, queue)
	if err != nil {
		return
	}
	if raw, err := json.Marshal(one); err == nil {
		c.transport.KeepAs(req, resp, raw)
	}
}

// open returns the open pull request of branch i, undecoded, nil if it was not found by name.
func (a batchReply) open(i int, h Head, r Repo) (number int, raw json.RawMessage) {
	var found nodeList[json.RawMessage]
	p := a.pick(i, h, r)
	if p == nil || json.Unmarshal(a.Data.Repository[openAlias+strconv.Itoa(i)], &found) != nil {
		return 0, nil
	}
	for _, raw := range found.Nodes {
		var n struct {
			Number int `json:"number"`
		}
		if raw != nil && json.Unmarshal(*raw, &n) == nil && n.Number == p.Number {
			return p.Number, *raw
		}
	}
	return 0, nil
}

// alias returns the prefix of the field of a batch that the error is about, if it is that
// of branch i.
func (e queryError) alias(i int) string {
	for _, prefix := range []string{openAlias, endedAlias, numberAlias} {
		if e.at(prefix + strconv.Itoa(i)) {
			return prefix
		}
	}
	return ""
}

// status returns the status of branch i in an answer.
func (a batchReply) status(i int, h Head, r Repo, asOf time.Time) fact.Fact[Status] {
	var errs []queryError
	for _, e := range a.Errors {
		if e.alias(i) != "" {
			errs = append(errs, e)
		}
	}
	p := a.pick(i, h, r)
	if p == nil {
		if len(errs) > 0 && !a.answers(i) {
			return fact.Unavailable[Status](remote.Clean(errs[0].Message), "")
		}
		return fact.None[Status](service, asOf)
	}
	f := findings{complete: true, threads: []Thread{}, pull: p.model(asOf), asOf: asOf}
	everything := everything()
	f.partial(reply{Errors: errs}, everything)
	following := f.take(p, everything)
	// Older reviews than these rarely decide anything.
	following.reviews = nil
	f.unread(following)
	slices.SortStableFunc(f.checks, compareChecks)
	e := Evidence{PullRequest: f.pull, Reviews: f.reviews, Checks: f.checks, Complete: f.complete, Threads: f.threads}
	return fact.Known(Status{
		PullRequest: f.pull, Reviews: countingFirst(f.reviews), Checks: f.checks, Summary: Summarize(e),
		UnresolvedThreads: f.threads, Notes: f.notes, AsOf: asOf,
	}, service, asOf)
}

// answers reports whether an answer contains branch i, even with an empty list.
func (a batchReply) answers(i int) bool {
	for _, prefix := range []string{openAlias, numberAlias} {
		if raw, ok := a.Data.Repository[prefix+strconv.Itoa(i)]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

// pick returns the pull request of branch i, nil for none.
func (a batchReply) pick(i int, h Head, r Repo) *nodePull {
	n := strconv.Itoa(i)
	if raw, ok := a.Data.Repository[numberAlias+n]; ok {
		var p *nodePull
		if json.Unmarshal(raw, &p) != nil {
			return nil
		}
		return p
	}
	ours := func(p *nodePull) bool {
		return p != nil && p.HeadRepo != nil && strings.EqualFold(p.HeadRepo.Name, r.String()) && p.HeadRefName == h.Branch
	}
	for _, list := range []string{openAlias, endedAlias} {
		var found nodeList[nodePull]
		if json.Unmarshal(a.Data.Repository[list+n], &found) != nil {
			continue
		}
		for _, p := range found.Nodes {
			if ours(p) && (list == openAlias || h.Commit != "" && p.HeadRefOID == h.Commit) {
				return p
			}
		}
	}
	return nil
}

const (
	// restPages is the maximum number of pages of open pull requests to request with REST.
	restPages = 3
	// restAtOnce is the number of pull requests to read with REST at the same time.
	restAtOnce = 4
)

// readBatch answers for branches with REST. reason is why GraphQL does not.
func (c *Client) readBatch(ctx context.Context, r Repo, heads []Head, reason *unavailableError) ([]fact.Fact[Status], error) {
	numbers := make([]int, len(heads))
	unknown := false
	for i, h := range heads {
		numbers[i] = h.Number
		unknown = unknown || h.Number == 0
	}
	var list Page
	complete := true
	for from, pages := (Cursor{}), 0; unknown; pages++ {
		if pages == restPages {
			complete = false
			break
		}
		next, err := c.PullRequests(ctx, r, Open, from, perPage)
		if err != nil {
			return nil, err
		}
		list.PullRequests = append(list.PullRequests, next.PullRequests...)
		list.AsOf = earlier(list.AsOf, next.AsOf)
		if next.Next == nil {
			break
		}
		from = *next.Next
	}
	for i, h := range heads {
		for _, pr := range list.PullRequests {
			if numbers[i] == 0 && pr.Head == h.Branch && strings.EqualFold(pr.HeadRepo, r.String()) {
				numbers[i] = pr.Number
			}
		}
	}
	out := make([]fact.Fact[Status], len(heads))
	var reading errgroup.Group
	reading.SetLimit(restAtOnce)
	for i, n := range numbers {
		switch {
		case n == 0 && complete:
			out[i] = fact.None[Status](service, list.AsOf)
		case n == 0:
			out[i] = fact.Unavailable[Status](fmt.Sprintf("it has none among the %d newest", len(list.PullRequests)), "")
		default:
			reading.Go(func() error {
				f, err := c.readStatus(ctx, r, n)
				if err != nil {
					out[i] = failed(heads[i:i+1], err)[0]
					return nil
				}
				f.note(noteWithoutGraphQL(reason, "unresolved review threads and the merge queue are"))
				slices.SortStableFunc(f.checks, compareChecks)
				e := Evidence{PullRequest: f.pull, Reviews: f.reviews, Checks: f.checks, Complete: f.complete}
				out[i] = fact.Known(Status{
					PullRequest: f.pull, Reviews: countingFirst(f.reviews), Checks: f.checks, Summary: Summarize(e), Notes: f.notes, AsOf: f.asOf,
				}, service, f.asOf)
				return nil
			})
		}
	}
	return out, reading.Wait()
}
