// Package httpguard protects a local HTTP server from strangers: web pages in the
// developer's browser, other users of the machine, and programs that send too many requests.
//
// Wrap the handler of a server in [New], create the server with [Server], and let it serve [Listener]s. Then,
// for every route and method,
//
//   - the Host must be a name of this machine's loopback, or an allowed one,
//     so a domain that resolves to 127.0.0.1 is refused;
//   - an Origin, which browsers send and programs do not, must be the server's own
//     or an allowed one. Only these get CORS headers;
//   - the bearer token must be right, unless none is required, or the route is
//     open. It is compared in constant time;
//   - bodies, headers, and their duration have limits, and so have the time that a client
//     takes for each part of an answer, and the number of requests of one client. Requests of strangers do not count against the clients that
//     are admitted. Whatever other clients send, each session has a share of its own;
//   - a request ends when its client disconnects, whatever the client has sent before.
//
// A refused client gets the reason as a JSON-RPC error without an id, which MCP
// clients show, and never a hint about the right token.
package httpguard

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// MaxBody is the maximum size of a request body in bytes.
const MaxBody = 4 << 20

// writeTime is the time limit for a client to take the next part of an answer.
const writeTime = 30 * time.Second

// bodyTime is the time limit for receiving a request body.
const bodyTime = 30 * time.Second

// Options configure the guard.
type Options struct {
	// Token returns the current required token; nil requires none.
	Token func() string
	// Hosts are allowed names besides those of loopback, without port.
	Hosts []string
	// Below allows all names below localhost, which browsers resolve to this machine themselves.
	Below bool
	// Origins are allowed besides the server's own: "http://localhost:5173".
	Origins []string
	// Open are paths that require no token.
	Open []string
	// Standing states whose a request is that needs no token; nil takes all for Admitted.
	Standing func(*http.Request) Standing
	// Rate is the maximum number of requests per second of one client; 0 is DefaultRate.
	Rate int
	// Now is the clock of the limits.
	Now func() time.Time
}

// Standing states whose a request is. The requests of each standing have their own limits, so that
// those of strangers refuse nobody else.
type Standing int

const (
	// Stranger is a client of whom nothing is known.
	Stranger Standing = iota
	// Own is a client without a login that is certainly a process of this user.
	Own
	// Admitted is a client with the token or a login.
	Admitted
	standings
)

// guard is the handler that New returns.
type guard struct {
	next     http.Handler
	token    func() string
	hosts    []string
	below    bool
	origins  []string
	open     []string
	standing func(*http.Request) Standing
	now      func() time.Time
	perSec   float64 // requests of a connection
	rates    [standings]*rates
}

// New guards a handler. If it is a [Sessions], each of its sessions has its own share of requests.
func New(o Options, next http.Handler) http.Handler {
	g := &guard{
		next: next, token: o.Token,
		below: o.Below, origins: o.Origins, open: o.Open, standing: o.Standing,
		now: o.Now, perSec: float64(cmp.Or(o.Rate, DefaultRate)),
	}
	sessions, _ := next.(Sessions)
	for i := range g.rates {
		g.rates[i] = newRates(g.perSec, sessions)
	}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// Server returns a server for the handler that slow clients cannot block. The handler receives
// every request: net/http itself would answer "OPTIONS *".
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       Connected,

		DisableGeneralOptionsHandler: true,
	}
}

