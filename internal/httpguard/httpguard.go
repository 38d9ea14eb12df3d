// Package httpguard lets nobody into a local HTTP server who does not belong
// there: web pages in the developer's browser, other users of the machine, and
// programs that send too much.
//
// Wrap the handler of a server in [New], and make the server with [Server]. Then
// for every route and method
//
//   - the Host must be a name of this machine's loopback, or one that was allowed,
//     so that a domain that is pointed at 127.0.0.1 gets nowhere;
//   - an Origin, which browsers send and programs do not, must be the server's own
//     or one that was allowed. Only to those are CORS headers sent;
//   - the bearer token must be right, unless none is demanded, or the route is
//     open. It is compared in constant time;
//   - bodies, headers and the time they take have limits, and so has the number of
//     requests of one client.
//
// Who is refused gets the reason as a JSON-RPC error without an id, which MCP
// clients show, and never a hint at what would have been right for the token.
package httpguard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// MaxBody is how many bytes the body of a request can have.
const MaxBody = 4 << 20

// bodyTime is how long the body of a request may take to arrive.
const bodyTime = 30 * time.Second

// Options say who is let in.
type Options struct {
	// Token returns what is demanded of everybody, which can change; nil demands
	// nothing of anybody.
	Token func() string
	// Hosts are names that are allowed besides those of loopback, without port.
	Hosts []string
	// Origins are allowed besides the server's own: "http://localhost:5173".
	Origins []string
	// Open are paths that need no token.
	Open []string
	// Rate is how many requests a second one client can send; 0 is DefaultRate.
	Rate int
	// Now is the clock of the limits.
	Now func() time.Time
}

// guard is the handler that New returns.
type guard struct {
	next    http.Handler
	token   func() string
	hosts   []string
	origins []string
	open    []string
	rates   *rates
}

// New guards a handler.
func New(o Options, next http.Handler) http.Handler {
	g := &guard{
		next: next, token: o.Token,
		origins: o.Origins, open: o.Open, rates: newRates(o.Rate, o.Now),
	}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// Server returns a server for the handler whose clients cannot hold it up.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// ServeHTTP lets a request through or refuses it.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.knows(r.Host) {
		refuse(w, http.StatusForbidden, fmt.Sprintf("Host %q is not served here; use localhost", clip(r.Host)))
		return
	}
	origin := r.Header.Values("Origin")
	if len(origin) > 0 && !g.trusts(r.Host, origin) {
		refuse(w, http.StatusForbidden, fmt.Sprintf("Origin %q is not allowed", clip(strings.Join(origin, ", "))))
		return
	}
	if len(origin) > 0 && slices.Contains(g.origins, origin[0]) {
		share(w.Header(), origin[0])
		if r.Method == http.MethodOptions { // a browser asks before it sends the token
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	if g.token != nil && !slices.Contains(g.open, r.URL.Path) && !g.knowsToken(r.Header.Values("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "A bearer token is needed; `copse mcp config` shows the header to send")
		return
	}
	if !g.rates.take(r.RemoteAddr) {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "Too many requests from this client; wait a second and send fewer at once")
		return
	}
	if r.ContentLength > MaxBody {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body has %d bytes; at most %d are read", r.ContentLength, MaxBody))
		return
	}
	if r.ContentLength != 0 {
		r.Body = &deadlineBody{ReadCloser: http.MaxBytesReader(w, r.Body, MaxBody), conn: http.NewResponseController(w)}
	}
	g.next.ServeHTTP(w, r)
}

// deadlineBody is a request body that must arrive before a deadline. net/http lifts the deadline when the body has
// ended, so an answer may take as long as it likes. A body that is late keeps its deadline:
// the server itself reads what is left of it after the answer, and would wait for good.
type deadlineBody struct {
	io.ReadCloser
	conn    *http.ResponseController
	started bool
}

func (b *deadlineBody) Read(p []byte) (int, error) {
	if !b.started {
		b.started = true
		// Connections without deadlines are no network.
		_ = b.conn.SetReadDeadline(time.Now().Add(bodyTime))
	}
	return b.ReadCloser.Read(p)
}

// knows reports whether host, with or without a port, is one of this server.
func (g *guard) knows(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.ToLower(name)
	if name == "localhost" || slices.Contains(g.hosts, name) {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// trusts reports whether the origins of a request, of which there must be one,
// may use the server.
func (g *guard) trusts(host string, origins []string) bool {
	if len(origins) != 1 {
		return false
	}
	if slices.Contains(g.origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

func (g *guard) knowsToken(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	// Sums have the same length, whatever was sent.
	sum, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.token()))
	same := subtle.ConstantTimeCompare(sum[:], want[:]) == 1
	return ok && strings.EqualFold(scheme, "Bearer") && same
}

// share allows a browser's page of that origin to use the server.
func share(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
	h.Set("Access-Control-Max-Age", "600")
}

// refuse answers with a reason.
func refuse(w http.ResponseWriter, status int, message string) {
	type reason struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	// Whoever hangs up does not want to know.
	_ = json.NewEncoder(w).Encode(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   reason `json:"error"`
	}{"2.0", nil, reason{-32000, message}})
}

// clip keeps what a client sent from filling the answer.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
