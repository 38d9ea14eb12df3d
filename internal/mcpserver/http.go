package mcpserver

import (
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP answers clients over HTTP:
//
//   - /mcp is Streamable HTTP, for clients of 2026-07-28, which need no session, and
//     for those from 2025-03-26 on, which begin one;
//   - /sse is the transport of 2024-11-05;
//   - /healthz says that the server is there.
//
// It checks neither where a request comes from nor who sends it: stand a guard before
// it. Close it after the server that serves it.
type HTTP struct {
	server *Server
	routes *http.ServeMux
}

// sessionTimeout is how long a client of the older revisions may be silent before its
// session is forgotten.
const sessionTimeout = 30 * time.Minute

// modernEra is the first revision without sessions.
const modernEra = "2026-07-28"

// HTTP returns the handler of the server.
func (s *Server) HTTP() *HTTP {
	get := func(*http.Request) *mcp.Server { return s.mcp }
	// The guard has looked at the Host already, and knows which names were allowed.
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	legacy := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, DisableLocalhostProtection: true,
	})
	h := &HTTP{server: s, routes: http.NewServeMux()}
	h.routes.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		// Proxies that collect streams would hold progress back.
		w.Header().Set("X-Accel-Buffering", "no")
		if isModern(r) {
			modern.ServeHTTP(w, r)
			return
		}
		if id := r.Header.Get("Mcp-Session-Id"); r.Method == http.MethodDelete && id != "" {
			s.calls.endSession(id)
		}
		legacy.ServeHTTP(w, r)
	})
	sse := mcp.NewSSEHandler(get, &mcp.SSEOptions{DisableLocalhostProtection: true})
	h.routes.HandleFunc("/sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		sse.ServeHTTP(w, r)
	})
	h.routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // whoever asked may be gone
	})
	return h
}

// isModern reports whether a request is of the era without sessions.
func isModern(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") >= modernEra || r.Header.Get("Mcp-Method") != ""
}

// ServeHTTP answers a request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.routes.ServeHTTP(w, r) }

// Clients is how many clients are connected: those with a session, and those of the
// newer revision that wait for an answer or listen.
func (h *HTTP) Clients() int {
	n := 0
	for range h.server.mcp.Sessions() {
		n++
	}
	return n
}

// closeTime is how long Close waits for calls that were told to end.
const closeTime = 2 * time.Second

// Close ends all calls that run, and all sessions.
func (h *HTTP) Close() {
	h.server.calls.end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for session := range h.server.mcp.Sessions() {
			// It waits for the session's calls; its client may be gone already.
			_ = session.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(closeTime): // a call that cannot be interrupted
	}
	if h.server.watchers != nil {
		h.server.watchers.close()
	}
}
