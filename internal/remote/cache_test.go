package remote_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/remote"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

const (
	monday  = "Mon, 02 Nov 2026 10:00:00 GMT"
	tuesday = "Tue, 03 Nov 2026 10:00:00 GMT"
)

func wednesday() time.Time { return time.Date(2026, 11, 4, 10, 0, 0, 0, time.UTC) }

// resource is an answer with an ETag, as GitHub gives it.
type resource struct {
	mu               sync.Mutex
	body, etag, date string
	status           int
	full, confirmed  int
}

func (r *resource) set(f func(*resource)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

func (r *resource) counts() [2]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return [2]int{r.full, r.confirmed}
}

func (r *resource) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := w.Header()
	h.Set("Date", r.date)
	h.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	h.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding")
	h.Set("Set-Cookie", "id=cookie-secret")
	if r.etag != "" {
		h.Set("Etag", r.etag)
	}
	switch {
	case r.status != 0:
		w.WriteHeader(r.status)
	case r.etag != "" && req.Header.Get("If-None-Match") == r.etag:
		r.confirmed++
		w.WriteHeader(http.StatusNotModified)
	default:
		r.full++
		io.WriteString(w, r.body)
	}
}

func asOf(t *testing.T, resp *http.Response, want string) {
	t.Helper()
	if got := remote.AsOf(resp).Format(http.TimeFormat); got != want {
		t.Errorf("got an answer as of %s, want %s", got, want)
	}
}

func TestAnswersAreConfirmedEachTime(t *testing.T) {
	t.Parallel()
	t.Run("HTTP/1.1", func(t *testing.T) { t.Parallel(); confirmEachTime(t, http1) })
	t.Run("HTTP/2", func(t *testing.T) { t.Parallel(); confirmEachTime(t, http2) })
}

func confirmEachTime(t *testing.T, start func(*testing.T, http.HandlerFunc) (string, http.RoundTripper)) {
	t.Helper()
	r := &resource{body: "one", etag: `W/"1"`, date: monday}
	url, base := start(t, r.ServeHTTP)
	c := client(t, remote.Options{Base: base, CacheDir: t.TempDir(), Now: wednesday})

	resp, _ := mustGet(t, c, url)
	asOf(t, resp, monday)
	r.set(func(r *resource) { r.date = tuesday })
	for range 2 { // the confirmation is kept too
		resp, body := mustGet(t, c, url)
		asOf(t, resp, tuesday)
		if resp.StatusCode != 200 || body != "one" {
			t.Errorf("got %d %q", resp.StatusCode, body)
		}
	}
	resp, body, err := get(remote.WithCachedOnly(t.Context()), c, url)
	if err != nil || body != "one" {
		t.Fatalf("from the cache: got %q, %v", body, err)
	}
	asOf(t, resp, tuesday)

	r.set(func(r *resource) { r.body, r.etag = "two", `W/"2"` })
	if _, body = mustGet(t, c, url); body != "two" {
		t.Errorf("got %q after the change", body)
	}
	if got := r.counts(); got != [2]int{2, 2} {
		t.Errorf("got %v full and confirming answers, want [2 2]", got)
	}
}

func TestAsOfWithoutADate(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
		}
	})
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	c := client(t, remote.Options{CacheDir: t.TempDir(), Now: func() time.Time { return now }})
	resp, _ := mustGet(t, c, s.URL)
	asOf(t, resp, monday)
	now = now.AddDate(0, 0, 1)
	resp, _ = mustGet(t, c, s.URL)
	asOf(t, resp, tuesday)
	if got := remote.AsOf(&http.Response{}); !got.IsZero() {
		t.Errorf("got %v for a foreign answer", got)
	}
}

