package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/turn"
)

// One at a time has the turn, and each gets it.
func TestTake(t *testing.T) {
	t.Parallel()
	dir := turn.Dir(filepath.Join(t.TempDir(), "turns"))
	var inside, most, had atomic.Int32
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			release := dir.Take(t.Context(), "x")
			defer release()
			most.Store(max(most.Load(), inside.Add(1)))
			time.Sleep(time.Millisecond)
			inside.Add(-1)
			had.Add(1)
		})
	}
	all.Wait()
	if most.Load() != 1 || had.Load() != 5 {
		t.Errorf("%d had the turn, %d at once", had.Load(), most.Load())
	}
}

// A caller that cannot wait continues, and another name is another turn.
func TestTakeEnds(t *testing.T) {
	t.Parallel()
	dir := turn.Dir(filepath.Join(t.TempDir(), "turns"))
	defer dir.Take(t.Context(), "x")()
	dir.Take(t.Context(), "y")()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	dir.Take(ctx, "x")()
	turn.Dir("").Take(t.Context(), "x")()
}

// A process that keeps its turn, because it is stopped for example, delays the others for seconds.
func TestTakeFromStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := turn.Dir(filepath.Join(t.TempDir(), "turns"))
		defer dir.Take(t.Context(), "x")()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		dir.Take(ctx, "x")()
		if waited := time.Since(begun); waited > 10*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestRest(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "turns")
	dir, now := turn.Dir(place), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	paused := func(at time.Time) bool {
		_, is := dir.Paused("x", at)
		return is
	}
	if paused(now) {
		t.Error("resting without a wish")
	}
	if err := dir.Pause("x", now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if until, is := dir.Paused("x", now); !is || !until.Equal(now.Add(time.Hour)) {
		t.Errorf("got %v, %v", until, is)
	}
	if _, is := dir.Paused("y", now); is {
		t.Error("another name rests, too")
	}
	if paused(now.Add(2 * time.Hour)) {
		t.Error("still resting")
	}
	// A time far away, or none, is nobody's wish.
	for _, text := range []string{"2036-01-01T00:00:00Z", "soon", ""} {
		if err := dir.Pause("x", now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(place, "*.rest"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if paused(now) {
			t.Errorf("%q counts", text)
		}
	}
	// Nothing is read where others can write.
	if err := dir.Pause("x", now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(place, 0o777); err != nil {
		t.Fatal(err)
	}
	if paused(now) {
		t.Error("a directory that others can enter is believed")
	}
}
