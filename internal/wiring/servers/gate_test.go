package servers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// A token opens the server of its worktree and no other, on every route and method.
func TestTokenOpensOneServer(t *testing.T) {
	t.Parallel()
	store := bearer.NewStore(filepath.Join(t.TempDir(), "tokens"))
	g := servers.NewGate(store, httpguard.Options{Open: []string{"/healthz"}, Now: time.Now, Rate: 10_000}, false, func(string) {})
	inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	keys := []string{"/src/app/.git", "/src/app/.git/worktrees/topic", "/src/other/.git", "/state/servers"} // the last is that of all worktrees
	guarded := map[string]http.Handler{}
	tokens := map[string]string{"nobody": "", "empty prefix": bearer.Prefix}
	renew := func(key string) {
		t.Helper()
		token, err := store.File(key).Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tokens[key] = token
	}
	for _, key := range keys {
		h, err := g.Guard(t.Context(), supervisor.Worktree{Key: key}, inside)
		if err != nil {
			t.Fatal(err)
		}
		guarded[key] = h
		renew(key)
	}
	check := func() {
		t.Helper()
		for key, h := range guarded {
			for owner, token := range tokens {
				for _, route := range []string{"/mcp", "/sse", "/", "/healthz/x", "/MCP", "//mcp", "/mcp/"} {
					for _, method := range []string{"GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"} {
						r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+route, nil)
						r.Header.Set("Authorization", "Bearer "+token)
						w := httptest.NewRecorder()
						h.ServeHTTP(w, r)
						if got := w.Code == http.StatusTeapot; got != (owner == key) {
							t.Errorf("%s %s of %s with the token of %s: %d", method, route, key, owner, w.Code)
						}
					}
				}
			}
		}
	}
	check()
	old := tokens[keys[0]]
	if _, err := store.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		renew(key)
	}
	tokens["before the rotation"] = old
	check()
}

// A new token ends what the old one opened, and nothing of another worktree.
func TestNewTokenEndsStreams(t *testing.T) {
	t.Parallel()
	store := bearer.NewStore(filepath.Join(t.TempDir(), "tokens"))
	g := servers.NewGate(store, httpguard.Options{Now: time.Now, Rate: 10_000}, false, func(string) {})
	open := func(key string) (ended chan struct{}) {
		t.Helper()
		began := make(chan struct{})
		stream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
		})
		h, err := g.Guard(t.Context(), supervisor.Worktree{Key: key}, stream)
		if err != nil {
			t.Fatal(err)
		}
		token, err := store.File(key).Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		ended = make(chan struct{})
		go func() {
			h.ServeHTTP(httptest.NewRecorder(), r)
			close(ended)
		}()
		<-began
		return ended
	}
	replaced, kept := open("/src/app/.git"), open("/src/other/.git")
	if err := g.Reload(t.Context()); err != nil { // nothing is new
		t.Fatal(err)
	}
	select {
	case <-replaced:
		t.Fatal("reading the same token ended a stream")
	default:
	}
	if _, err := store.File("/src/app/.git").Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-replaced
	select {
	case <-kept:
		t.Error("the stream of another worktree ended")
	default:
	}

	// The same is true if nobody asks to reload.
	g.Refresh(t.Context())
	select {
	case <-kept:
		t.Error("a file that did not change ended a stream")
	default:
	}
	if _, err := store.File("/src/other/.git").Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.Refresh(t.Context())
	<-kept
}

// An open gate keeps no tokens.
func TestOpenGate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tokens")
	g := servers.NewGate(bearer.NewStore(dir), httpguard.Options{Now: time.Now}, true, func(string) {})
	w := supervisor.Worktree{Key: "/x"}
	if _, err := g.Guard(context.Background(), w, http.NotFoundHandler()); err != nil || g.TokenFile(w) != "" || g.Renew(t.Context(), w) != nil {
		t.Error(err, g.TokenFile(w))
	}
	if found, _ := filepath.Glob(dir + "/*"); len(found) > 0 { // the pattern is right
		t.Errorf("there are %v", found)
	}
}

// inner is a server with one session.
type inner struct{ http.Handler }

func (inner) HasSession(id string) bool { return id == "open" }

// A client that uses up the requests of all leaves a session its share.
func TestFloodOfAnotherClient(t *testing.T) {
	t.Parallel()
	g := servers.NewGate(bearer.NewStore(t.TempDir()), httpguard.Options{Rate: 10, Now: func() time.Time { return time.Unix(0, 0) }}, true, func(string) {})
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	guarded, err := g.Guard(t.Context(), supervisor.Worktree{Key: "/src/app/.git"}, inner{ok})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(session string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", http.NoBody)
		r.Header.Set("Mcp-Session-Id", session)
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		return w.Code
	}
	for n := 0; ask("") == http.StatusOK; n++ {
		if n > 1000 {
			t.Fatal("a client has no limit")
		}
	}
	if got := ask("open"); got != http.StatusOK {
		t.Errorf("an open session: %d", got)
	}
	if got := ask("ended"); got != http.StatusTooManyRequests {
		t.Errorf("no session: %d", got)
	}
}
