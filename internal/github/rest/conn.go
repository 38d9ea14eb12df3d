// Package rest reads from GitHub's REST API: pull requests and lists of them, reviews, checks, and
// the rules of branches.
//
// Use [New], and the methods of [Conn]. A connection sends GET requests to the API, and others only
// if [Options].Posts allows them. Lists are read page by page up to a limit, and a part that the
// credential cannot read is a note, not an error.
package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/remote"
)

const (
	// Service is the name of the service in errors and facts.
	Service = "GitHub"
	// apiVersion is the version that github.com and all supported Enterprise servers know.
	apiVersion = "2022-11-28"
	mediaType  = "application/vnd.github+json"
	// PerPage is GitHub's maximum for one answer.
	PerPage = 100
	// MaxPages limits the pages read from one list.
	MaxPages = 10
)

// Conn is a connection to a GitHub server's REST API with one credential. It is safe for concurrent
// use.
type Conn struct {
	// HTTP sends requests through Transport, which refuses those that New did not allow.
	HTTP      *http.Client
	Transport *remote.Transport
	// API is the address of the API.
	API *url.URL
	// Header is that of every request, with the credential. Clone it.
	Header http.Header
	// Source is where the credential came from, for errors.
	Source string
}

// Options configure a [Conn].
type Options struct {
	// API is the address of the API.
	API *url.URL
	// Credential is sent to API and nowhere else.
	Credential credential.Credential
	// Version is the program's own, for the User-Agent.
	Version string
	// CacheDir is the directory for answers; empty disables the cache. Identity separates those of
	// different credentials.
	CacheDir, Identity string
	// Refused is called when GitHub refuses the credential; nil is for nobody.
	Refused func()
	// Secret reports whether a text contains a secret; see [remote.Options].
	Secret func(text string) bool
	// Timeout limits one request; 0 is 15 seconds.
	Timeout time.Duration
	// Base sends the allowed requests; nil is the network.
	Base http.RoundTripper
	// Posts reports which requests may be sent besides GET requests to API.
	Posts func(*http.Request) bool
}

// New returns a connection. It sends nothing yet.
func New(o Options) *Conn {
	header := http.Header{
		"Accept":               {mediaType},
		"X-Github-Api-Version": {apiVersion},
		"User-Agent":           {"copse/" + o.Version},
	}
	if o.Credential.Secret != "" {
		header.Set("Authorization", "Bearer "+o.Credential.Secret)
	}
	api := *o.API
	transport := remote.NewTransport(remote.Options{
		Base:     o.Base,
		Allow:    func(r *http.Request) bool { return readsFrom(&api, r) || o.Posts(r) },
		CacheDir: o.CacheDir,
		Secret:   o.Secret,
		Identity: o.Identity,
		Refused:  o.Refused,
		Timeout:  o.Timeout,
	})
	return &Conn{
		HTTP:      &http.Client{Transport: transport, CheckRedirect: stayAt(&api)},
		Transport: transport,
		API:       &api,
		Header:    header,
		Source:    o.Credential.Source,
	}
}

// readsFrom reports whether r only reads, and from the API. For a renamed repository, GitHub
// answers with a redirect to its number, on the same host.
func readsFrom(api *url.URL, r *http.Request) bool {
	return r.Method == http.MethodGet && r.Body == nil &&
		r.URL.Scheme == api.Scheme && r.URL.Host == api.Host && strings.HasPrefix(r.URL.Path, api.Path+"/")
}

// Get reads one answer into v.
func (c *Conn) Get(ctx context.Context, u *url.URL, v any) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Answer{}, fmt.Errorf("read %s: %w", u.Path, err)
	}
	req.Header = c.Header.Clone()
	resp, err := c.HTTP.Do(req) //nolint:bodyclose // CheckResponse and ReadJSON close it
	if err != nil {
		return Answer{}, remote.TransportError(Service, err)
	}
	if err := remote.CheckResponse(Service, c.Source, resp); err != nil {
		return Answer{}, err
	}
	if err := remote.ReadJSON(Service, resp, v); err != nil {
		return Answer{}, err
	}
	return Answer{asOf: remote.AsOf(resp), last: lastPage(resp), more: hasNext(resp)}, nil
}

// Answer is the metadata of an answer.
type Answer struct {
	asOf time.Time
	last int  // number of the last page; 0 when there is no further one
	more bool // there is a next page
}

// Endpoint returns the URL of a part of a repository.
func (c *Conn) Endpoint(r remoteurl.Repo, query url.Values, parts ...string) *url.URL {
	u := c.API.JoinPath(append([]string{"repos", r.Owner, r.Name}, parts...)...)
	u.RawQuery = query.Encode()
	return u
}

// Malformed returns the error for an answer that lacks documented fields.
func Malformed(what string) error {
	return &remote.Error{Service: Service, Detail: "returned something that is not " + what}
}

func page(n, size int) url.Values {
	return url.Values{"page": {strconv.Itoa(n)}, "per_page": {strconv.Itoa(size)}}
}

func hasNext(resp *http.Response) bool { return link(resp, "next") != nil }

func lastPage(resp *http.Response) int {
	u := link(resp, "last")
	if u == nil {
		return 0
	}
	n, err := strconv.Atoi(u.Query().Get("page"))
	if err != nil {
		return 0
	}
	return n
}

// link returns the target for rel in a Link header (RFC 8288), in GitHub's form: <url>; rel="next",
// <url>; rel="last".
func link(resp *http.Response, rel string) *url.URL {
	for _, h := range resp.Header.Values("Link") {
		for part := range strings.SplitSeq(h, ",") {
			target, params, ok := strings.Cut(part, ">")
			target, found := strings.CutPrefix(strings.TrimSpace(target), "<")
			if !ok || !found || !strings.Contains(params, `rel="`+rel+`"`) {
				continue
			}
			if u, err := url.Parse(target); err == nil {
				return u
			}
		}
	}
	return nil
}

// stayAt follows redirects within the API's host and leaves others to the caller.
func stayAt(api *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, _ []*http.Request) error {
		if isLogPath(r.Response.Request.URL.Path) && (r.URL.Host != api.Host || r.URL.Scheme != api.Scheme || !isLogPath(r.URL.Path)) {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

// isLogPath reports whether a path of the API is that of a job's log.
func isLogPath(path string) bool {
	return strings.Contains(path, "/actions/jobs/") && strings.HasSuffix(path, "/logs")
}

// Earlier returns the earlier of two times; a zero time is unset.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
