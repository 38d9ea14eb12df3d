package boards_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/test/otheruser"
	"github.com/copse-dev/copse/internal/wiring/boards"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// Requests of another user, however many, do not keep this user from logging in.
func TestFloodOfAnotherUser(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	env := app.EmptyEnv()
	env.Dir, env.Secrets = t.TempDir(), secret.New(nil)
	env.Environ = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	files, err := servers.Places(env)
	if err != nil {
		t.Fatal(err)
	}
	site := boards.New(boards.Options{Env: env, Files: files, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(site.Close)
	// The clock does not advance, so nobody gets another second's requests.
	gate := servers.NewGate(files.Tokens, httpguard.Options{Rate: 1, Now: func() time.Time { return time.Unix(0, 0) }}, true, func(string) {})
	gate.Beside("all", board.Path, site)
	guarded, err := gate.Guard(t.Context(), supervisor.Worktree{Key: "all"}, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(guarded)
	t.Cleanup(server.Close)
	path, err := site.Link(t.Context(), env.Dir, false)
	if err != nil {
		t.Fatal(err)
	}
	get := func(c *http.Client, path string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = site.Host()
		res, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	dialer := &net.Dialer{}
	stranger := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		otheruser.Do(t, func() { conn, err = dialer.DialContext(ctx, network, address) })
		return conn, err
	}}}
	for n := 0; get(stranger, board.Path+"x") != http.StatusTooManyRequests; n++ {
		if n > 100 {
			t.Fatal("another user has no limit")
		}
	}
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if got := get(own, path); got != http.StatusSeeOther {
		t.Errorf("the link of this user: %d", got)
	}
}

// A link that another user finds in a list of processes opens nothing for that user, and still
// works for its own.
func TestLinkIsForThisUser(t *testing.T) {
	t.Parallel()
	env := app.EmptyEnv()
	env.Dir, env.Secrets = t.TempDir(), secret.New(nil)
	env.Environ = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	files, err := servers.Places(env)
	if err != nil {
		t.Fatal(err)
	}
	site := boards.New(boards.Options{Env: env, Files: files, Logger: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(site)
	t.Cleanup(func() { site.Close(); server.Close() })
	path, err := site.Link(t.Context(), env.Dir, false)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(dial func(context.Context, string, string) (net.Conn, error)) int {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial(ctx, network, server.Listener.Addr().String())
		}}
		defer transport.CloseIdleConnections()
		browser := &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := browser.Get("http://" + site.Host() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	dialer := &net.Dialer{}
	stranger := func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		otheruser.Do(t, func() { conn, err = dialer.DialContext(ctx, network, address) })
		return conn, err
	}
	if os.Getuid() == 0 {
		if got := enter(stranger); got != http.StatusUnauthorized {
			t.Errorf("another user: %d", got)
		}
	}
	if got := enter(dialer.DialContext); got != http.StatusSeeOther {
		t.Errorf("the user: %d", got)
	}
}

// The site looks whose a connection is once: here, the first answer was that it is a stranger's.
func TestOwnerOfConnection(t *testing.T) {
	t.Parallel()
	env := app.EmptyEnv()
	env.Dir, env.Secrets = t.TempDir(), secret.New(nil)
	env.Environ = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	files, err := servers.Places(env)
	if err != nil {
		t.Fatal(err)
	}
	site := boards.New(boards.Options{Env: env, Files: files, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(site.Close)
	var got []httpguard.Standing
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpguard.Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if len(got) == 1 {
			httpguard.Once(r, func() (bool, error) { return false, nil })
		}
		got = append(got, site.Standing(r))
	}))
	server.Start()
	t.Cleanup(server.Close)
	for range 2 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Get(server.URL + board.Path + "x")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if len(got) != 2 || got[0] != httpguard.Own || got[1] != httpguard.Stranger {
		t.Errorf("standings %v", got)
	}
}
