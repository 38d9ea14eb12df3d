package servers_test

import (
	"context"
	"net"
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

type pages struct{ http.Handler }

func (pages) Standing(*http.Request) httpguard.Standing { return httpguard.Admitted }
func (pages) Host() string                              { return "own.localhost" }

// Requests to the board need no token, and come from this machine alone: with a Host and an
// Origin that are its own, over loopback. The routes beside it still need the token.
func TestBoardIsLocal(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		g := servers.NewGate(bearer.NewStore(filepath.Join(t.TempDir(), "tokens")), httpguard.Options{
			Open: []string{"/healthz"}, Hosts: []string{"192.0.2.1"}, Origins: []string{"http://localhost:5173"}, Now: time.Now, Rate: 10_000,
		}, open, func(string) {})
		page := pages{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })}
		g.Beside("/state", "/board/", page)
		server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
		guarded, err := g.Guard(t.Context(), supervisor.Worktree{Key: "/state"}, server)
		if err != nil {
			t.Fatal(err)
		}
		other, err := g.Guard(t.Context(), supervisor.Worktree{Key: "/other"}, server)
		if err != nil {
			t.Fatal(err)
		}
		locked := http.StatusUnauthorized
		if open {
			locked = http.StatusAccepted
		}
		for what, tt := range map[string]struct {
			handler                      http.Handler
			path, host, origin, from, to string
			want                         int
		}{
			"a browser here":            {guarded, "/board/x/", "localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusTeapot},
			"its own name":              {guarded, "/board/x/", "own.localhost:3000", "http://own.localhost:3000", "127.0.0.1:5", "127.0.0.1:3000", http.StatusTeapot},
			"an earlier name":           {guarded, "/board/x/", "was.localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusTeapot},
			"no name below localhost":   {guarded, "/board/x/", "evillocalhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"its name for the server":   {guarded, "/mcp", "own.localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"with its own origin":       {guarded, "/board/x/", "localhost:3000", "http://localhost:3000", "127.0.0.1:5", "127.0.0.1:3000", http.StatusTeapot},
			"over IPv6":                 {guarded, "/board/x/", "[::1]:3000", "", "[::1]:5", "[::1]:3000", http.StatusTeapot},
			"a rebound name":            {guarded, "/board/x/", "evil.example:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"a name for the network":    {guarded, "/board/x/", "192.0.2.1:3000", "", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"a foreign origin":          {guarded, "/board/x/", "localhost:3000", "http://evil.example", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"an origin for the servers": {guarded, "/board/x/", "localhost:3000", "http://localhost:5173", "127.0.0.1:5", "127.0.0.1:3000", http.StatusForbidden},
			"another machine":           {guarded, "/board/x/", "localhost:3000", "", "192.0.2.7:5", "192.0.2.1:3000", http.StatusForbidden},
			"another address":           {guarded, "/board/x/", "localhost:3000", "", "127.0.0.1:5", "192.0.2.1:3000", http.StatusForbidden},
			"beside the board":          {guarded, "/mcp", "localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", locked},
			"a name that begins so":     {guarded, "/boards", "localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", locked},
			"around the board":          {guarded, "/x/../board/", "localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", locked},
			"another server":            {other, "/board/x/", "localhost:3000", "", "127.0.0.1:5", "127.0.0.1:3000", locked},
		} {
			at, err := net.ResolveTCPAddr("tcp", tt.to)
			if err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"GET", "POST", "HEAD", "DELETE", "PUT"} {
				r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(at)), method, "/", nil)
				r.URL.Path, r.Host, r.RemoteAddr = tt.path, tt.host, tt.from
				if tt.origin != "" {
					r.Header.Set("Origin", tt.origin)
				}
				w := httptest.NewRecorder()
				tt.handler.ServeHTTP(w, r)
				if w.Code != tt.want || w.Header().Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s (open: %t): %s %d, want %d", what, open, method, w.Code, tt.want)
				}
			}
		}
	}
}
