package mcpserver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// offers keeps the library's lists of prompts and resources like those of the
// toolsets in which they can change. The library tells its clients.
type offers struct {
	server      *Server
	completions *completions
	asked       atomic.Bool // at least once

	mu   sync.Mutex
	each []offer
}

// offer is one toolset's, as it was asked last.
type offer struct {
	ask  func(context.Context) *toolset.Offer
	last *toolset.Offer
}

// middleware brings the lists up to date before a client looks at them, and
// after a tool call, for clients that have looked and wait to be told.
func (o *offers) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "prompts/list", "prompts/get", "resources/list", "resources/read", "completion/complete":
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
		if now := e.ask(ctx); now != e.last {
			o.replace(e.last, now)
			e.last = now
		}
	}
}

// replace takes out what is no more, and puts in the rest anew.
func (o *offers) replace(old, now *toolset.Offer) {
	names, uris := make(map[string]bool), make(map[string]bool)
	if now != nil {
		for _, p := range now.Prompts {
			names[p.Name] = true
			o.server.addPrompt(p)
			o.completions.set(p)
		}
		for _, r := range now.Resources {
			uris[r.URI] = true
			o.server.addResource(r)
		}
	}
	if old == nil {
		return
	}
	var goneNames, goneURIs []string
	for _, p := range old.Prompts {
		if !names[p.Name] {
			goneNames = append(goneNames, p.Name)
			o.completions.drop(p.Name)
		}
	}
	for _, r := range old.Resources {
		if !uris[r.URI] {
			goneURIs = append(goneURIs, r.URI)
		}
	}
	if len(goneNames) > 0 {
		o.server.mcp.RemovePrompts(goneNames...)
	}
	if len(goneURIs) > 0 {
		o.server.mcp.RemoveResources(goneURIs...)
	}
}
