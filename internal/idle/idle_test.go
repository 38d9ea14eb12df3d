package idle

import (
	"testing"
	"testing/synctest"
	"time"
)

// Memory goes back once after the last call of a burst, and not while a call runs.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rests := 0
		i := New(time.Second, func() { rests++ })
		wait := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if rests != want {
				t.Fatalf("%d rests, want %d", rests, want)
			}
		}
		wait(time.Minute, 0)
		i.Begin()
		wait(time.Minute, 0)
		i.Begin()
		i.End()
		wait(time.Minute, 0)
		i.End()
		wait(time.Second/2, 0)
		i.Begin()
		wait(time.Minute, 0)
		i.End()
		wait(2*time.Second, 1)
		wait(time.Minute, 1)
	})
}
