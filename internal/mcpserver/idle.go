package mcpserver

import (
	"sync"
	"time"
)

// idleAfter is how long the server must be idle before it returns the memory of past calls to the
// system. Every client of a user has a server, and most of them are idle most of the time.
const idleAfter = 2 * time.Second

// idle calls a function once after each burst of calls.
type idle struct {
	after time.Duration
	do    func()

	mu      sync.Mutex
	running int
	timer   *time.Timer // nil before the first call
}

func newIdle(after time.Duration, do func()) *idle { return &idle{after: after, do: do} }

// begin records the start of a call.
func (i *idle) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
	if i.timer != nil {
		i.timer.Stop()
	}
}

// end records the end of a call.
func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running--; i.running > 0 {
		return
	}
	if i.timer == nil {
		i.timer = time.AfterFunc(i.after, i.expire)
		return
	}
	i.timer.Reset(i.after)
}

// expire runs the function unless a call has begun.
func (i *idle) expire() {
	i.mu.Lock()
	busy := i.running > 0
	i.mu.Unlock()
	if !busy {
		i.do()
	}
}
