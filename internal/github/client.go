package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
)

const (
	service = "GitHub"
	// apiVersion is the version that github.com and all supported Enterprise servers know.
	apiVersion = "2022-11-28"
	mediaType  = "application/vnd.github+json"
	// perPage is GitHub's maximum for one answer.
	perPage = 100
	// maxPages limits the pages read from one list.
	maxPages = 10
)

// Options configure a [Client].
type Options struct {
	// API is the address of the API; see [APIBase].
	API *url.URL
	// Credential is sent to API and nowhere else.
	Credential credential.Credential
	// Version is the program's own, for the User-Agent.
	Version string
	// CacheDir is the directory for answers; empty disables the cache.
	CacheDir string
	// Timeout limits one request; 0 is 15 seconds.
	Timeout time.Duration
	// Base sends the allowed requests; nil is the network.
	Base http.RoundTripper
}

// Client reads from one GitHub server with one credential. It is safe for concurrent use.
type Client struct {
	http      *http.Client
	transport *remote.Transport
	logs      *http.Client // without the token
	api       *url.URL
	header    http.Header
	source    string
	seen      *seen.Lists

	// noGraphQL is the reason why the server gets no more GraphQL requests.
	noGraphQL atomic.Pointer[unavailableError]
	// shape is the index of the first shape that can succeed.
	shape atomic.Int32
	// noQueue means that the server does not know the merge queue.
	noQueue atomic.Bool
}

// New returns a client. It reads and sends nothing yet.
func New(o Options) *Client {
	header := http.Header{
		"Accept":               {mediaType},
		"X-Github-Api-Version": {apiVersion},
		"User-Agent":           {"copse/" + o.Version},
	}
	if o.Credential.Secret != "" {
		header.Set("Authorization", "Bearer "+o.Credential.Secret)
	}
	api := *o.API
	identity := remote.Identity(api.Host, o.Credential.Login, o.Credential.Secret)
	transport := remote.NewTransport(remote.Options{
		Base:     o.Base,
		Allow:    func(r *http.Request) bool { return readsFrom(&api, r) || asksOurs(&api, r) },
		CacheDir: o.CacheDir,
		Identity: identity,
		Timeout:  o.Timeout,
	})
	return &Client{
		http:      &http.Client{Transport: transport, CheckRedirect: stayAt(&api)},
		transport: transport,
		logs:      newLogClient(&api, o),
		api:       &api,
		header:    header,
		source:    o.Credential.Source,
		seen:      seen.New(o.CacheDir, identity),
	}
}

// readsFrom reports whether r only reads, and from the API. For a renamed repository, GitHub
// answers with a redirect to its number, on the same host.
func readsFrom(api *url.URL, r *http.Request) bool {
	return r.Method == http.MethodGet && r.Body == nil &&
		r.URL.Scheme == api.Scheme && r.URL.Host == api.Host && strings.HasPrefix(r.URL.Path, api.Path+"/")
}

// get reads one answer into v.
func (c *Client) get(ctx context.Context, u *url.URL, v any) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return answer{}, fmt.Errorf("read %s: %w", u.Path, err)
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req) //nolint:bodyclose // CheckResponse and ReadJSON close it
	if err != nil {
		return answer{}, remote.TransportError(service, err)
	}
	if err := remote.CheckResponse(service, c.source, resp); err != nil {
		return answer{}, err
	}
	if err := remote.ReadJSON(service, resp, v); err != nil {
		return answer{}, err
	}
	return answer{asOf: remote.AsOf(resp), last: lastPage(resp), more: hasNext(resp)}, nil
}

// answer is the metadata of an answer.
type answer struct {
	asOf time.Time
	last int  // number of the last page; 0 when there is no further one
	more bool // there is a next page
}

// endpoint returns the URL of a part of a repository.
func (c *Client) endpoint(r Repo, query url.Values, parts ...string) *url.URL {
	u := c.api.JoinPath(append([]string{"repos", r.Owner, r.Name}, parts...)...)
	u.RawQuery = query.Encode()
	return u
}

// malformed returns the error for an answer that lacks documented fields.
func malformed(what string) error {
	return &remote.Error{Service: service, Detail: "answered with something that is not " + what}
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
