package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/httpsession"
	"github.com/copse-dev/copse/internal/mcpserver/batch"
	"github.com/copse-dev/copse/internal/mcpserver/sse"
	"github.com/copse-dev/copse/internal/mcpserver/subscription"
	"github.com/copse-dev/copse/internal/mcpserver/tasks"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
)

// HTTP answers clients over HTTP:
//
//   - /mcp is Streamable HTTP, for clients of 2026-07-28, which need no session, and
//     for those from 2025-03-26 on, which begin one;
//   - /sse is the transport of 2024-11-05;
//   - /healthz reports that the server is running.
//
// The work for a client ends with it: immediately for a request of 2026-07-28 and for an
// /sse stream, which consist of one connection; after [GraceTime] for a session,
// to which its client can return.
//
// It checks neither the origin of a request nor its sender: put a guard in front of
// it. Close it after the server that serves it.
type HTTP struct {
	server  *Server
	routes  *http.ServeMux
	clients *httpsession.Registry

	modern, legacy http.Handler
	sse            *sse.Handler
}

const (
	// GraceTime is how long the client of a session may have no connection before its calls are
	// canceled, its subscriptions end, and it no longer counts as connected.
	GraceTime = 30 * time.Second
	// sessionTimeout is how long a client of the older revisions may be silent before its session
	// is dropped.
	sessionTimeout = 30 * time.Minute
	// MaxSessions is the maximum number of clients of one server at a time.
	MaxSessions = 512
	// MaxUnderWay is the maximum number of requests of one session that are under way: until their
	// answers are written to its client.
	MaxUnderWay = 64
)

// HTTP returns the handler of the server.
func (s *Server) HTTP() *HTTP {
	get := func(*http.Request) *mcp.Server { return s.mcp }
	// The guard has already checked the Host, and knows the allowed names.
	h := &HTTP{
		server: s, routes: http.NewServeMux(),
		clients: httpsession.New(httpsession.Options{Max: MaxSessions, Grace: GraceTime, Idle: sessionTimeout}),
		modern: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
		}),
		// It has no time limit: the registry ends its sessions.
		legacy: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true}),
		sse:    sse.New(s.mcp, MaxUnderWay, tooMany),
	}
	h.routes.HandleFunc("/mcp", unbuffered(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && !isAcceptable(w, r): // refused
		case isModern(r):
			if namesTask(w, r) {
				h.serveConnection(h.modern, w, r)
			}
		case r.Header.Get("Mcp-Session-Id") != "":
			h.serveSession(w, r)
		case r.Method == http.MethodPost:
			h.beginSession(w, r)
		default:
			h.legacy.ServeHTTP(w, r) // which refuses it
		}
	}))
	h.routes.HandleFunc("/sse", unbuffered(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			h.serveConnection(h.sse, w, r)
			return
		}
		if isAcceptable(w, r) {
			h.sse.ServeHTTP(w, r)
		}
	}))
	h.routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // the client may have disconnected
	})
	return h
}

// unbuffered keeps proxies that collect streams from delaying progress.
func unbuffered(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		next(w, r)
	}
}

// isAcceptable refuses a request with more messages than a batch can have, with a message that is
// too large, is ambiguous, or has no usable ID, or with an unreadable body.
func isAcceptable(w http.ResponseWriter, r *http.Request) bool {
	err := batch.Limit(r)
	inexact, changed := errors.AsType[*wire.IDError](err)
	_, ambiguous := errors.AsType[*wire.AmbiguousError](err)
	switch {
	case changed:
		refuseRequest(w, http.StatusBadRequest, inexact.ID, jsonrpc.CodeInvalidRequest, err.Error())
	case ambiguous:
		refuseRequest(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, err.Error())
	case errors.Is(err, batch.ErrTooLong):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("A batch can have at most %d messages; send the others in another request", batch.Max))
	case errors.Is(err, batch.ErrTooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("A message other than tools/call and prompts/get can have at most %d KiB", batch.MaxSmall>>10))
	case err != nil:
		refuse(w, http.StatusBadRequest, "The body of the request cannot be read")
	}
	return err == nil
}

// isModern reports whether a request is of the era without sessions.
func isModern(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") >= wire.ModernEra || r.Header.Get("Mcp-Method") != ""
}

