// Package idle returns memory to the system while a server has nothing to do. Every client of a user
// has a server, and most of them are idle most of the time.
//
// A [Timer] calls a function once after each burst of work; [Release] is that function.
package idle

import (
	"runtime/debug"
	"sync"
	"time"
)

// Timer calls a function once after each burst of work. It is safe for concurrent use.
type Timer struct {
	after time.Duration
	do    func()

	mu      sync.Mutex
	running int
	timer   *time.Timer // nil before the first work
}

// New returns a timer that calls do when no work has run for a time. It does nothing before the first
// work.
func New(after time.Duration, do func()) *Timer { return &Timer{after: after, do: do} }

// Begin records the start of work.
func (i *Timer) Begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
	if i.timer != nil {
		i.timer.Stop()
	}
}

// End records the end of work.
func (i *Timer) End() {
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

// expire calls the function unless work has begun.
func (i *Timer) expire() {
	i.mu.Lock()
	busy := i.running > 0
	i.mu.Unlock()
	if !busy {
		i.do()
	}
}

// Release returns the memory of past work to the system, and no longer maps the pages of the program's
// executable. Most of these served only the start. The system maps a page again when the program
// needs it.
func Release() {
	debug.FreeOSMemory()
	unmapExecutable()
}
