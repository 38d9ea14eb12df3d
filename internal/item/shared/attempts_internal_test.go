package shared

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/git/sidebranch"
)

// A remote can claim forever that somebody else was faster.
func TestAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		err := exchanged(t.Context(), remoteTime, func() error { attempts++; return sidebranch.ErrMoved })
		if attempts != maxAttempts || err == nil || !strings.Contains(err.Error(), "100 times") {
			t.Errorf("%v after %d attempts", err, attempts)
		}
		attempts = 0
		err = exchanged(t.Context(), remoteTime, func() error {
			if attempts++; attempts < maxAttempts {
				return sidebranch.ErrMoved
			}
			return nil
		})
		if err != nil {
			t.Errorf("the last attempt succeeded: %v", err)
		}
	})
}

// Slow attempts end with the time of a sync, and the error says how often others were faster.
func TestSlowAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		err := exchanged(t.Context(), remoteTime, func() error { time.Sleep(4 * time.Minute); return sidebranch.ErrMoved })
		if took := time.Since(begin); took > remoteTime+4*time.Minute || err == nil || !strings.Contains(err.Error(), "3 times") || !strings.Contains(err.Error(), "took 12m0s") {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A remote that is too slow counts as unreachable, and the reason is its slowness.
func TestSlowRemote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := errors.New("it took too long")
		remote, cancel := context.WithTimeoutCause(t.Context(), time.Second, slow)
		defer cancel()
		transfer := errors.New("killed")
		if offline, err := unreachable(t.Context(), remote, transfer); offline != nil || !errors.Is(err, transfer) {
			t.Errorf("in time: %v, %v", offline, err)
		}
		time.Sleep(2 * time.Second)
		if offline, err := unreachable(t.Context(), remote, transfer); !errors.Is(offline, slow) || err != nil {
			t.Errorf("too late: %v, %v", offline, err)
		}
	})
}
