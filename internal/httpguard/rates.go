package httpguard

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultRate is the default maximum number of requests per second of one client.
const DefaultRate = 100

// All clients together have the rate of ten. A burst can use the requests of two seconds. If the
// others use up the rate of all, a client still has a tenth of its own.
const (
	allClients = 10
	burst      = 2
	shares     = 10
)

// sweepTime is the time between two sweeps of the shares of sessions that have ended.
const sweepTime = 10 * time.Second

// Sessions is a handler that knows the sessions that requests name. It limits their number.
type Sessions interface {
	// HasSession reports whether a session with this ID is open.
	HasSession(id string) bool
}

// sessionOf returns the ID of the session that a request names, as clients of the current transports or of
// /sse do; "" for none.
func sessionOf(r *http.Request) string {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" || r.URL.RawQuery == "" {
		return id
	}
	return r.URL.Query().Get("sessionid")
}

// rates counts the requests of all clients of one standing. If they are too many, each session has a
// share, and so has a connection. The share of a connection grows from nothing, so a client gains
// nothing from new connections.
type rates struct {
	perSec   float64
	sessions Sessions // nil for none

	mu     sync.Mutex
	all    *rate.Limiter
	shares map[string]*rate.Limiter // by ID of the session
	swept  time.Time
}

func newRates(perSec float64, sessions Sessions) *rates {
	return &rates{perSec: perSec, sessions: sessions, all: limiter(allClients * perSec), shares: make(map[string]*rate.Limiter)}
}

func limiter(perSec float64) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSec), max(1, int(burst*perSec)))
}

// take reports whether a request of a connection is within the limit of all clients or its own share.
func (r *rates) take(now time.Time, c *connection, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all.AllowN(now, 1) {
		return true
	}
	if session == "" || r.sessions == nil || !r.sessions.HasSession(session) {
		return c.share.AllowN(now, 1)
	}
	if now.Sub(r.swept) > sweepTime {
		r.swept = now
		maps.DeleteFunc(r.shares, func(id string, _ *rate.Limiter) bool { return !r.sessions.HasSession(id) })
	}
	share := r.shares[session]
	if share == nil {
		share = limiter(r.perSec / shares)
		r.shares[session] = share
	}
	return share.AllowN(now, 1)
}
