package shared

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Times of a Background.
const (
	// quiet is how long no change comes before a sync, and maxQuiet how long the first
	// of several changes waits for it.
	quiet, maxQuiet = 300 * time.Millisecond, 3 * time.Second
	// again is when a sync that failed is tried again without a change.
	again = time.Minute
	// lastSync and stopping bound what Close waits for: the sync of the last change,
	// then the end of what it ran.
	lastSync, stopping = 600 * time.Millisecond, 300 * time.Millisecond
)

// Background syncs a store after its changes, while nobody waits. Changes in quick succession cause
// one sync, and only one sync runs at a time. Close it after use.
type Background struct {
	sync    func(context.Context) error
	logger  *slog.Logger
	changed chan struct{}

	ctx     context.Context //nolint:containedctx // ends the syncs of its owner, not of a call
	cancel  context.CancelFunc
	closing chan struct{}
	ended   chan struct{}

	mu      sync.Mutex
	started bool
	closed  bool
}

// NewBackground returns a Background that calls sync. Nothing runs before the first
// change.
func NewBackground(sync func(context.Context) error, logger *slog.Logger) *Background {
	ctx, cancel := context.WithCancel(context.Background())
	return &Background{
		sync: sync, logger: logger, changed: make(chan struct{}, 1),
		ctx: ctx, cancel: cancel, closing: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Changed reports a change. It returns at once.
func (b *Background) Changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	select {
	case b.changed <- struct{}{}:
	default:
	}
	if !b.started {
		b.started = true
		go b.run()
	}
}

// Close syncs the last changes if that is quick, and ends a longer sync, which the next one
// continues. It returns within a second.
func (b *Background) Close() {
	b.mu.Lock()
	started, closed := b.started, b.closed
	b.closed = true
	b.mu.Unlock()
	if closed {
		return
	}
	defer b.cancel()
	if !started {
		return
	}
	close(b.closing)
	late := time.AfterFunc(lastSync, b.cancel)
	defer late.Stop()
	select {
	case <-b.ended:
	case <-time.After(lastSync + stopping):
	}
}

func (b *Background) run() {
	defer close(b.ended)
	var retry <-chan time.Time
	for {
		select {
		case <-b.changed:
			b.settle()
		case <-retry:
		case <-b.closing:
			if len(b.changed) == 0 {
				return
			}
			<-b.changed
		}
		retry = nil
		if err := b.sync(b.ctx); err != nil && b.ctx.Err() == nil {
			b.logger.Warn("work items are not synced", "error", err)
			retry = time.After(again)
		} else if errors.Is(err, context.Canceled) {
			return
		}
	}
}

// settle waits until no change has come for a while.
func (b *Background) settle() {
	limit, wait := time.After(maxQuiet), time.NewTimer(quiet)
	defer wait.Stop()
	for {
		select {
		case <-b.changed:
			wait.Reset(quiet)
		case <-wait.C:
			return
		case <-limit:
			return
		case <-b.closing:
			return
		}
	}
}
