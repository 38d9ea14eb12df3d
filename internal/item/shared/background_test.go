package shared_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/item/shared"
)

// Changes that follow each other closely are one sync, no two run at once, and a change
// during a sync has one of its own.
func TestBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var syncs, running atomic.Int32
		b := shared.NewBackground(func(context.Context) error {
			if running.Add(1) > 1 {
				t.Error("two syncs run at once")
			}
			defer running.Add(-1)
			time.Sleep(time.Second)
			syncs.Add(1)
			return nil
		}, slog.New(slog.DiscardHandler))
		for range 50 {
			b.Changed()
		}
		time.Sleep(800 * time.Millisecond) // the sync runs
		if n := running.Load(); n != 1 {
			t.Fatalf("%d syncs run", n)
		}
		b.Changed()
		time.Sleep(10 * time.Second)
		if n := syncs.Load(); n != 2 {
			t.Errorf("%d syncs for 50 changes at once and a later one, want 2", n)
		}
		b.Close()
		b.Close()
		b.Changed()
		time.Sleep(10 * time.Second)
		if n := syncs.Load(); n != 2 {
			t.Errorf("%d syncs after the end, want 2", n)
		}
	})
}

// The changes of somebody who never rests are synced, too.
func TestBackgroundDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int32
		b := shared.NewBackground(func(context.Context) error { syncs.Add(1); return nil }, slog.New(slog.DiscardHandler))
		defer b.Close()
		for range 100 {
			b.Changed()
			time.Sleep(100 * time.Millisecond)
		}
		if n := syncs.Load(); n < 2 {
			t.Errorf("%d syncs in 10 s of changes", n)
		}
	})
}

// A sync that fails is logged and tried again.
func TestBackgroundTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int32
		var log bytes.Buffer
		b := shared.NewBackground(func(context.Context) error {
			if syncs.Add(1) == 1 {
				return errors.New("no network")
			}
			return nil
		}, slog.New(slog.NewTextHandler(&log, nil)))
		b.Changed()
		time.Sleep(5 * time.Minute)
		b.Close()
		if n := syncs.Load(); n != 2 || !strings.Contains(log.String(), "no network") {
			t.Errorf("%d syncs, log: %s", n, log.String())
		}
	})
}

// The end waits for the last change, and not for a sync that does not end.
func TestBackgroundEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var synced atomic.Bool
		b := shared.NewBackground(func(context.Context) error { synced.Store(true); return nil }, slog.New(slog.DiscardHandler))
		b.Changed()
		b.Close()
		if !synced.Load() {
			t.Error("the change before the end is not synced")
		}
		for name, sync := range map[string]func(context.Context) error{
			"waits for the context": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
			"waits for nothing":     func(context.Context) error { time.Sleep(time.Minute); return nil },
		} {
			b := shared.NewBackground(sync, slog.New(slog.DiscardHandler))
			b.Changed()
			begin := time.Now()
			b.Close()
			if took := time.Since(begin); took > time.Second {
				t.Errorf("%s: the end took %s", name, took)
			}
			time.Sleep(2 * time.Minute) // the sync ends, too
		}
	})
}
