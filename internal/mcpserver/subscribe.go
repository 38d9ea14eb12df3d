package mcpserver

import (
	"context"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// watchers runs the Watch function of each resource while anybody is
// subscribed to it.
type watchers struct {
	resources map[string]toolset.Resource
	updated   func(uri string)
	logger    *slog.Logger

	mu      sync.Mutex
	running map[string]*watcher
	done    sync.WaitGroup
	closed  bool
}

type watcher struct {
	subscribers int
	cancel      context.CancelFunc
}

func newWatchers(resources map[string]toolset.Resource, updated func(string), logger *slog.Logger) *watchers {
	return &watchers{resources: resources, updated: updated, logger: logger, running: make(map[string]*watcher)}
}

func (w *watchers) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	r, ok := w.resources[uri]
	if !ok {
		return invalidParams("resource %q cannot be subscribed to", uri)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	if one := w.running[uri]; one != nil {
		one.subscribers++
		return nil
	}
	// A watcher outlives the request that started it.
	ctx, cancel := context.WithCancel(context.Background())
	w.running[uri] = &watcher{subscribers: 1, cancel: cancel}
	w.done.Go(func() {
		if err := r.Watch(ctx, func() { w.updated(uri) }); err != nil && ctx.Err() == nil {
			w.logger.Warn("watching a resource ended", "uri", uri, "error", err)
		}
	})
	return nil
}

func (w *watchers) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.running[req.Params.URI]
	if one == nil {
		return nil
	}
	if one.subscribers--; one.subscribers <= 0 {
		one.cancel()
		delete(w.running, req.Params.URI)
	}
	return nil
}

// close stops all watchers and waits for them.
func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	for _, one := range w.running {
		one.cancel()
	}
	w.mu.Unlock()
	w.done.Wait()
}