// No answer is later than its arrival, whatever the clock of the service shows. A pause that names a
// time is relative to that clock.
func TestServiceClockAhead(t *testing.T) {
	t.Parallel()
	r := &resource{body: "one", etag: `"1"`, date: "Wed, 04 Nov 2026 13:00:00 GMT"}
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Retry-After", "Wed, 04 Nov 2026 13:01:00 GMT")
		w.Header().Set("Copse-Service-Date", monday)
		r.ServeHTTP(w, req)
	})
	const arrival = "Wed, 04 Nov 2026 10:00:00 GMT"
	c := client(t, remote.Options{CacheDir: t.TempDir(), Now: wednesday})
	for range 2 { // an answer, and its confirmation
		resp, _ := mustGet(t, c, s.URL)
		asOf(t, resp, arrival)
		if got := remote.RetryAfter(resp); got != time.Minute {
			t.Errorf("a pause of %v", got)
		}
	}
	resp, _, err := get(remote.WithCachedOnly(t.Context()), c, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	asOf(t, resp, arrival)
}

func TestProcessesShareACache(t *testing.T) {
	t.Parallel()
	r := &resource{body: "one", etag: `"1"`, date: monday}
	s := serve(t, r.ServeHTTP)
	dir := t.TempDir()
	me := remote.Options{CacheDir: dir, Identity: remote.Identity("h", "me", "x")}
	you := remote.Options{CacheDir: dir, Identity: remote.Identity("h", "you", "x")}

	mustGet(t, client(t, me), s.URL)
	mustGet(t, client(t, me), s.URL)
	if got := r.counts(); got != [2]int{1, 1} {
		t.Errorf("same identity: got %v full and confirming answers, want [1 1]", got)
	}
	if _, _, err := get(remote.WithCachedOnly(t.Context()), client(t, you), s.URL); !errors.Is(err, remote.ErrNotCached) {
		t.Errorf("another identity: got error %v, want ErrNotCached", err)
	}
	mustGet(t, client(t, you), s.URL)
	if got := r.counts(); got != [2]int{2, 1} {
		t.Errorf("another identity: got %v full and confirming answers, want [2 1]", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	r := &resource{body: strings.Repeat("one", 1000), etag: `"1"`, date: monday}
	s := serve(t, r.ServeHTTP)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		c := client(t, remote.Options{CacheDir: dir})
		for range 4 {
			wg.Go(func() {
				for i := range 10 {
					if _, body, err := get(t.Context(), c, fmt.Sprintf("%s/%d", s.URL, i%2)); err != nil || body != r.body {
						t.Errorf("got %d bytes, error %v", len(body), err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestIdentityKeepsPartsApart(t *testing.T) {
	t.Parallel()
	if remote.Identity("ab", "c") == remote.Identity("a", "bc") {
		t.Error("different parts have the same identity")
	}
	if strings.Contains(remote.Identity("host", "hunter2"), "hunter2") {
		t.Error("the identity holds the secret")
	}
}

func TestNoSecretReachesTheDisk(t *testing.T) {
	t.Parallel()
	r := &resource{body: "one", etag: `"1"`, date: monday}
	s := serve(t, r.ServeHTTP)
	dir := t.TempDir()
	c := client(t, remote.Options{CacheDir: dir, Identity: remote.Identity("h", "l", "top-secret")})
	for range 2 {
		mustGet(t, c, s.URL+"/?token=query-secret", "Authorization", "Bearer top-secret", "Cookie", "a=jar-secret")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		b, err := os.ReadFile(path)
		for _, secret := range []string{"secret", "Bearer", "Authorization:"} {
			if strings.Contains(string(b)+path, secret) {
				t.Errorf("%q is in %s:\n%s", secret, d.Name(), b)
			}
		}
		info, ierr := d.Info()
		if ierr == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return errors.Join(err, ierr)
	})
	if err != nil || n != 1 {
		t.Errorf("looked at %d files, error %v", n, err)
	}
}

// An answer that repeats a secret is not cached, and replaces the cached one.
func TestRepeatedSecretIsNotCached(t *testing.T) {
	t.Parallel()
	r := &resource{body: "one", etag: `"1"`, date: monday}
	s := serve(t, r.ServeHTTP)
	dir := t.TempDir()
	c := client(t, remote.Options{CacheDir: dir, Secret: func(text string) bool { return strings.Contains(text, "top-secret") }})
	for _, step := range []struct {
		body  string
		files int
	}{{"one", 1}, {"you sent top-secret", 0}} {
		r.body, r.etag = step.body, strconv.Quote(step.body)
		mustGet(t, c, s.URL+"/")
		if found, err := os.ReadDir(dir); err != nil || len(found) != step.files {
			t.Errorf("%q: %d files, %v", step.body, len(found), err)
		}
	}
}

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		o      remote.Options
		kept   bool
	}{
		{"200 without validator", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") }, remote.Options{}, true},
		{"200 empty", func(http.ResponseWriter, *http.Request) {}, remote.Options{}, true},
		{"200 chunked", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); io.WriteString(w, "x") }, remote.Options{}, true},
		{"200 compressed", compressed("x"), remote.Options{}, true},
		{"201", status(201), remote.Options{}, false},
		{"204", status(204), remote.Options{}, false},
		{"404", status(404), remote.Options{}, false},
		{"500", status(500), remote.Options{}, false},
		{"no-store", noStore, remote.Options{}, false},
		{"no-store, asked for", noStore, remote.Options{KeepNoStore: true}, true},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "x")
		}, remote.Options{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answer)
			tt.o.CacheDir = t.TempDir()
			c := client(t, tt.o)
			_, want, _ := get(t.Context(), c, s.URL)
			_, got, err := get(remote.WithCachedOnly(t.Context()), c, s.URL)
			switch {
			case tt.kept && (err != nil || got != want):
				t.Errorf("got %q, %v; want %q", got, err, want)
			case !tt.kept && !errors.Is(err, remote.ErrNotCached):
				t.Errorf("got %q, %v; want ErrNotCached", got, err)
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func noStore(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, no-store, no-transform")
	io.WriteString(w, "x")
}

func compressed(s string) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(b.Bytes())
	}
}

func TestWhatBecomesOfAKeptAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		then http.HandlerFunc
		kept bool
	}{
		{"500", status(500), true},
		{"429", status(429), true},
		{"401", status(401), true},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) { drop(w, false) }, true},
		{"404", status(404), false},
		{"410", status(410), false},
		{"no-store", noStore, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) == 1 {
					w.Header().Set("Etag", `"1"`)
					w.Header().Set("Cache-Control", "stale-if-error=3600") // not for us to decide
					io.WriteString(w, "old")
					return
				}
				tt.then(w, r)
			})
			c := client(t, remote.Options{CacheDir: t.TempDir()})
			mustGet(t, c, s.URL)
			if resp, body, err := get(t.Context(), c, s.URL); err == nil && body == "old" {
				t.Errorf("the kept answer hides a %d", resp.StatusCode)
			}
			_, body, err := get(remote.WithCachedOnly(t.Context()), c, s.URL)
			if kept := err == nil && body == "old"; kept != tt.kept {
				t.Errorf("then from the cache: got %q, %v; want it kept: %t", body, err, tt.kept)
			}
		})
	}
}

