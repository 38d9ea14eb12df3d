package mcpserver

import (
	"sync"
	"time"
)

// idleAfter is how long no call may have run before the memory of past calls goes back to
// the system. Every client of a user has a server, and most of them wait most of the time.
const idleAfter = 2 * time.Second

// idle does something once after each burst of calls.
type idle struct {
	after time.Duration
	do    func()

	mu      sync.Mutex
	running int
	timer   *time.Timer // nil before the first call
}

func newIdle(after time.Duration, do func()) *idle { return &idle{after: after, do: do} }

// begin notes that a call runs.
func (i *idle) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
	if i.timer != nil {
		i.timer.Stop()
	}
}

// end notes that a call has ended.
func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running--; i.running > 0 {
		return
	}
	if i.timer == nil {
		i.timer = time.AfterFunc(i.after, i.rest)
		return
	}
	i.timer.Reset(i.after)
}

func (i *idle) rest() {
	i.mu.Lock()
	busy := i.running > 0
	i.mu.Unlock()
	if !busy {
		i.do()
	}
}
