package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/remote"
)

// graphqlURL returns the address of a server's GraphQL API, next to its REST API.
func graphqlURL(api *url.URL) *url.URL {
	u := *api
	if base, ok := strings.CutSuffix(u.Path, "/api/v3"); ok {
		u.Path = base + "/api"
	}
	u.Path += "/graphql"
	return &u
}

// question is the body of a GraphQL request.
type question struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// asksOurs reports whether r sends one of this package's own documents to the GraphQL API. GraphQL
// sends reads and writes with the same method to the same address, so only the text of the document
// distinguishes them.
func asksOurs(api *url.URL, r *http.Request) bool {
	at := graphqlURL(api)
	if r.Method != http.MethodPost || r.URL.Scheme != at.Scheme || r.URL.Host != at.Host || r.URL.Path != at.Path || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	var q question
	if json.NewDecoder(body).Decode(&q) != nil {
		return false
	}
	for _, s := range shapes {
		if q.Query == document(s) {
			return true
		}
	}
	return q.Query == batchDocument(q.Variables, true) || q.Query == batchDocument(q.Variables, false)
}

// queryError is one error of a GraphQL answer, which may come with data.
type queryError struct {
	Type       string `json:"type,omitempty"`
	Message    string `json:"message"`
	Path       []any  `json:"path,omitempty"`
	Extensions struct {
		Code string `json:"code,omitempty"`
	} `json:"extensions,omitzero"`
}

// unknownField reports whether the server's schema lacks a requested field.
func (e queryError) unknownField() bool {
	return e.Extensions.Code == "undefinedField" || strings.Contains(e.Message, "doesn't exist on type")
}

// at reports whether the error is about a field, or one below it.
func (e queryError) at(field string) bool {
	for _, p := range e.Path {
		if p == field {
			return true
		}
	}
	return false
}

// reply is the answer to the one document that there is.
type reply struct {
	Data struct {
		Repository *struct {
			PullRequest *nodePull `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []queryError `json:"errors"`

	asOf time.Time
}

// pull returns the pull request of the answer, nil if it has none.
func (a reply) pull() *nodePull {
	if a.Data.Repository == nil {
		return nil
	}
	return a.Data.Repository.PullRequest
}

// unavailableError reports that the GraphQL API gave no answer, and that REST may.
type unavailableError struct{ err error }

func (e *unavailableError) Error() string { return "ask GraphQL: " + e.err.Error() }
func (e *unavailableError) Unwrap() error { return e.err }

// ask requests pull request n in the largest shape that the server and the token allow. If REST may
// help, the error is an *unavailableError.
func (c *Client) ask(ctx context.Context, r Repo, n int, v variables) (reply, error) {
	if refused := c.noGraphQL.Load(); refused != nil {
		return reply{}, refused
	}
	var last error
	for i := int(c.shape.Load()); i < len(shapes); i++ {
		a, err := c.askShape(ctx, r, n, shapes[i], v)
		if errors.Is(err, remote.ErrNotCached) {
			last = &unavailableError{err} // another shape may be cached
			continue
		}
		if err != nil {
			return reply{}, c.unlessFinal(ctx, err)
		}
		if a.pull() != nil {
			c.shape.Store(int32(i))
			return a, nil
		}
		refused, smaller := c.refusal(a, r, n)
		if !smaller {
			return reply{}, refused
		}
		last = refused
	}
	if u := (*unavailableError)(nil); errors.As(last, &u) && !errors.Is(last, remote.ErrNotCached) {
		c.noGraphQL.Store(u) // not even the smallest shape works
	}
	return reply{}, last
}

// refusal returns the reason why an answer has no pull request, and whether a smaller shape may
// have one.
func (c *Client) refusal(a reply, r Repo, n int) (err error, smaller bool) {
	for _, e := range a.Errors {
		message := remote.Clean(e.Message)
		switch {
		case e.Type == "NOT_FOUND":
			return &remote.Error{
				Service: service, Kind: remote.NotFound, Credential: c.source, Detail: fmt.Sprintf("there is no pull request #%d in %s", n, r),
			}, false
		case e.Type == "INSUFFICIENT_SCOPES" || e.unknownField():
			return &unavailableError{errors.New(message)}, true
		default:
			return &unavailableError{errors.New(message)}, false
		}
	}
	return &unavailableError{malformed(fmt.Sprintf("pull request %d", n))}, false
}

// unlessFinal wraps an error for which REST is worth a try. It is not if there is no answer at all,
// if the caller's time is over, or if the token was rejected.
func (c *Client) unlessFinal(ctx context.Context, err error) error {
	var e *remote.Error
	if ctx.Err() != nil || !errors.As(err, &e) || errors.Is(err, remote.ErrTimeout) || e.Status == http.StatusUnauthorized {
		return err
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	u := &unavailableError{err}
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		c.noGraphQL.Store(u)
	}
	return u
}

// askShape sends one request.
func (c *Client) askShape(ctx context.Context, r Repo, n int, s shape, v variables) (reply, error) {
	body, err := json.Marshal(question{Query: document(s), Variables: v.values(r, n)})
	if err != nil {
		return reply{}, fmt.Errorf("ask for pull request %d: %w", n, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, graphqlURL(c.api).String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("ask for pull request %d: %w", n, err)
	}
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, remote.TransportError(service, err)
	}
	if err := remote.CheckResponse(service, c.source, resp); err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, remote.TransportError(service, err)
	}
	a := reply{asOf: remote.AsOf(resp)}
	if err := remote.DecodeJSON(service, resp, raw, &a); err != nil {
		return reply{}, err
	}
	if a.pull() != nil && !remote.FromCache(ctx) {
		c.transport.Keep(resp, raw)
	}
	return a, nil
}

// noteWithoutGraphQL notes what REST does not report.
func noteWithoutGraphQL(err error, missing string) string {
	why := err
	if e := (*unavailableError)(nil); errors.As(err, &e) {
		why = e.err
	}
	detail := why.Error()
	if e := (*remote.Error)(nil); errors.As(why, &e) {
		detail = e.Detail
	}
	return fmt.Sprintf("%s unknown: GitHub's GraphQL API is not available (%s)", missing, strings.TrimSuffix(cleantext.Line(detail), "."))
}
