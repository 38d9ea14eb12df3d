package servers

import (
	"context"
	"net/http"
	"sync"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
)

// Gate demands of the clients of each worktree that worktree's own token.
type Gate struct {
	tokens bearer.Store
	guard  httpguard.Options
	open   bool
	loaded func(token string)

	mu    sync.Mutex
	known map[string]string // by key of the worktree
}

var _ supervisor.Gate = (*Gate)(nil)

// NewGate returns a gate that keeps its tokens in the store. An open one demands none.
// loaded is called with each token, so that it can be kept out of what is shown.
func NewGate(tokens bearer.Store, guard httpguard.Options, open bool, loaded func(token string)) *Gate {
	return &Gate{tokens: tokens, guard: guard, open: open, loaded: loaded, known: map[string]string{}}
}

// Guard puts itself in front of a worktree's server.
func (g *Gate) Guard(ctx context.Context, w supervisor.Worktree, server http.Handler) (http.Handler, error) {
	o := g.guard
	if g.open {
		return httpguard.New(o, server), nil
	}
	if err := g.load(ctx, w.Key); err != nil {
		return nil, err
	}
	o.Token = func() string {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.known[w.Key]
	}
	return httpguard.New(o, server), nil
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

// Renew makes a new token for a worktree. Where none is demanded there is none.
func (g *Gate) Renew(ctx context.Context, w supervisor.Worktree) error {
	if g.open {
		return nil
	}
	_, err := g.tokens.File(w.Key).Rotate(ctx)
	return err
}

// TokenFile is where a worktree's token is kept.
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