func TestCachedOnlySendsNothing(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
	ctx := remote.WithCachedOnly(t.Context())
	for name, o := range map[string]remote.Options{
		"empty cache":      {CacheDir: t.TempDir()},
		"no cache":         {},
		"no such folder":   {CacheDir: filepath.Join(t.TempDir(), "none")},
		"folder no folder": {CacheDir: plainFile(t)},
	} {
		_, _, err := get(ctx, client(t, o), s.URL)
		if !errors.Is(err, remote.ErrNotCached) {
			t.Errorf("%s: got error %v", name, err)
		}
		if got := remote.TransportError("GitHub", err); !errors.Is(got, remote.ErrNotCached) || errors.As(got, new(*remote.Error)) {
			t.Errorf("%s: TransportError makes it %v", name, got)
		}
	}
	if n.Load() != 0 {
		t.Errorf("%d requests were sent", n.Load())
	}
}

func plainFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABrokenCacheFailsNoRequest(t *testing.T) {
	t.Parallel()
	r := &resource{body: "one", etag: `"1"`, date: monday}
	s := serve(t, r.ServeHTTP)
	for range 2 {
		if _, body := mustGet(t, client(t, remote.Options{CacheDir: plainFile(t)}), s.URL); body != "one" {
			t.Errorf("got %q", body)
		}
	}
}

