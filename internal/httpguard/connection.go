package httpguard

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// connection is what the guards of a server remember of a connection while it is open.
type connection struct {
	mu         sync.Mutex
	own, share *rate.Limiter // nil before the first request; share is for times when all send too many
	asked, yes bool
}

type connectionKey struct{}

// Connected returns the context for the requests of a new connection; see [http.Server.ConnContext]. It
// ends with a connection of [Listener].
func Connected(ctx context.Context, c net.Conn) context.Context {
	if w, ok := c.(*watched); ok {
		ctx, w.ended = context.WithCancel(ctx)
	}
	return context.WithValue(ctx, connectionKey{}, &connection{})
}

// connectionOf returns the connection of a request, a new one if the server does not know it.
func connectionOf(r *http.Request) *connection {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		return c
	}
	return &connection{}
}

// count counts a request, and reports whether it is within the limit of the connection. A client is a
// connection: what it says of itself could change from request to request.
func (c *connection) count(now time.Time, perSec float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own, c.share = limiter(perSec), limiter(perSec/shares)
		c.share.AllowN(now, c.share.Burst())
	}
	return c.own.AllowN(now, 1)
}

// Once returns the answer to a question about the connection of a request: look finds it once, and it
// remains the same while the connection is open. If look fails, its answer is for this request alone.
func Once(r *http.Request, look func() (bool, error)) bool {
	c := connectionOf(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		yes, err := look()
		if err != nil {
			return yes
		}
		c.asked, c.yes = true, yes
	}
	return c.yes
}
