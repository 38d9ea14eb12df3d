// Package backoff pauses between the attempts of something that others can be in the way of.
//
// [Start] returns a [Backoff] before the first attempt, and [Backoff.Pause] waits after each one that
// failed. Pauses become longer, so that a long obstacle costs little, and they have a random part, so
// that two processes do not meet again each time. A limit in time, and the end of a context, end
// them. How many attempts there are, and which failures are worth another, is for the caller to say:
//
//	pauses := backoff.Start(shortest, longest)
//	for err = try(); isTemporary(err); err = try() {
//		if pauses.Pause(ctx, limit) != nil {
//			break
//		}
//	}
package backoff

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// ErrLimit reports that the time for further attempts is over.
var ErrLimit = errors.New("the time for further attempts is over")

// Unlimited is the limit of attempts that only their number or a context ends.
const Unlimited time.Duration = 0

// Backoff is the pauses between the attempts of one task. It is for one goroutine.
type Backoff struct {
	next, longest time.Duration
	start         time.Time
}

// Start returns the pauses of a task whose first attempt begins now. The first pause is at most
// shortest, and each further one at most twice as long as the one before, up to longest. Each is at
// least half of that.
func Start(shortest, longest time.Duration) *Backoff {
	return &Backoff{next: min(shortest, longest), longest: longest, start: time.Now()}
}

// Elapsed returns the time since the first attempt began.
func (b *Backoff) Elapsed() time.Duration { return time.Since(b.start) }

// Pause waits until the next attempt, which begins at the latest when the limit has passed since the
// first one began. After that, the error is ErrLimit. If the context ends, the error is its cause.
func (b *Backoff) Pause(ctx context.Context, limit time.Duration) error {
	wait := b.next/2 + rand.N(b.next/2+1)
	if limit != Unlimited {
		left := limit - b.Elapsed()
		if left <= 0 {
			return ErrLimit
		}
		wait = min(wait, left)
	}
	b.next = min(2*b.next, b.longest)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
