package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gohugoio/httpcache"
)

const (
	defaultTimeout = 15 * time.Second
	// defaultMaxBody is several times the largest page of GitHub or Jira. The cache and the
	// decoder hold about eight copies of a body for a moment.
	defaultMaxBody = 8 << 20
	maxRedirects   = 3
)

var (
	// ErrNotAllowed is the error of a request that Allow refuses.
	ErrNotAllowed = errors.New("request not allowed")
	// ErrTooLarge is the error of reading a body beyond MaxBody.
	ErrTooLarge = errors.New("answer too large")
	// ErrUpgraded is the error of an answer that switches to another protocol.
	ErrUpgraded = errors.New("the server switched to another protocol without a request for it")
	// ErrTimeout is the error of a request that took longer than Timeout. A deadline of the
	// caller's own context remains context.DeadlineExceeded.
	ErrTimeout = errors.New("no answer in time")
)

// Options configure a [Transport]. Only Allow is required.
type Options struct {
	// Base sends the allowed requests; nil is net/http's default transport with tighter limits,
	// which honors the proxy variables of the environment.
	Base http.RoundTripper
	// Allow reports whether a request may be sent. It sees every request, including those that
	// follow a redirect, and must not change it. Nil allows none.
	Allow func(*http.Request) bool
	// CacheDir is the directory for answers, created with mode 0700 when the first one is stored;
	// empty disables the cache. Many processes may share it.
	CacheDir string
	// Secret reports whether a text contains a secret: such an answer is not cached. Nil means that
	// no text does.
	Secret func(text string) bool
	// Identity names the credential without revealing it (see [Identity]). An answer that was
	// cached for one identity is never served to another.
	Identity string
	// KeepNoStore caches answers that the service marks no-store. Jira marks all of them, so none
	// of them could otherwise be shown from the cache.
	KeepNoStore bool
	// Refused is called when the service refuses the credential (401); nil is for nobody.
	Refused func()
	// Timeout limits one request, including its second try and the reading of its body; 0 is 15
	// seconds.
	Timeout time.Duration
	// MaxBody limits a body in bytes; 0 is 8 MiB.
	MaxBody int64
	// Now is the clock for answers without a Date header and for the age of cached ones; nil is
	// time.Now.
	Now func() time.Time
}

// Transport is an http.RoundTripper for a service that is only read. Create it with [NewTransport];
// it is safe for concurrent use.
type Transport struct {
	allow   func(*http.Request) bool
	timeout time.Duration
	plain   http.RoundTripper // second try, then the wire
	cached  http.RoundTripper // conditional requests over plain; nil without a cache
	store   *store
	ident   string
}

// NewTransport returns the transport of one client with one credential.
func NewTransport(o Options) *Transport {
	if o.Base == nil {
		o.Base = newBase()
	}
	if o.Allow == nil {
		o.Allow = func(*http.Request) bool { return false }
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Refused == nil {
		o.Refused = func() {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Transport{
		allow:   o.Allow,
		timeout: o.Timeout,
		plain:   &retrier{next: &wire{base: o.Base, maxBody: o.MaxBody, keepNoStore: o.KeepNoStore, now: o.Now, refused: o.Refused}},
		ident:   o.Identity,
	}
	if o.CacheDir != "" {
		t.store = newStore(o.CacheDir, o.Now, o.Secret)
		t.cached = &httpcache.Transport{
			Transport:   t.plain,
			Cache:       keepOnFailure{t.store},
			CacheKey:    t.key,
			ShouldCache: func(_ *http.Request, resp *http.Response, _ string) bool { return resp.StatusCode == http.StatusOK },
		}
	}
	return t
}

func newBase() http.RoundTripper {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	base = base.Clone()
	base.MaxIdleConnsPerHost = 16
	base.MaxConnsPerHost = 16
	base.IdleConnTimeout = 30 * time.Second
	base.MaxResponseHeaderBytes = 1 << 20
	return base
}

// callRequests is the number of time limits that one call of a client can take.
const callRequests = 4

// WithCallLimit returns a context for one call of a client, which can take many requests, each with
// the time limit timeout (0 is the default). A service that is always slow cannot take longer than
// four of them.
func WithCallLimit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	whole := callRequests * cmp.Or(timeout, defaultTimeout)
	return context.WithTimeoutCause(ctx, whole, fmt.Errorf("%w (%s)", ErrTimeout, whole))
}

// RoundTrip sends req, or answers it from the cache.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.allow(req) {
		closeBody(req)
		return nil, fmt.Errorf("send %s to %s: %w", req.Method, req.URL.Host, ErrNotAllowed)
	}
	first, hops := origin(req)
	if hops > maxRedirects {
		closeBody(req)
		return nil, fmt.Errorf("send %s to %s: stopped after %d redirects", req.Method, req.URL.Host, maxRedirects)
	}
	if cachedOnly(req.Context()) {
		closeBody(req)
		return t.fromCache(req)
	}

	ctx, cancel := context.WithTimeoutCause(req.Context(), t.timeout, fmt.Errorf("%w (%s)", ErrTimeout, t.timeout))
	out := req.Clone(ctx)
	if !sameOrigin(first, req) {
		for _, name := range secretHeaders {
			out.Header.Del(name)
		}
	}
	resp, err := t.send(out)
	if err != nil {
		err = ended(ctx, err)
		cancel()
		return nil, err
	}
	resp.Request = req // the inputs of origin
	resp.Body = &timedBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel}
	return resp, nil
}

func (t *Transport) send(req *http.Request) (*http.Response, error) {
	if t.cached == nil || req.Method != http.MethodGet {
		return t.plain.RoundTrip(req)
	}
	key := t.key(req)
	resp, err := t.cached.RoundTrip(hideSecrets(req))
	if err != nil {
		return nil, err
	}
	if outdated(resp) {
		t.store.Delete(key)
	}
	return resp, nil
}

// CloseIdleConnections passes http.Client.CloseIdleConnections on.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.plain.(*retrier).next.(*wire).base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// origin returns the first request of a chain of redirects, and the number of redirects from it to
// req.
func origin(req *http.Request) (*http.Request, int) {
	hops := 0
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
		hops++
	}
	return req, hops
}

func sameOrigin(a, b *http.Request) bool {
	return a.URL.Scheme == b.URL.Scheme && a.URL.Host == b.URL.Host
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// ended returns why ctx ended, if that is the cause of err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// timedBody keeps the time limit running until the body is read or closed.
type timedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = ended(b.ctx, err)
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
