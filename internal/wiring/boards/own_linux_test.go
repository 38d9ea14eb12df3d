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

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/test/otheruser"
	"github.com/copse-dev/copse/internal/wiring/boards"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

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
