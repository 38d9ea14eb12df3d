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

// ErrNotCached is the error of a request under [WithCachedOnly] that the cache cannot answer.
var ErrNotCached = errors.New("not in the cache")

type cachedOnlyKey struct{}

// WithCachedOnly answers requests only from the cache, whatever the age, or fails with
// [ErrNotCached]. Nothing is sent. [AsOf] returns the time of the answer.
func WithCachedOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, cachedOnlyKey{}, true)
}

// FromCache reports whether [WithCachedOnly] applies.
func FromCache(ctx context.Context) bool { return cachedOnly(ctx) }

func cachedOnly(ctx context.Context) bool { return ctx.Value(cachedOnlyKey{}) != nil }

// AsOf returns when the service last confirmed the answer resp of a [Transport]: the Date of its
// answer or of its "not modified", but at most the local time at which that arrived. It is the zero
// time for a response from elsewhere without a Date.
func AsOf(resp *http.Response) time.Time { return headerTime(resp, "Date") }

// headerTime returns the time in a header, the zero time if there is none.
func headerTime(resp *http.Response, name string) time.Time {
	t, err := http.ParseTime(resp.Header.Get(name))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Identity returns one name for the parts of a credential: host, login, secret. The parts cannot be
// read back from it.
func Identity(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// key returns the name of a cached answer to a GET.
func (t *Transport) key(req *http.Request) string {
	return Identity(t.ident, req.URL.String(), req.Header.Get("Accept"))
}

// postKey returns the name of a cached answer to a POST, which depends on its body, and whether
// there is one.
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

// Keep caches body, the answer resp to a POST that only reads, for [WithCachedOnly]. The client
// decides, because the value of such an answer depends on its content. Requests that may use the
// network never get it.
func (t *Transport) Keep(resp *http.Response, body []byte) { t.KeepAs(resp.Request, resp, body) }

// KeepAs caches a part of an answer, as Keep does: body is cached as if it were the answer to the
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

// outdated reports whether resp proves that a cached answer is no longer valid: the thing no longer
// exists, or the service forbids caching. A broken connection, a 5xx, or a refusal proves nothing.
func outdated(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Header.Get("Cache-Control") == "no-store"
	case http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// keepOnFailure is a store from which httpcache does not delete. Otherwise, it would delete after
// every failed request, and a laptop without network would lose the facts that it could still show.
type keepOnFailure struct{ *store }

func (keepOnFailure) Delete(string) {}
