package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
)

// Pauses become longer up to a limit, have a random part, and end with the limit in time.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const shortest, longest, limit = 10 * time.Millisecond, 80 * time.Millisecond, time.Second
		random := false
		begin := time.Now()
		pauses := backoff.Start(shortest, longest)
		for most := shortest; ; most = min(2*most, longest) {
			before := time.Now()
			err := pauses.Pause(t.Context(), limit)
			waited := time.Since(before)
			if errors.Is(err, backoff.ErrLimit) {
				break
			}
			if last := time.Since(begin) == limit; err != nil || waited > most || waited < most/2 && !last {
				t.Fatalf("waited %v of %v: %v", waited, most, err)
			}
			random = random || waited != most && waited != most/2
		}
		if !random || time.Since(begin) != limit || pauses.Elapsed() != limit {
			t.Errorf("random: %v; ended after %v", random, time.Since(begin))
		}
		if err := pauses.Pause(t.Context(), backoff.Unlimited); err != nil {
			t.Errorf("without a limit: %v", err)
		}
	})
}

// The end of a context ends a pause, with the reason.
func TestCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		if err := backoff.Start(time.Hour, time.Hour).Pause(ctx, backoff.Unlimited); !errors.Is(err, reason) {
			t.Errorf("got %v", err)
		}
	})
}
