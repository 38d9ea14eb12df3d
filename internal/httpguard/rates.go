package httpguard

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultRate is the default maximum number of requests per second of one client.
const DefaultRate = 100

// All clients together have the rate of ten. A burst can use the requests of two seconds.
const (
	allClients = 10
	burst      = 2
)

// forget is how long a silent client is remembered. Its bucket is full after two seconds, so
// nothing is lost.
const forget = 10 * time.Second

// rates counts the requests of clients. A client is a connection: what it says of
// itself could change from request to request.
type rates struct {
	now    func() time.Time
	perSec float64

	mu      sync.Mutex
	all     *rate.Limiter
	clients map[string]*client
	swept   time.Time
}

type client struct {
	limiter *rate.Limiter
	last    time.Time
}

func newRates(perSec int, now func() time.Time) *rates {
	if perSec == 0 {
		perSec = DefaultRate
	}
	return &rates{
		now: now, perSec: float64(perSec), all: limiter(float64(allClients * perSec)), clients: make(map[string]*client),
	}
}

func limiter(perSec float64) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSec), int(burst*perSec))
}

// take counts a request of the client with this key, and reports whether it is within the limit.
func (r *rates) take(key string) bool {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	c := r.clients[key]
	if c == nil {
		c = &client{limiter: limiter(r.perSec)}
		r.clients[key] = c
	}
	c.last = now
	return c.limiter.AllowN(now, 1) && r.all.AllowN(now, 1)
}

// sweep occasionally drops silent clients.
func (r *rates) sweep(now time.Time) {
	if now.Sub(r.swept) < forget {
		return
	}
	r.swept = now
	for key, c := range r.clients {
		if now.Sub(c.last) > forget {
			delete(r.clients, key)
		}
	}
}
