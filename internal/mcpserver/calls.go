package mcpserver

import (
	"context"
	"sync"
)

// calls are the tool calls that run. The library waits for those of a session that its
// client has ended; here they are ended, too.
type calls struct {
	mu      sync.Mutex
	ended   bool
	running map[*call]struct{}
}

// call is one of them.
type call struct {
	session string
	cancel  context.CancelFunc
}

// begin notes a call. It ends early with its session or the server; done must be called
// when it has ended by itself.
func (c *calls) begin(ctx context.Context, session string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	one := &call{session, cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		cancel()
		return ctx, cancel
	}
	if c.running == nil {
		c.running = make(map[*call]struct{})
	}
	c.running[one] = struct{}{}
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, one)
	}
}

// endSession ends the calls of a session.
func (c *calls) endSession(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.running {
		if one.session == session {
			one.cancel()
		}
	}
}

// end ends all calls, also those to come.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for one := range c.running {
		one.cancel()
	}
}