// serveConnection serves a client that is identical to its connection: its work ends as soon as the
// connection closes.
func (h *HTTP) serveConnection(next http.Handler, w http.ResponseWriter, r *http.Request) {
	client, ok := h.begin(w)
	if !ok {
		return
	}
	defer client.Leave()
	defer context.AfterFunc(r.Context(), client.End)()
	next.ServeHTTP(w, r.WithContext(subscription.WithClient(r.Context(), client)))
}

// beginSession serves a request that may begin a session.
func (h *HTTP) beginSession(w http.ResponseWriter, r *http.Request) {
	client, ok := h.begin(w)
	if !ok {
		return
	}
	defer client.Leave()
	client.EndWith(r.Context())
	h.legacy.ServeHTTP(w, r.WithContext(subscription.WithClient(r.Context(), client)))
}

// serveSession serves a request of a session.
func (h *HTTP) serveSession(w http.ResponseWriter, r *http.Request) {
	client := h.clients.Enter(r.Header.Get("Mcp-Session-Id"))
	if client == nil {
		refuse(w, http.StatusNotFound, "This session has ended; send initialize to begin another")
		return
	}
	defer client.Leave()
	if r.Method == http.MethodDelete {
		// The library would wait for the session's calls.
		client.End()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.Method == http.MethodPost && client.UnderWay() >= MaxUnderWay && batch.Asks(r) {
		tooMany(w, r)
		return
	}
	h.legacy.ServeHTTP(w, r)
}

// tooMany refuses a request of a session with as many requests under way as it can have.
func tooMany(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusTooManyRequests, fmt.Sprintf("This session has %d requests under way, and can have no more; read their answers, or cancel some", MaxUnderWay))
}

// begin opens a session, or refuses the request.
func (h *HTTP) begin(w http.ResponseWriter) (*httpsession.Session, bool) {
	client, err := h.clients.Begin()
	if err != nil {
		w.Header().Set("Retry-After", "30")
		refuse(w, http.StatusServiceUnavailable, "Too many clients are connected to this server; close some and try again")
		return nil, false
	}
	return client, true
}

// refuse answers with an error that MCP clients show.
func refuse(w http.ResponseWriter, status int, message string) {
	refuseRequest(w, status, nil, -32000, message)
}

// refuseRequest answers a request with an ID.
func refuseRequest(w http.ResponseWriter, status int, id json.RawMessage, code int, message string) {
	type reason struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A disconnected client misses nothing.
	_ = json.NewEncoder(w).Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   reason          `json:"error"`
	}{"2.0", id, reason{code, message}})
}

// namesTask refuses a request about a task whose header Mcp-Name does not have the task's ID:
// intermediaries route by the header, and the server answers by the body. The library checks the
// header of its own methods. The guard has limited the body.
func namesTask(w http.ResponseWriter, r *http.Request) bool {
	if !tasks.IsMethod(r.Header.Get("Mcp-Method")) {
		return true
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "The body of the request cannot be read")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	head, err := wire.ReadEnvelope(body)
	if err != nil {
		return true // it was refused
	}
	// Maps, because their keys are compared exactly.
	var request struct {
		Params map[string]json.RawMessage `json:"params"`
	}
	var id *string
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request.Params["taskId"], &id) != nil || id == nil {
		return true // the library reports the error
	}
	if name := strings.TrimSpace(r.Header.Get("Mcp-Name")); name != *id {
		refuseRequest(w, http.StatusBadRequest, head.ID, mcp.CodeHeaderMismatch, "The header Mcp-Name must be the taskId of the request")
		return false
	}
	return true
}

// ServeHTTP answers a request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.routes.ServeHTTP(w, r) }

// Clients returns the number of connected clients: those that have a request or a stream open, and
// those of a session that had one within [GraceTime].
func (h *HTTP) Clients() int { return h.clients.Present() }

// HasSession reports whether a session with this ID is open.
func (h *HTTP) HasSession(id string) bool { return h.clients.Has(id) || h.sse.Has(id) }

// closeTime is how long Close waits for canceled calls.
const closeTime = 2 * time.Second

// Close ends all running calls, and all sessions.
func (h *HTTP) Close() {
	h.clients.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for session := range h.server.mcp.Sessions() {
			// It waits for the session's calls; its client may have disconnected.
			_ = session.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(closeTime): // a call that cannot be interrupted
	}
	if h.server.watchers != nil {
		h.server.watchers.Close()
	}
}
