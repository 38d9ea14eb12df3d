package servers

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/loopback"
	"github.com/copse-dev/copse/internal/supervisor"
)

// Gate requires of the clients of each worktree that worktree's own token.
type Gate struct {
	tokens bearer.Store
	guard  httpguard.Options
	open   bool
	loaded func(token string)

	beside map[string]beside // by key of the worktree

	mu    sync.Mutex
	known map[string]string // by key of the worktree
}

// beside is the part of a server below a path for browsers, which send no token.
type beside struct {
	path    string
	handler Pages
}

// Pages is a handler with its own login.
type Pages interface {
	http.Handler
	// Standing states whether a request has that login, or is at least this user's.
	Standing(r *http.Request) httpguard.Standing
	// Host is the only name of the host, "" if any name of this machine is one. The handler refuses
	// other names.
	Host() string
}

var _ supervisor.Gate = (*Gate)(nil)

// NewGate returns a gate that keeps its tokens in the store. An open one requires none. loaded is
// called with each token, so that it can be redacted.
func NewGate(tokens bearer.Store, guard httpguard.Options, open bool, loaded func(token string)) *Gate {
	return &Gate{tokens: tokens, guard: guard, open: open, loaded: loaded, known: map[string]string{}}
}

// Beside routes requests below a path of the server with a key to a handler with its own login.
// Host, Origin, and rate are checked as for all others, and only clients of this machine are
// admitted. Call it before the server starts.
func (g *Gate) Beside(key, path string, handler Pages) {
	if g.beside == nil {
		g.beside = make(map[string]beside)
	}
	g.beside[key] = beside{path, handler}
}

// split sends requests below the path to the handler beside the server, and others to it.
func (b beside) split(open httpguard.Options, server http.Handler) http.Handler {
	open.Token, open.Origins, open.Hosts, open.Standing = nil, nil, nil, b.handler.Standing
	open.Below = b.handler.Host() != "" // the handler explains to an earlier name that it has changed
	pages := httpguard.New(open, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			http.Error(w, "only this machine can open the board; use a tunnel, such as ssh -L", http.StatusForbidden)
			return
		}
		b.handler.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, b.path) {
			pages.ServeHTTP(w, r)
			return
		}
		server.ServeHTTP(w, r)
	})
}

// OwnPort reports whether the programs that listen on a port belong to this user, as far as the
// system tells.
func OwnPort(port int) bool { return loopback.Held(uint16(port), os.Getuid()) }

// local reports whether both ends of a connection are on loopback.
func local(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at == nil {
		return false
	}
	for _, addr := range []string{at.String(), r.RemoteAddr} {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return false
		}
	}
	return true
}

// Guard wraps a worktree's server.
func (g *Gate) Guard(ctx context.Context, w supervisor.Worktree, server http.Handler) (http.Handler, error) {
	o := g.guard
	if !g.open {
		if err := g.load(ctx, w.Key); err != nil {
			return nil, err
		}
		o.Token = func() string {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.known[w.Key]
		}
	}
	guarded := httpguard.New(o, server)
	if b, ok := g.beside[w.Key]; ok {
		return b.split(g.guard, guarded), nil
	}
	return guarded, nil
}

// load reads the token of a worktree.
func (g *Gate) load(ctx context.Context, key string) error {
	token, err := g.tokens.File(key).Token(ctx)
	if err != nil {
		return err
	}
	g.loaded(token)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[key] = token
	return nil
}

// Renew creates a new token for a worktree. If none is required, there is none.
func (g *Gate) Renew(ctx context.Context, w supervisor.Worktree) error {
	if g.open {
		return nil
	}
	_, err := g.tokens.File(w.Key).Rotate(ctx)
	return err
}

// TokenFile returns where a worktree's token is kept.
func (g *Gate) TokenFile(w supervisor.Worktree) string {
	if g.open {
		return ""
	}
	return g.tokens.File(w.Key).Path()
}

// Reload reads the tokens of all worktrees that are served again.
func (g *Gate) Reload(ctx context.Context) error {
	g.mu.Lock()
	var keys []string
	for key := range g.known {
		keys = append(keys, key)
	}
	g.mu.Unlock()
	for _, key := range keys {
		if err := g.load(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
