// Package subscription connects sessions with their clients, and watches the resources that they
// subscribe to.
package subscription

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// Watchers runs the Watch function of each resource while a session is subscribed to it. A
// subscription ends with its session, and only its own session can end it.
type Watchers struct {
	// Of, if set, returns the resource of a request in its worktree.
	Of func(context.Context, *mcp.SubscribeRequest) (toolset.Resource, *route.Worktree, error)
	// Serves reports whether a worktree is still served. It is set with Of.
	Serves func(*route.Worktree) bool

	resources map[string]toolset.Resource
	updated   func(uri string)
	logger    *slog.Logger
	outbox    *outbox

	// sending is held while an update is addressed to the recipients.
	sending    sync.Mutex
	recipients atomic.Pointer[map[*mcp.ServerSession]bool]

	mu       sync.Mutex
	running  map[place]*watcher
	sessions map[*mcp.ServerSession]struct{} // those that are being stopped
	done     sync.WaitGroup
	closed   bool
}

// place is a resource of a worktree, nil for the only one.
type place struct {
	uri string
	at  *route.Worktree
}

type watcher struct {
	subscribers map[*mcp.ServerSession]func() // called when the subscription ends
	cancel      context.CancelFunc
}

// New returns watchers of resources by their addresses. They call updated after each change.
func New(resources map[string]toolset.Resource, updated func(string), logger *slog.Logger) *Watchers {
	return &Watchers{
		resources: resources, updated: updated, logger: logger, outbox: newOutbox(logger),
		running: make(map[place]*watcher), sessions: make(map[*mcp.ServerSession]struct{}),
	}
}

// Subscribe begins to watch a resource for a session.
func (w *Watchers) Subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	of := place{uri: req.Params.URI}
	r, ok := w.resources[of.uri]
	if w.Of != nil && ok {
		var err error
		if r, of.at, err = w.Of(ctx, req); err != nil {
			return err
		}
	}
	if !ok {
		return wire.InvalidParams("resource %q cannot be subscribed to", of.uri)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	for other := range w.running { // the session may have moved to another worktree
		if other.uri == of.uri && other != of {
			w.end(other, req.Session)
		}
	}
	one := w.running[of]
	if one == nil {
		one = w.start(of, r)
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
func (w *Watchers) start(of place, r toolset.Resource) *watcher {
	// A watcher outlives the request that started it.
	ctx, cancel := context.WithCancel(context.Background())
	one := &watcher{subscribers: make(map[*mcp.ServerSession]func()), cancel: cancel}
	w.running[of] = one
	w.done.Go(func() {
		if err := r.Watch(ctx, func() { w.changed(of) }); err != nil && ctx.Err() == nil {
			w.logger.Warn("watching a resource ended", "uri", of.uri, "error", err)
		}
	})
	return one
}

// changed reports a change of a resource to those that are subscribed to it in its worktree.
func (w *Watchers) changed(of place) {
	if w.Of == nil {
		w.updated(of.uri)
		return
	}
	if !w.Serves(of.at) {
		return
	}
	w.sending.Lock()
	defer w.sending.Unlock()
	to := map[*mcp.ServerSession]bool{}
	w.mu.Lock()
	if one := w.running[of]; one != nil {
		for session := range one.subscribers {
			to[session] = true
		}
	}
	w.mu.Unlock()
	w.recipients.Store(&to)
	defer w.recipients.Store(nil)
	w.updated(of.uri) // the library addresses it before it returns
}

// Addressed sends an update to each session by itself. It keeps it from sessions that are subscribed to the same
// resource of another worktree: the library knows only the address.
func (w *Watchers) Addressed(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(*mcp.ResourceUpdatedNotificationParams)
		if !ok {
			return next(ctx, method, req)
		}
		session, _ := req.GetSession().(*mcp.ServerSession)
		if w.Of != nil {
			if to := w.recipients.Load(); to == nil || !(*to)[session] {
				return nil, nil //nolint:nilnil // a notification has no result
			}
		}
		w.outbox.add(session, update{params.URI, func(ctx context.Context) error {
			_, err := next(ctx, method, req)
			return err
		}})
		return nil, nil //nolint:nilnil // a notification has no result
	}
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
	for of := range w.running {
		w.end(of, session)
	}
}

// drop ends the subscriptions of a session to an address. The caller holds the lock.
func (w *Watchers) drop(uri string, session *mcp.ServerSession) {
	for of := range w.running {
		if of.uri == uri {
			w.end(of, session)
		}
	}
}

// end ends a subscription, and the watcher with the last one. The caller holds the lock.
func (w *Watchers) end(of place, session *mcp.ServerSession) {
	one := w.running[of]
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
		delete(w.running, of)
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
	w.outbox.close()
}
