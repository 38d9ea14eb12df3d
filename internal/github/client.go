package github

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/github/graphql"
	"github.com/copse-dev/copse/internal/github/joblog"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
)

// Options configure a [Client].
type Options struct {
	// API is the address of the API; see [remoteurl.APIBase].
	API *url.URL
	// Credential is sent to API and nowhere else.
	Credential credential.Credential
	// Version is the program's own, for the User-Agent.
	Version string
	// CacheDir is the directory for answers; empty disables the cache.
	CacheDir string
	// Secret reports whether a text contains a secret: nothing with one is cached. Nil means that no
	// text does.
	Secret func(text string) bool
	// Timeout limits one request; 0 is 15 seconds.
	Timeout time.Duration
	// Refused is called when GitHub refuses the credential; nil is for nobody.
	Refused func()
	// Base sends the allowed requests; nil is the network.
	Base http.RoundTripper
}

// Client reads from one GitHub server with one credential. It is safe for concurrent use.
type Client struct {
	rest *rest.Conn
	logs *joblog.Reader
	seen *seen.Lists
	// identity names the API and the credential without revealing it.
	identity string
	// timeout limits one request.
	timeout time.Duration

	// noGraphQL is the reason why the server gets no more GraphQL requests.
	noGraphQL atomic.Pointer[unavailableError]
	// shape is the index of the first shape that can succeed.
	shape atomic.Int32
	// noQueue means that the server does not know the merge queue.
	noQueue atomic.Bool
}

// New returns a client. It reads and sends nothing yet.
func New(o Options) *Client {
	api := *o.API
	identity := remote.Identity(api.Host, o.Credential.Login, o.Credential.Secret)
	conn := rest.New(rest.Options{
		API: &api, Credential: o.Credential, Version: o.Version, CacheDir: o.CacheDir, Secret: o.Secret, Identity: identity, Timeout: o.Timeout, Base: o.Base, Refused: o.Refused,
		Posts: func(r *http.Request) bool { return graphql.Allowed(&api, r) },
	})
	return &Client{rest: conn, logs: joblog.New(conn, o.Base, o.Timeout), seen: seen.New(o.CacheDir, identity, o.Secret), identity: identity, timeout: o.Timeout}
}

// Identity returns one name for the API and the credential, which cannot be read back from it.
func (c *Client) Identity() string { return c.identity }

// Logs adds to the first failing checks that are jobs of GitHub Actions the end of the failing
// step's log, and to Notes which logs are missing, and why.
func (c *Client) Logs(ctx context.Context, r remoteurl.Repo, s *pullrequest.Status) {
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	c.logs.Add(ctx, r, s)
}