// entries returns the files of a cache directory.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCorruptEntriesAreMisses(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"cut":            func(b []byte) []byte { return b[:len(b)-1] },
		"one bit":        func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"other format":   func(b []byte) []byte { return append([]byte("x"), b...) },
		"no line at all": func([]byte) []byte { return []byte("copse-http-1") },
		"appended":       func(b []byte) []byte { return append(b, "more"...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &resource{body: "one", etag: `"1"`, date: monday}
			s := serve(t, r.ServeHTTP)
			dir := t.TempDir()
			c := client(t, remote.Options{CacheDir: dir})
			mustGet(t, c, s.URL)
			files := entries(t, dir)
			if len(files) != 1 {
				t.Fatalf("got files %v", files)
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := get(remote.WithCachedOnly(t.Context()), c, s.URL); !errors.Is(err, remote.ErrNotCached) {
				t.Errorf("from the cache: got error %v", err)
			}
			for range 2 { // a miss heals
				if _, body := mustGet(t, c, s.URL); body != "one" {
					t.Errorf("got %q", body)
				}
			}
			if got := r.counts(); got != [2]int{2, 1} {
				t.Errorf("got %v full and confirming answers, want [2 1]", got)
			}
		})
	}
}

func TestPruning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	file := func(name string, size int64, age time.Duration) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	file("old.entry", 1, 31*day)
	file("large-5.entry", 30<<20, 5*day)
	file("large-4.entry", 30<<20, 4*day)
	file("large-3.entry", 30<<20, 3*day)
	file("stranded.tmp", 1, day)
	file("underway.tmp", 1, time.Minute)
	file("foreign.txt", 1, 99*day)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") })
	c := client(t, remote.Options{CacheDir: dir, Now: func() time.Time { return now }})
	mustGet(t, c, s.URL)

	left := map[string]bool{}
	for _, f := range entries(t, dir) {
		left[filepath.Base(f)] = true
	}
	for name, want := range map[string]bool{
		"old.entry": false, "large-5.entry": false, "large-4.entry": true, "large-3.entry": true,
		"stranded.tmp": false, "underway.tmp": true, "foreign.txt": true,
	} {
		if left[name] != want {
			t.Errorf("%s: left %t, want %t", name, left[name], want)
		}
	}
	if len(left) != 5 { // the four above and the new one
		t.Errorf("left are %v", left)
	}

	file("old.entry", 1, 31*day)
	mustGet(t, c, s.URL+"/2")
	if _, err := os.Stat(filepath.Join(dir, "old.entry")); err != nil {
		t.Errorf("the folder was pruned again after a small write: %v", err)
	}
}

func BenchmarkConfirmedAnswer(b *testing.B) {
	body := strings.Repeat("x", 25<<10)
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)), Request: r,
			Header: http.Header{"Etag": {`"1"`}, "Date": {monday}}, Body: io.NopCloser(strings.NewReader(body))}
		if r.Header.Get("If-None-Match") != "" {
			resp.StatusCode, resp.ContentLength, resp.Body = 304, 0, http.NoBody
		}
		return resp, nil
	})
	c := &http.Client{Transport: remote.NewTransport(remote.Options{Base: base, Allow: onlyGET, CacheDir: b.TempDir()})}
	for _, mode := range []struct {
		name string
		ctx  context.Context
	}{{"confirmed", b.Context()}, {"cached only", remote.WithCachedOnly(b.Context())}} {
		if _, _, err := get(b.Context(), c, "http://h/"); err != nil {
			b.Fatal(err)
		}
		b.Run(mode.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, got, err := get(mode.ctx, c, "http://h/"); err != nil || len(got) != len(body) {
					b.Fatal(err)
				}
			}
		})
	}
}
