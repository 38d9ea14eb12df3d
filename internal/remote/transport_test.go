package remote_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/remote"
)

// serve starts a server that is closed with the test.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func onlyGET(r *http.Request) bool { return r.Method == http.MethodGet }

func client(t *testing.T, o remote.Options) *http.Client {
	t.Helper()
	if o.Allow == nil {
		o.Allow = onlyGET
	}
	c := &http.Client{Transport: remote.NewTransport(o)}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get returns the answer with its body read, as text.
func get(ctx context.Context, c *http.Client, url string, header ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func mustGet(t *testing.T, c *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	resp, body, err := get(t.Context(), c, url, header...)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	return resp, body
}

func TestNothingButWhatIsAllowedLeaves(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	methods := []string{
		http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace, "PROPFIND", "get", "QUERY",
	}
	for name, allow := range map[string]func(*http.Request) bool{"only GET": onlyGET, "nothing said": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &http.Client{Transport: remote.NewTransport(remote.Options{Allow: allow, CacheDir: t.TempDir()})}
			refused := methods
			if allow == nil {
				refused = append(slices.Clone(methods), http.MethodGet)
			}
			for _, m := range refused {
				req, err := http.NewRequestWithContext(t.Context(), m, s.URL, strings.NewReader("x"))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := c.Do(req)
				if err == nil {
					resp.Body.Close()
				}
				if !errors.Is(err, remote.ErrNotAllowed) {
					t.Errorf("%s: got error %v, want ErrNotAllowed", m, err)
				}
			}
		})
	}
	t.Cleanup(func() {
		if n := reached.Load(); n != 0 {
			t.Errorf("%d requests reached the server", n)
		}
	})
}

func TestRedirectsAreAskedForToo(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	c := client(t, remote.Options{Allow: func(r *http.Request) bool { return "http://"+r.URL.Host == s.URL }})
	if _, _, err := get(t.Context(), c, s.URL); !errors.Is(err, remote.ErrNotAllowed) {
		t.Errorf("got error %v, want ErrNotAllowed", err)
	}
	if reached.Load() != 0 {
		t.Error("the other host was reached")
	}
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	// net/http itself would send them on: the two hosts differ in nothing but
	// the port.
	for _, cached := range []bool{false, true} {
		t.Run(fmt.Sprintf("cache %t", cached), func(t *testing.T) {
			t.Parallel()
			var back *httptest.Server
			got := make(chan string, 3)
			other := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got <- "other:" + r.Header.Get("Authorization") + r.Header.Get("Cookie")
				if r.URL.Path == "/" {
					http.Redirect(w, r, "/again", http.StatusFound)
					return
				}
				http.Redirect(w, r, back.URL+"/end", http.StatusFound)
			})
			back = serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					http.Redirect(w, r, other.URL, http.StatusFound)
					return
				}
				fmt.Fprint(w, "end")
			})
			o := remote.Options{}
			if cached {
				o.CacheDir = t.TempDir()
			}
			if _, body := mustGet(t, client(t, o), back.URL, "Authorization", "Bearer secret", "Cookie", "c=1"); body != "end" {
				t.Errorf("got body %q", body)
			}
			for range 2 {
				if g := <-got; g != "other:" {
					t.Errorf("the other origin got %q", g)
				}
			}
		})
	}
}

// TestCredentialsStayWhateverTheBase: net/http sends credentials on to a
// subdomain, and a base need not say which request it answered.
func TestCredentialsStayWhateverTheBase(t *testing.T) {
	t.Parallel()
	var got []string
	c := client(t, remote.Options{Base: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.URL.Host+":"+r.Header.Get("Authorization"))
		resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}
		if r.URL.Host == "api.example" {
			resp.StatusCode = 302
			resp.Header.Set("Location", "https://evil.api.example/")
		}
		return resp, nil
	})})
	mustGet(t, c, "https://api.example/", "Authorization", "Bearer secret")
	if diff := cmp.Diff([]string{"api.example:Bearer secret", "evil.api.example:"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEndlessRedirectsEnd(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/%d", n.Add(1)), http.StatusFound)
	})
	if _, _, err := get(t.Context(), client(t, remote.Options{}), s.URL); err == nil || !strings.Contains(err.Error(), "3 redirects") {
		t.Errorf("got error %v", err)
	}
	if n.Load() != 4 {
		t.Errorf("got %d requests, want 4", n.Load())
	}
}

