package servers

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/httpsession"
	"github.com/copse-dev/copse/internal/loopback"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/supervisor"
)

// Gate requires of the clients of each worktree that worktree's own token. A new token ends the requests
// and streams that the old one opened.
type Gate struct {
	tokens bearer.Store
	guard  httpguard.Options
	open   bool
	loaded func(token string)

	beside map[string]beside // by key of the worktree

	mu    sync.Mutex
	known map[string]admission // by key of the worktree
}

// admission is a token and the requests that it admits.
type admission struct {
	token string
	file  fs.FileInfo     // the file of the token when it was read
	ctx   context.Context //nolint:containedctx // as long as the token is valid, which is longer than any call
	end   context.CancelFunc
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
	return &Gate{tokens: tokens, guard: guard, open: open, loaded: loaded, known: map[string]admission{}}
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
		o.Token = func() string { return g.admission(w.Key).token }
	}
	guarded := httpguard.New(o, server)
	if !g.open {
		guarded = g.whileValid(w.Key, guarded)
	}
	if b, ok := g.beside[w.Key]; ok {
		return b.split(g.guard, guarded), nil
	}
	return guarded, nil
}

// load reads the token of a worktree.
func (g *Gate) load(ctx context.Context, key string) error {
	file := g.tokens.File(key)
	info, err := os.Lstat(file.Path()) // before it is read: a later change is noticed
	if err != nil && !regular.Absent(err) {
		return fmt.Errorf("read token: %w", rooted.WithoutPath(err))
	}
	token, err := file.Token(ctx)
	if err != nil {
		return err
	}
	g.loaded(token)
	g.mu.Lock()
	defer g.mu.Unlock()
	old, loaded := g.known[key]
	if loaded && old.token == token {
		old.file = info
		g.known[key] = old
		return nil
	}
	next := admission{token: token, file: info}
	next.ctx, next.end = context.WithCancel(context.Background())
	g.known[key] = next
	if loaded {
		old.end()
	}
	return nil
}

// admission returns what is valid for a worktree now.
func (g *Gate) admission(key string) admission {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[key]
}

// whileValid ends each request, and the session that it begins, when the token that was valid at its beginning is replaced. It wraps the
// guard: otherwise a token that is replaced between the check and this look would admit forever.
func (g *Gate) whileValid(key string, guarded http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		valid := g.admission(key).ctx
		ctx, cancel := context.WithCancel(httpsession.Until(r.Context(), valid))
		defer cancel()
		defer context.AfterFunc(valid, cancel)()
		guarded.ServeHTTP(w, r.WithContext(ctx))
	})
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
	for _, key := range g.keys() {
		if err := g.load(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Refresh reads the tokens whose files another process has replaced. A file that is not there, or that
// cannot be read, changes nothing.
func (g *Gate) Refresh(ctx context.Context) {
	for _, key := range g.keys() {
		is, err := os.Lstat(g.tokens.File(key).Path())
		if was := g.admission(key).file; regular.Absent(err) || err == nil && was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) {
			continue
		}
		_ = g.load(ctx, key) // it is tried again the next time
	}
}

// keys returns the worktrees whose tokens are known.
func (g *Gate) keys() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.known))
}
