package follow_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/copse-dev/copse/internal/item/postgres/follow"
)

// database is one whose state a test sets, and which delivers no announcements.
type database struct {
	mu      sync.Mutex
	state   follow.State
	err     error
	looks   int
	connect atomic.Int64
}

func (d *database) set(s follow.State, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state, d.err = s, err
}

// looked returns how often the state was asked for since the last call.
func (d *database) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.looks
	d.looks = 0
	return n
}

func (d *database) source() follow.Source {
	return follow.Source{
		Look: func(context.Context) (follow.State, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.looks++
			return d.state, d.err
		},
		Connect: func(context.Context) (*pgx.Conn, error) {
			d.connect.Add(1)
			return nil, &pgconn.PgError{Code: "0A000", Message: "LISTEN is not supported"}
		},
		Send: func(context.Context, string) error { return nil },
	}
}

// Without announcements, a follower sees each change, and asks less and less often while
// nothing changes.
func TestWithoutAnnouncements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &database{state: follow.State{Project: 7, Version: 1}}
		var ready atomic.Bool
		var changes atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			follow.Run(ctx, d.source(), func() { ready.Store(true) }, func() { changes.Add(1) })
		}()
		synctest.Wait()
		if !ready.Load() || changes.Load() != 0 {
			t.Fatalf("ready %t, %d changes", ready.Load(), changes.Load())
		}

		time.Sleep(time.Minute)
		d.looked()
		time.Sleep(time.Hour)
		if n := d.looked(); n < 1000 || n > 1800 {
			t.Errorf("it asked %d times in an hour", n)
		}
		if n := d.connect.Load(); n > 20 {
			t.Errorf("it tried to listen %d times", n)
		}
		for i, next := range []struct {
			state follow.State
			err   error
		}{
			{state: follow.State{Project: 7, Version: 2}},
			{state: follow.State{Project: 7, Version: 2, Claims: 1, Latest: 5}},
			{err: errors.New("the server is down")},
			{state: follow.State{Project: 7, Version: 2, Claims: 1, Latest: 5}},
			{state: follow.State{Project: 7, Version: 2, Claims: 1, Gone: 1, Latest: 5}},
		} {
			d.set(next.state, next.err)
			time.Sleep(4 * time.Second)
			if n := changes.Load(); n != int64(i+1) {
				t.Errorf("%d changes are reported, %d were made", n, i+1)
			}
		}
		// After a change, the next one is looked for soon.
		d.set(follow.State{Project: 7, Version: 3}, nil)
		time.Sleep(4 * time.Second)
		d.set(follow.State{Project: 7, Version: 4}, nil)
		d.looked()
		time.Sleep(4 * time.Second)
		if n := d.looked(); n < 2 {
			t.Errorf("it asked %d times after a change", n)
		}
		cancel()
		<-ended
	})
}

// Changes that come quickly share announcements, and the last one is announced, too.
func TestAnnouncer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		a := follow.NewAnnouncer(func(_ context.Context, payload string) error {
			if payload != "7" {
				t.Errorf("announced %q", payload)
			}
			sent.Add(1)
			return nil
		})
		a.Flush()
		for range 1000 {
			a.Changed(7)
			time.Sleep(time.Millisecond)
		}
		if n := sent.Load(); n < 10 || n > 30 {
			t.Errorf("%d announcements in a second", n)
		}
		before := time.Now()
		a.Changed(7)
		a.Flush()
		if waited := time.Since(before); waited > 0 {
			t.Errorf("the end took %s", waited)
		}
		n := sent.Load()
		time.Sleep(time.Minute)
		if sent.Load() != n {
			t.Error("something was announced without a change")
		}

		refused := 0
		a = follow.NewAnnouncer(func(context.Context, string) error {
			refused++
			return &pgconn.PgError{Code: "42883", Message: "function pg_notify does not exist"}
		})
		for range 5 {
			a.Changed(7)
			time.Sleep(time.Minute)
		}
		if refused != 1 {
			t.Errorf("a database without announcements was tried %d times", refused)
		}
	})
}
