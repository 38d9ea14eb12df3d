package mcpserver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/completion"
	"github.com/copse-dev/copse/internal/toolset"
)

// offers updates the library's list of prompts when that of a toolset changes. The library notifies
// its clients.
type offers struct {
	server      *Server
	completions *completion.Completions
	asked       atomic.Bool // minimum interval
	changed     atomic.Bool // after the first request

	mu   sync.Mutex
	each []offer
}

// offer is the last answer of one toolset.
type offer struct {
	ask  func(context.Context) *toolset.Offer
	last *toolset.Offer
	// known means that there was an earlier answer, so a different one is a change.
	known bool
}

// quiet keeps the library from reporting a change when the list is filled for the first time:
// nobody has seen an earlier one.
func (o *offers) quiet(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "notifications/prompts/list_changed" && !o.changed.Load() {
			return nil, nil //nolint:nilnil // a notification has no result
		}
		return next(ctx, method, req)
	}
}

// middleware updates the list before a client reads it, and after a tool call, for clients that
// have read it and wait for a notification.
func (o *offers) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "prompts/list", "prompts/get", "completion/complete":
			o.refresh(ctx)
		case "tools/call":
			res, err := next(ctx, method, req)
			if o.asked.Load() {
				o.refresh(ctx)
			}
			return res, err
		}
		return next(ctx, method, req)
	}
}

func (o *offers) refresh(ctx context.Context) {
	o.asked.Store(true)
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.each {
		e := &o.each[i]
		now := e.ask(ctx)
		if now != e.last {
			if e.known {
				o.changed.Store(true)
			}
			o.replace(e.last, now)
			e.last = now
		}
		e.known = true
	}
}

// replace adds the prompts of now, and removes those of old that are not in now.
func (o *offers) replace(old, now *toolset.Offer) {
	names := make(map[string]bool)
	if now != nil {
		for _, p := range now.Prompts {
			names[p.Name] = true
			o.server.addPrompt(p)
			o.completions.Set(p)
		}
	}
	if old == nil {
		return
	}
	var gone []string
	for _, p := range old.Prompts {
		if !names[p.Name] {
			gone = append(gone, p.Name)
			o.completions.Drop(p.Name)
		}
	}
	if len(gone) > 0 {
		o.server.mcp.RemovePrompts(gone...)
	}
}
