package boards

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

const (
	// radarWait is how long a page waits for a report in progress. A later one arrives with an
	// update.
	radarWait = 40 * time.Millisecond
	// radarTime is the time limit of a report.
	radarTime = 30 * time.Second
)

// radar creates reports of conflicts in the background, one at a time.
type radar struct {
	report func(context.Context, conflicts.Request) (conflicts.Report, error)

	ctx    context.Context //nolint:containedctx // the time of the board, which is longer than any request
	cancel context.CancelFunc

	reports sync.WaitGroup

	mu      sync.Mutex
	last    conflicts.Report
	known   bool
	running chan struct{} // closed at the end of the report that is being made
	again   bool          // something changed meanwhile
	changed func()
}

func newRadar(report func(context.Context, conflicts.Request) (conflicts.Report, error)) *radar {
	r := &radar{report: report}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *radar) close() {
	r.cancel()
	r.reports.Wait()
}

// latest returns the last report. If there is none, it waits for a moment.
func (r *radar) latest(ctx context.Context) (conflicts.Report, bool) {
	r.mu.Lock()
	known, watched := r.known, r.changed != nil
	r.mu.Unlock()
	if !known || !watched {
		select {
		case <-r.look():
		case <-time.After(radarWait):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.known
}

// look starts a report, unless one is in progress. The channel closes at its end.
func (r *radar) look() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		r.again = true
		return r.running
	}
	done := make(chan struct{})
	r.running = done
	r.reports.Go(func() { r.run(done) })
	return done
}

func (r *radar) run(done chan struct{}) {
	for again := true; again; {
		ctx, cancel := context.WithTimeout(r.ctx, radarTime)
		found, err := r.report(ctx, conflicts.Request{})
		cancel()
		for i, c := range found.Conflicts {
			found.Conflicts[i] = c.Brief()
		}
		r.mu.Lock()
		news := err == nil && (!r.known || !reflect.DeepEqual(found, r.last))
		if err == nil {
			r.last, r.known = found, true
		}
		again, r.again = r.again && r.ctx.Err() == nil, false
		changed := r.changed
		if !again {
			r.running = nil
		}
		r.mu.Unlock()
		if news && changed != nil {
			changed()
		}
	}
	close(done)
}

// watch calls changed when a report differs from the previous one, until ctx ends.
func (r *radar) watch(ctx context.Context, changed func()) {
	r.mu.Lock()
	r.changed = changed
	r.mu.Unlock()
	r.look()
	<-ctx.Done()
	r.mu.Lock()
	r.changed = nil
	r.mu.Unlock()
}
