package watch

import (
	"context"
	"slices"
	"time"
)

// again is how long Follow waits after it failed to watch.
const again = 5 * time.Second

// Follow watches as [Run] does, with paths that can differ after each change, until ctx ends. While
// they cannot be watched, it calls failed with the reason, and reports a possible change every few
// seconds. It is ready all the same.
func Follow(ctx context.Context, paths func() Paths, ready, changed func(), failed func(error)) {
	for ctx.Err() == nil {
		now := paths()
		one, other := context.WithCancel(ctx)
		err := Run(one, now, ready, func() {
			changed()
			if then := paths(); !slices.Equal(then.Dirs, now.Dirs) || !slices.Equal(then.Trees, now.Trees) {
				other()
			}
		})
		other()
		if err == nil {
			continue
		}
		ready()
		failed(err)
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			changed()
		}
	}
}