// ServeHTTP lets a request through or refuses it.
func (g *guard) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	w := patience{answer, http.NewResponseController(answer)}
	w.begin()       // for what the server writes itself
	defer w.begin() // for what it has not sent yet
	if r.ContentLength != 0 {
		// net/http removes the deadline when the body has ended, so an answer may take any time. A
		// late body keeps it: the server itself reads the rest of it after the answer, also after a
		// refusal, and would otherwise wait forever. Connections without deadlines are not network
		// connections.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
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
		if r.Method == http.MethodOptions { // a browser sends this request before it sends the token
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	// This is counted first: to find out whose a request is can take time.
	from := connectionOf(r)
	if !from.count(g.now(), g.perSec) {
		wait(w, "Too many requests from this client; wait a second and send fewer at once")
		return
	}
	standing := g.standingOf(r)
	if standing != Admitted && g.token != nil && !slices.Contains(g.open, r.URL.Path) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "A bearer token is required; `copse mcp config` shows the header to send")
		return
	}
	if !g.rates[standing].take(g.now(), from, sessionOf(r)) {
		wait(w, "All clients of this server together send too many requests; wait a second and try again")
		return
	}
	if r.ContentLength != 0 && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		// Nobody would read it, and net/http notices that a client is gone only after the body.
		refuse(w, http.StatusBadRequest, "A GET request with a body is not served; send it without a body")
		return
	}
	if r.ContentLength > MaxBody {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body has %d bytes; copse reads at most %d", r.ContentLength, MaxBody))
		return
	}
	if r.ContentLength != 0 {
		r.Body = http.MaxBytesReader(answer, r.Body, MaxBody)
	}
	g.next.ServeHTTP(w, r)
}

// maxPart is how much of an answer a client has to take within [writeTime].
const maxPart = 32 << 10

// patience is the answer to a request. It ends the connection of a client that does not take it, and
// leaves that of a stream alone in which nothing happens: the limit is for each part of the answer.
type patience struct {
	http.ResponseWriter
	control *http.ResponseController
}

// begin begins the time limit of the next part. Connections without deadlines are not network
// connections.
func (p patience) begin() { _ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) }

// Write writes a part of the answer.
func (p patience) Write(text []byte) (int, error) {
	written := 0
	for {
		part := text[written:min(len(text), written+maxPart)]
		p.begin()
		n, err := p.ResponseWriter.Write(part)
		if written += n; err != nil || written == len(text) {
			return written, err
		}
	}
}

// FlushError sends what was written.
func (p patience) FlushError() error {
	p.begin()
	return p.control.Flush()
}

// Flush sends what is buffered, for handlers that ignore the error.
func (p patience) Flush() { _ = p.FlushError() }

// Unwrap returns the answer of the server, for [http.ResponseController].
func (p patience) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// knows reports whether host, with or without a port, is one of this server's. Any port will do,
// because a connection through an SSH tunnel has the port of the other machine.
func (g *guard) knows(host string) bool {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host { // not only a host and the digits of a port
		return false
	}
	name := strings.ToLower(u.Hostname())
	if name == "localhost" || slices.Contains(g.hosts, name) || g.below && strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// trusts reports whether the origins of a request, of which there is at least one, may use the
// server.
func (g *guard) trusts(host string, origins []string) bool {
	if len(origins) != 1 {
		return false
	}
	if slices.Contains(g.origins, origins[0]) {
		return true
	}
	return OwnOrigin(origins[0], host)
}

// OwnOrigin reports whether an Origin is that of a page of the server itself, which the Host of the
// request names. The servers of copse speak http, so an https page with the same name and port is
// another program's.
func OwnOrigin(origin, host string) bool {
	return strings.EqualFold(origin, "http://"+host)
}

// standingOf states whether a request has the token or, where none is required, whose it is.
func (g *guard) standingOf(r *http.Request) Standing {
	switch {
	case g.token == nil && g.standing != nil:
		return g.standing(r)
	case g.token == nil || g.knowsToken(r.Header.Values("Authorization")):
		return Admitted
	}
	return Stranger
}

func (g *guard) knowsToken(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	// Sums have the same length, whatever the client sent.
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

// wait refuses a request for now. The connection remains open: a new one would have no share.
func wait(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusTooManyRequests, message)
}

// refuse answers with a reason.
func refuse(w http.ResponseWriter, status int, message string) {
	type reason struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	if status != http.StatusTooManyRequests {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(status)
	// The error is ignored: the client has disconnected.
	_ = json.NewEncoder(w).Encode(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   reason `json:"error"`
	}{"2.0", nil, reason{-32000, message}})
}

// clip limits how much of a client's text an answer repeats.
func clip(s string) string {
	const maximum = 100
	if len(s) > maximum {
		return strings.ToValidUTF8(s[:maximum], "") + "…"
	}
	return s
}
