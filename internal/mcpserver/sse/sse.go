// Package sse serves the transport of 2024-11-05: the client of a session has one stream, which it
// opens with GET, and posts its messages to the address that the stream begins with.
//
// The answer to a posted request comes over the stream, so a post ends long before its answer. The
// library's handler of this transport accepts any number of requests, and keeps the answers of a
// client that does not read. A [Handler] guarantees that
//
//   - a session has at most a given number of requests whose answers are not written yet; further ones
//     are refused;
//   - the client of a session with that many requests can still cancel them, and answer requests of
//     the server.
package sse

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/batch"
)

// Handler serves the sessions of one server. Use [New].
type Handler struct {
	server *mcp.Server
	// max is the maximum number of requests under way of one session, and busy refuses others.
	max  int
	busy http.HandlerFunc
	// library checks and refuses what belongs to no session.
	library http.Handler

	mu      sync.Mutex
	streams map[string]*stream
}

// New returns the handler of a server. busy answers a request beyond max requests under way of one
// session.
func New(server *mcp.Server, limit int, busy http.HandlerFunc) *Handler {
	get := func(*http.Request) *mcp.Server { return server }
	return &Handler{
		server: server, max: limit, busy: busy, streams: make(map[string]*stream),
		// The guard has already checked the Host, and knows the allowed names.
		library: mcp.NewSSEHandler(get, &mcp.SSEOptions{DisableLocalhostProtection: true}),
	}
}

// Has reports whether a session with this ID is open.
func (h *Handler) Has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[id] != nil
}

// ServeHTTP serves the stream of a session until its client closes it, and the posts to it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		h.serveStream(w, r)
		return
	}
	h.mu.Lock()
	one := h.streams[r.URL.Query().Get("sessionid")]
	h.mu.Unlock()
	switch {
	case one == nil || r.Method != http.MethodPost:
		h.library.ServeHTTP(w, r) // which refuses it
	case int(one.waiting.Load()) >= h.max && batch.Asks(r):
		h.busy(w, r)
	default:
		one.ServeHTTP(w, r)
	}
}

// serveStream begins a session, and serves its stream.
func (h *Handler) serveStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	id := rand.Text()
	one := &stream{SSEServerTransport: &mcp.SSEServerTransport{Endpoint: r.URL.Path + "?sessionid=" + id, Response: w}, ended: make(chan struct{})}
	h.mu.Lock()
	h.streams[id] = one
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams, id)
	}()
	session, err := h.server.Connect(r.Context(), one, nil)
	if err != nil {
		return // the client has disconnected
	}
	defer func() { _ = session.Close() }() // the client has disconnected, or the server ends
	select {
	case <-r.Context().Done():
	case <-one.ended:
	}
}

// stream is the library's transport, which counts the requests under way.
type stream struct {
	*mcp.SSEServerTransport
	waiting atomic.Int64
	end     sync.Once
	ended   chan struct{}
}

// Connect begins the stream.
func (s *stream) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := s.SSEServerTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn, s}, nil
}

// connection is the library's, which counts what passes.
type connection struct {
	mcp.Connection
	stream *stream
}

// Read returns the next message of the client.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.stream.waiting.Add(1)
	}
	return message, err
}

// Write writes a message to the stream, and returns when the connection has taken it.
func (c *connection) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, ok := message.(*jsonrpc.Response); ok {
		defer c.stream.waiting.Add(-1)
	}
	return c.Connection.Write(ctx, message)
}

// Close ends the session.
func (c *connection) Close() error {
	defer c.stream.end.Do(func() { close(c.stream.ended) })
	return c.Connection.Close()
}