// hang writes what write does and then nothing more until the client leaves.
func hang(write func(http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if write != nil {
			write(w)
			http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(http.ResponseWriter){
		"no answer":  nil,
		"no body":    func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"half body":  func(w http.ResponseWriter) { io.WriteString(w, "half") },
		"half of it": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); io.WriteString(w, "half") },
	} {
		for _, start := range []func(*testing.T, http.HandlerFunc) (string, http.RoundTripper){http1, http2} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url, base := start(t, hang(write))
				c := client(t, remote.Options{Base: base, Timeout: 100 * time.Millisecond, CacheDir: t.TempDir()})
				_, _, err := get(t.Context(), c, url)
				if !errors.Is(err, remote.ErrTimeout) {
					t.Errorf("got error %v, want ErrTimeout", err)
				}
				if _, _, err := get(remote.WithCachedOnly(t.Context()), c, url); !errors.Is(err, remote.ErrNotCached) {
					t.Errorf("then from the cache: got error %v, want ErrNotCached", err)
				}
			})
		}
	}
}

// The body of an answer that switches protocols is the bare connection, which no time limit ends.
func TestSwitchedProtocols(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
	})
	for _, cache := range []string{"", t.TempDir()} {
		c := client(t, remote.Options{CacheDir: cache})
		if _, _, err := get(t.Context(), c, s.URL); !errors.Is(err, remote.ErrUpgraded) {
			t.Errorf("cache %q: got %v", cache, err)
		}
	}
}

func http1(t *testing.T, h http.HandlerFunc) (string, http.RoundTripper) {
	t.Helper()
	return serve(t, h).URL, nil
}

// http2 starts a server for HTTP/2, which is what GitHub and Jira speak.
func http2(t *testing.T, h http.HandlerFunc) (string, http.RoundTripper) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL, s.Client().Transport
}

func TestCancelEndsARequest(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, _, err := get(ctx, client(t, remote.Options{}), s.URL)
	if !errors.Is(err, context.Canceled) || errors.Is(err, remote.ErrTimeout) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// drop closes the connection of w, with a reset if asked.
func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func TestOneSecondTry(t *testing.T) {
	t.Parallel()
	fail := map[string]func(http.ResponseWriter){
		"500":                  func(w http.ResponseWriter) { w.WriteHeader(500) },
		"502 with a body":      func(w http.ResponseWriter) { w.WriteHeader(502); w.Write(make([]byte, 1<<20)) },
		"closed":               func(w http.ResponseWriter) { drop(w, false) },
		"reset":                func(w http.ResponseWriter) { drop(w, true) },
		"503 with Retry-After": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "9"); w.WriteHeader(503) },
		"404":                  func(w http.ResponseWriter) { w.WriteHeader(404) },
		"429":                  func(w http.ResponseWriter) { w.WriteHeader(429) },
	}
	for _, tt := range []struct {
		name, fail, method string
		failures, want     int
		ok                 bool
	}{
		{"500 once", "500", "GET", 1, 2, true},
		{"500 twice", "500", "GET", 2, 2, false},
		{"502 once", "502 with a body", "GET", 1, 2, true},
		{"closed once", "closed", "GET", 1, 2, true},
		{"closed always", "closed", "GET", 9, 2, false},
		{"reset once", "reset", "GET", 1, 2, true},
		{"the service says when", "503 with Retry-After", "GET", 1, 1, false},
		{"404", "404", "GET", 1, 1, false},
		{"429", "429", "GET", 1, 1, false},
		{"POST", "500", "POST", 1, 1, false},
		{"POST closed", "closed", "POST", 1, 1, false},
	} {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cache %t", tt.name, cached), func(t *testing.T) {
				t.Parallel()
				var n atomic.Int32
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					if int(n.Add(1)) <= tt.failures {
						fail[tt.fail](w)
						return
					}
					io.WriteString(w, "fine")
				})
				// A connection of its own for each request: net/http repeats
				// one by itself that a kept connection swallowed.
				o := remote.Options{Base: &http.Transport{DisableKeepAlives: true}, Allow: func(*http.Request) bool { return true }}
				if cached {
					o.CacheDir = t.TempDir()
				}
				req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client(t, o).Do(req)
				ok := err == nil && resp.StatusCode == 200
				if err == nil {
					resp.Body.Close()
				}
				if ok != tt.ok || int(n.Load()) != tt.want {
					t.Errorf("got success %t (%v) after %d requests, want %t after %d", ok, err, n.Load(), tt.ok, tt.want)
				}
			})
		}
	}
}

