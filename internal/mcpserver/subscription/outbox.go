package subscription

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a session can take to accept an update.
const patience = 10 * time.Second

// outbox sends each session its updates on its own, so one that reads nothing does not delay the others. An
// update that still waits is sent once, however often its resource changes meanwhile.
type outbox struct {
	logger  *slog.Logger
	ctx     context.Context //nolint:containedctx // of all updates, which outlive the changes that cause them
	end     context.CancelFunc
	sending sync.WaitGroup

	mu      sync.Mutex
	waiting map[*mcp.ServerSession][]update // a session has an entry while it is being sent to
}

type update struct {
	uri  string
	send func(context.Context) error
}

func newOutbox(logger *slog.Logger) *outbox {
	ctx, end := context.WithCancel(context.Background())
	return &outbox{logger: logger, ctx: ctx, end: end, waiting: make(map[*mcp.ServerSession][]update)}
}

// add sends an update after those of the session that wait.
func (o *outbox) add(to *mcp.ServerSession, one update) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return
	}
	updates, busy := o.waiting[to]
	for _, other := range updates {
		if other.uri == one.uri {
			return
		}
	}
	o.waiting[to] = append(updates, one)
	if !busy {
		o.sending.Go(func() { o.deliver(to) })
	}
}

func (o *outbox) deliver(to *mcp.ServerSession) {
	for {
		o.mu.Lock()
		updates := o.waiting[to]
		if len(updates) == 0 {
			delete(o.waiting, to)
			o.mu.Unlock()
			return
		}
		next := updates[0]
		o.waiting[to] = updates[1:]
		o.mu.Unlock()
		ctx, cancel := context.WithTimeout(o.ctx, patience)
		if err := next.send(ctx); err != nil {
			o.logger.Debug("an update was not sent", "uri", next.uri, "error", err)
		}
		cancel()
	}
}

// closing is how long the last sends can take: nothing ends a write to a client that does not read.
const closing = time.Second

// close drops what waits, and returns when nothing is being sent, or after a moment.
func (o *outbox) close() {
	o.mu.Lock()
	o.end()
	clear(o.waiting)
	o.mu.Unlock()
	sent := make(chan struct{})
	go func() {
		o.sending.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(closing):
	}
}
