// Package subscription connects sessions with their clients, and watches the resources that they
// subscribe to.
package subscription

import (
	"context"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// Watchers runs the Watch function of each resource while a session is subscribed to it. A
// subscription ends with its session, and only its own session can end it.
type Watchers struct {
	resources map[string]toolset.Resource
	updated   func(uri string)
	logger    *slog.Logger

	mu       sync.Mutex
	running  map[string]*watcher
	sessions map[*mcp.ServerSession]struct{} // those that are being stopped
	done     sync.WaitGroup
	closed   bool
}

type watcher struct {
	subscribers map[*mcp.ServerSession]func() // called when the subscription ends
	cancel      context.CancelFunc
}

// New returns watchers of resources by their addresses. They call updated after each change.
func New(resources map[string]toolset.Resource, updated func(string), logger *slog.Logger) *Watchers {
	return &Watchers{
		resources: resources, updated: updated, logger: logger,
		running: make(map[string]*watcher), sessions: make(map[*mcp.ServerSession]struct{}),
	}
}

// Subscribe begins to watch a resource for a session.
func (w *Watchers) Subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	r, ok := w.resources[uri]
	if !ok {
		return wire.InvalidParams("resource %q cannot be subscribed to", uri)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	one := w.running[uri]
	if one == nil {
		one = w.start(uri, r)
	}
	if _, again := one.subscribers[req.Session]; again {
		return nil
	}
	ended := func() {}
	if client := clientOf(ctx); client != nil {
		ended = client.Hold()
	}
	one.subscribers[req.Session] = ended
	if _, awaited := w.sessions[req.Session]; !awaited {
		w.sessions[req.Session] = struct{}{}
		go func() {
			_ = req.Session.Wait() // the way it ended does not matter here
			w.forget(req.Session)
		}()
	}
	return nil
}

// start runs the watcher of a resource. The caller holds the lock.
func (w *Watchers) start(uri string, r toolset.Resource) *watcher {
	// A watcher outlives the request that started it.
	ctx, cancel := context.WithCancel(context.Background())
	one := &watcher{subscribers: make(map[*mcp.ServerSession]func()), cancel: cancel}
	w.running[uri] = one
	w.done.Go(func() {
		if err := r.Watch(ctx, func() { w.updated(uri) }); err != nil && ctx.Err() == nil {
			w.logger.Warn("watching a resource ended", "uri", uri, "error", err)
		}
	})
	return one
}

// Unsubscribe ends the watch of a resource for a session.
func (w *Watchers) Unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(req.Params.URI, req.Session)
	return nil
}

// forget ends all subscriptions of a session.
func (w *Watchers) forget(session *mcp.ServerSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, session)
	for uri := range w.running {
		w.drop(uri, session)
	}
}

// drop ends a subscription, and the watcher with the last one. The caller holds the lock.
func (w *Watchers) drop(uri string, session *mcp.ServerSession) {
	one := w.running[uri]
	if one == nil {
		return
	}
	ended, subscribed := one.subscribers[session]
	if !subscribed {
		return
	}
	ended()
	delete(one.subscribers, session)
	if len(one.subscribers) == 0 {
		one.cancel()
		delete(w.running, uri)
	}
}

// Close stops all watchers and waits for them.
func (w *Watchers) Close() {
	w.mu.Lock()
	w.closed = true
	for _, one := range w.running {
		one.cancel()
	}
	w.mu.Unlock()
	w.done.Wait()
}
