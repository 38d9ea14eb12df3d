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
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/github/graphql"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// unavailableError reports that the GraphQL API gave no answer, and that REST may.
type unavailableError struct{ err error }

func (e *unavailableError) Error() string { return "query GraphQL: " + e.err.Error() }
func (e *unavailableError) Unwrap() error { return e.err }

// ask requests pull request n in the largest shape that the server and the token allow. If REST may
// help, the error is an *unavailableError.
func (c *Client) ask(ctx context.Context, r remoteurl.Repo, n int, v graphql.Variables) (graphql.Answer, error) {
	if refused := c.noGraphQL.Load(); refused != nil {
		return graphql.Answer{}, refused
	}
	var last error
	for i := int(c.shape.Load()); i < len(graphql.Shapes); i++ {
		a, err := c.askShape(ctx, r, n, graphql.Shapes[i], v)
		if errors.Is(err, remote.ErrNotCached) {
			last = &unavailableError{err} // another shape may be cached
			continue
		}
		if err != nil {
			return graphql.Answer{}, c.unlessFinal(ctx, err)
		}
		if a.Pull() != nil {
			c.shape.Store(int32(i))
			return a, nil
		}
		refused, smaller := c.refusal(a, r, n)
		if !smaller {
			return graphql.Answer{}, refused
		}
		last = refused
	}
	if u := (*unavailableError)(nil); errors.As(last, &u) && !errors.Is(last, remote.ErrNotCached) {
		c.noGraphQL.Store(u) // not even the smallest shape works
	}
	return graphql.Answer{}, last
}

// refusal returns the reason why an answer has no pull request, and whether a smaller shape may
// have one.
func (c *Client) refusal(a graphql.Answer, r remoteurl.Repo, n int) (err error, smaller bool) {
	for _, e := range a.Errors {
		message := remote.Clean(e.Message)
		switch {
		case e.Type == "NOT_FOUND":
			what := fmt.Sprintf("repository %s", r)
			if e.At("pullRequest") {
				what = fmt.Sprintf("pull request #%d in %s", n, r)
			}
			return &remote.Error{Service: rest.Service, Kind: remote.NotFound, Credential: c.rest.Source, Detail: "there is no " + what}, false
		case e.Type == "INSUFFICIENT_SCOPES" || e.UnknownField():
			return &unavailableError{errors.New(message)}, true
		default:
			return &unavailableError{errors.New(message)}, false
		}
	}
	return &unavailableError{rest.Malformed(fmt.Sprintf("pull request %d", n))}, false
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
func (c *Client) askShape(ctx context.Context, r remoteurl.Repo, n int, s graphql.Shape, v graphql.Variables) (graphql.Answer, error) {
	body, err := json.Marshal(graphql.Question{Query: graphql.Document(s), Variables: v.Values(r, n)})
	if err != nil {
		return graphql.Answer{}, fmt.Errorf("request pull request %d: %w", n, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, graphql.Address(c.rest.API).String(), bytes.NewReader(body))
	if err != nil {
		return graphql.Answer{}, fmt.Errorf("request pull request %d: %w", n, err)
	}
	req.Header = c.rest.Header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.rest.HTTP.Do(req)
	if err != nil {
		return graphql.Answer{}, remote.TransportError(rest.Service, err)
	}
	if err := remote.CheckResponse(rest.Service, c.rest.Source, resp); err != nil {
		return graphql.Answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return graphql.Answer{}, remote.TransportError(rest.Service, err)
	}
	a := graphql.Answer{AsOf: remote.AsOf(resp)}
	if err := remote.DecodeJSON(rest.Service, resp, raw, &a); err != nil {
		return graphql.Answer{}, err
	}
	if a.Pull() != nil && !remote.FromCache(ctx) {
		c.rest.Transport.Keep(resp, raw)
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
	if errors.Is(err, remote.ErrNotCached) {
		detail = "the last responses did not use it"
	}
	return fmt.Sprintf("%s unknown: GitHub's GraphQL API is not available (%s)", missing, strings.TrimSuffix(cleantext.Line(detail), "."))
}
