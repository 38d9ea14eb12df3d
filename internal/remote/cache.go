package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrNotCached is the answer to a request under [WithCachedOnly] that the
// cache cannot answer.
var ErrNotCached = errors.New("not in the cache")

type cachedOnlyKey struct{}

// WithCachedOnly makes requests be answered from the cache alone, whatever
// their age, or fail with [ErrNotCached]. Nothing is sent. [AsOf] tells how old
// the answer is.
func WithCachedOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, cachedOnlyKey{}, true)
}

// FromCache reports whether [WithCachedOnly] holds.
func FromCache(ctx context.Context) bool { return cachedOnly(ctx) }

func cachedOnly(ctx context.Context) bool { return ctx.Value(cachedOnlyKey{}) != nil }

// AsOf returns when the service last confirmed the answer resp, which a [Transport]
// gave: the Date of its answer or of its "not modified", else the local time
// of that. It is the zero time for a response from elsewhere without a Date.
func AsOf(resp *http.Response) time.Time {
	t, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Identity makes one name of what a credential is: host, login, secret. The
// parts cannot be read back from it.
func Identity(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// key returns the name under which the answer to a GET is kept.
func (t *Transport) key(req *http.Request) string {
	return Identity(t.ident, req.URL.String(), req.Header.Get("Accept"))
}

// postKey returns the name under which the answer to a POST is kept, which its body is
// part of, and whether there is one.
func (t *Transport) postKey(req *http.Request) (string, bool) {
	if t.store == nil || req == nil || req.Method != http.MethodPost || req.GetBody == nil {
		return "", false
	}
	r, err := req.GetBody()
	if err != nil {
		return "", false
	}
	body, err := io.ReadAll(r)
	_ = r.Close()
	return Identity(t.ident, req.URL.String(), req.Header.Get("Accept"), string(body)), err == nil
}

// Keep keeps body, the answer resp to a POST that only reads, for [WithCachedOnly].
// Whether such an answer is worth keeping depends on what is in it, so the client
// decides. Requests that may use the network never get it.
func (t *Transport) Keep(resp *http.Response, body []byte) { t.KeepAs(resp.Request, resp, body) }

// KeepAs is Keep for a part of an answer: body is kept as if it were the answer to the
// request asked, which was never sent.
func (t *Transport) KeepAs(asked *http.Request, resp *http.Response, body []byte) {
	key, ok := t.postKey(asked)
	if !ok || resp.StatusCode != http.StatusOK {
		return
	}
	if resp.Header.Get("Cache-Control") == "no-store" {
		t.store.Delete(key)
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Length: %d\r\n\r\n", resp.Header.Get("Date"), len(body))
	b.Write(body)
	t.store.Set(key, b.Bytes())
}

func (t *Transport) fromCache(req *http.Request) (*http.Response, error) {
	missing := fmt.Errorf("get %s: %w", req.URL.Host, ErrNotCached)
	if t.store == nil {
		return nil, missing
	}
	key := t.key(req)
	if req.Method != http.MethodGet {
		var ok bool
		if key, ok = t.postKey(req); !ok {
			return nil, missing
		}
	}
	b, ok := t.store.Get(key)
	if !ok {
		return nil, missing
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), req)
	if err != nil {
		return nil, missing
	}
	return resp, nil
}

// outdated reports whether resp proves that an answer kept earlier is no longer
// one: the thing is gone, or the service no longer wants its answer kept. A
// broken connection, a 5xx or a refusal proves nothing.
func outdated(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Header.Get("Cache-Control") == "no-store"
	case http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// keepOnFailure is a store from which httpcache does not delete: it would after
// every failed request, so that a laptop without network lost the facts that it
// could still show.
type keepOnFailure struct{ *store }

func (keepOnFailure) Delete(string) {}
