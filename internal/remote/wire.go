package remote

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// secretHeaders never reach an origin other than their own, nor the disk.
var secretHeaders = [...]string{"Authorization", "Cookie", "Proxy-Authorization"}

type secretsKey struct{}

// hideSecrets moves the secret headers of req to its context, where wire finds them: the layer
// between the two writes answers, and the request headers that they vary by, to disk.
func hideSecrets(req *http.Request) *http.Request {
	secrets := http.Header{}
	for _, name := range secretHeaders {
		if v := req.Header[name]; len(v) > 0 {
			secrets[name] = v
		}
	}
	if len(secrets) == 0 {
		return req
	}
	req = req.Clone(context.WithValue(req.Context(), secretsKey{}, secrets))
	for name := range secrets {
		delete(req.Header, name)
	}
	return req
}

// wire is the innermost layer: it restores the secrets, and converts an answer to the form in which
// the cache may store it.
type wire struct {
	base        http.RoundTripper
	maxBody     int64
	keepNoStore bool
	now         func() time.Time
	refused     func()
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if secrets, ok := req.Context().Value(secretsKey{}).(http.Header); ok {
		req = req.Clone(req.Context())
		maps.Copy(req.Header, secrets)
	}
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// Nobody asked for another protocol, and no time limit ends the reading of such a body.
		_ = resp.Body.Close()
		return nil, ErrUpgraded
	}
	if resp.StatusCode == http.StatusUnauthorized {
		w.refused()
	}
	w.arrived(resp.Header)
	resp.Header.Del("Set-Cookie")
	// A service's max-age would allow an answer to be served unconfirmed. Our answers are always
	// confirmed, or explicitly requested from the cache with WithCachedOnly.
	if noStore(resp) && !w.keepNoStore {
		resp.Header.Set("Cache-Control", "no-store")
	} else {
		resp.Header.Set("Cache-Control", "no-cache")
	}
	if resp.ContentLength > w.maxBody {
		_ = resp.Body.Close()
		return nil, ErrTooLarge
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: w.maxBody}
	return resp, nil
}

// serviceDate is the header for the Date that the service sent.
const serviceDate = "Copse-Service-Date"

// arrived corrects the Date of an answer: it has not been given after its arrival, whatever the clock
// of the service shows. An earlier Date remains, because a proxy may have cached the answer.
func (w *wire) arrived(h http.Header) {
	h.Set(serviceDate, h.Get("Date"))
	now := w.now().UTC()
	if date, err := http.ParseTime(h.Get("Date")); err != nil || date.After(now) {
		h.Set("Date", now.Format(http.TimeFormat))
	}
}

func noStore(resp *http.Response) bool {
	return strings.Contains(strings.ToLower(strings.Join(resp.Header.Values("Cache-Control"), ",")), "no-store")
}

// boundedBody fails instead of returning more than left bytes.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return int(b.left), ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

// retrier tries a GET a second time if the first attempt was interrupted before an answer, or got a 5xx.
type retrier struct{ next http.RoundTripper }

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if req.Method != http.MethodGet || !worthRetrying(resp, err) {
		return resp, err
	}
	pause := time.NewTimer(100*time.Millisecond + rand.N(200*time.Millisecond))
	defer pause.Stop()
	select {
	case <-req.Context().Done():
		return resp, err
	case <-pause.C:
	}
	if resp != nil {
		io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) //nolint:errcheck // only frees the connection
		_ = resp.Body.Close()
	}
	return r.next.RoundTrip(req)
}

func worthRetrying(resp *http.Response, err error) bool {
	if err != nil {
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, errConnReset) || errors.Is(err, syscall.EPIPE)
	}
	// A service that names a time is not asked sooner.
	return resp.StatusCode >= 500 && resp.Header.Get("Retry-After") == ""
}
