package watch

import (
	"context"
	"testing"
	"time"
)

// Where nothing can be watched, a caller looks again and again until it ends.
func TestPoll(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ready, changes := false, 0
	err := poll(ctx, time.Millisecond, func() { ready = true }, func() {
		if changes++; changes == 3 {
			cancel()
		}
	})
	if err != nil || !ready || changes < 3 {
		t.Errorf("ready: %t, %d changes, %v", ready, changes, err)
	}
}
