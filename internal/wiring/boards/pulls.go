package boards

import (
	"context"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
)

const (
	// pullEvery is how old the answer about the pull request in a panel can be.
	pullEvery = time.Minute
	// pullTime is how long asking may take.
	pullTime = 20 * time.Second
)

// pulls keeps what is known of the pull requests that people look at. The page shows what is at
// hand; GitHub is asked behind it, and the new answer is seen like any other change.
type pulls struct {
	ask func(ctx context.Context, branch string, number uint32) fact.Fact[pullrequest.Status] // nil for nobody
	now func() time.Time

	ctx    context.Context //nolint:containedctx // the time of the board, which is longer than any request
	cancel context.CancelFunc
	asking sync.WaitGroup

	mu    sync.Mutex
	asked map[int]time.Time
}

func newPulls(ask func(context.Context, string, uint32) fact.Fact[pullrequest.Status], now func() time.Time) *pulls {
	p := &pulls{ask: ask, now: now, asked: map[int]time.Time{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

func (p *pulls) close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.asking.Wait()
}

// of returns what GitHub said last of a pull request.
func (p *pulls) of(ctx context.Context, number int) (pullrequest.Status, bool) {
	if p.ask == nil || number <= 0 {
		return pullrequest.Status{}, false
	}
	n := uint32(number) //nolint:gosec // GitHub's numbers are small, and another one is not found
	found, ok := p.ask(remote.WithCachedOnly(ctx), "", n).Get()
	p.refresh(n, found.AsOf)
	return found, ok
}

// refresh asks GitHub, unless its answer is young or somebody asked a moment ago.
func (p *pulls) refresh(number uint32, asOf time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.ctx.Err() != nil || now.Sub(asOf) < pullEvery || now.Sub(p.asked[int(number)]) < pullEvery {
		return
	}
	p.asked[int(number)] = now
	p.asking.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, pullTime)
		defer cancel()
		p.ask(ctx, "", number) // the cache keeps the answer
	})
}