func TestThePauseEndsWithTheCall(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		cancel()
		drop(w, false)
	})
	if _, _, err := get(ctx, client(t, remote.Options{}), s.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if n.Load() != 1 {
		t.Errorf("got %d requests, want 1", n.Load())
	}
}

func TestBodyBound(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 1000)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, body)
	z.Close()
	forms := map[string]http.HandlerFunc{
		"length known":   func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) },
		"length unknown": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); io.WriteString(w, body) },
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped.Bytes())
		},
	}
	for name, h := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, h)
			for _, tt := range []struct {
				max int64
				ok  bool
			}{{1000, true}, {1001, true}, {999, false}, {1, false}} {
				_, got, err := get(t.Context(), client(t, remote.Options{MaxBody: tt.max, CacheDir: t.TempDir()}), s.URL)
				if tt.ok && (err != nil || got != body) {
					t.Errorf("bound %d: got %d bytes, error %v", tt.max, len(got), err)
				}
				if !tt.ok && (!errors.Is(err, remote.ErrTooLarge) || int64(len(got)) > tt.max) {
					t.Errorf("bound %d: got %d bytes, error %v, want ErrTooLarge", tt.max, len(got), err)
				}
			}
		})
	}
}

func TestErrorsHideUserinfo(t *testing.T) {
	t.Parallel()
	c := client(t, remote.Options{Base: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(`invalid proxy address "http://me:hunter2@proxy:99"`)
	})})
	_, _, err := get(t.Context(), c, "http://u:topsecret@example.invalid/x")
	got := remote.TransportError("GitHub", err).Error()
	if strings.Contains(got, "hunter2") || strings.Contains(got, "topsecret") {
		t.Errorf("a secret is in %q", got)
	}
	if want := `GitHub API error: invalid proxy address "http://proxy:99"`; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransportErrorTexts(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.NotFoundHandler())
	downURL := down.URL
	down.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { drop(w, false) })
	slow := serve(t, hang(nil))
	host := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u.Host
	}
	noHost := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "ghe.example", IsNotFound: true}}
	})
	for _, tt := range []struct {
		name, url string
		o         remote.Options
		want      string
	}{
		{"refused", downURL, remote.Options{}, "connection refused by " + host(downURL)},
		{"untrusted", secure.URL, remote.Options{}, "TLS certificate of " + host(secure.URL) + " not accepted: "},
		{"no TLS there", "https://" + host(plain.URL), remote.Options{}, "server gave HTTP response to HTTPS client"},
		{"closed", plain.URL, remote.Options{}, "the connection to " + host(plain.URL) + " was interrupted"},
		{"timeout", slow.URL, remote.Options{Timeout: 20 * time.Millisecond}, "no answer in time (20ms) from " + host(slow.URL)},
		{"no host", "https://ghe.example", remote.Options{Base: noHost}, "no such host: ghe.example"},
		{"too large", serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "xx") }).URL, remote.Options{MaxBody: 1}, "is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := get(t.Context(), client(t, tt.o), tt.url)
			var e *remote.Error
			if !errors.As(remote.TransportError("GitHub", err), &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Kind != remote.Failed || e.Status != 0 || !strings.Contains(e.Detail, tt.want) {
				t.Errorf("got %+v, want detail %q", e, tt.want)
			}
		})
	}
}
