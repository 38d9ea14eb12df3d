package httpsession_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/httpsession"
)

const (
	grace = 30 * time.Second
	idle  = 30 * time.Minute
)

func registry(limit int) *httpsession.Registry {
	return httpsession.New(httpsession.Options{Max: limit, Grace: grace, Idle: idle})
}

// begin opens a session with an ID whose first request has returned.
func begin(t *testing.T, r *httpsession.Registry, id string) *httpsession.Session {
	t.Helper()
	s, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Name(id) || s.Name(id+"x") {
		t.Fatal("a session has one name")
	}
	s.Leave()
	return s
}

func ended(s *httpsession.Session) bool { return s.Context().Err() != nil }

// pass lets time pass and what is due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A session ends with what admitted the request that began it, and not with the request.
func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		valid, replace := context.WithCancel(t.Context())
		request, done := context.WithCancel(httpsession.Until(t.Context(), valid))
		s, err := registry(1).Begin()
		if err != nil {
			t.Fatal(err)
		}
		s.EndWith(request)
		s.EndWith(t.Context()) // what admits nothing, ends nothing
		done()
		synctest.Wait()
		if ended(s) {
			t.Error("it ends with its request")
		}
		replace()
		synctest.Wait()
		if !ended(s) {
			t.Error("it goes on")
		}
	})
}

// A session that has ended gets no ID, under which a client could enter it.
func TestEndedSessionGetsNoID(t *testing.T) {
	t.Parallel()
	r := registry(1)
	s, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	s.End()
	if s.Name("late") || r.Has("late") || r.Enter("late") != nil {
		t.Error("it has one")
	}
}

func TestSessionWithoutIDEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	r := registry(1)
	s, err := r.Begin()
	if err != nil || r.Present() != 1 {
		t.Fatal(err, r.Present())
	}
	s.Leave()
	if !ended(s) || r.Present() != 0 {
		t.Error("it goes on")
	}
}

// A client that is gone is no longer counted after the grace period, and what runs for
// it ends then.
func TestGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(3)
		quiet, busy, open := begin(t, r, "quiet"), begin(t, r, "busy"), begin(t, r, "open")
		call, _ := busy.Run(t.Context())
		streaming, _ := open.Run(t.Context())
		r.Enter("open")
		pass(grace - time.Second)
		if r.Present() != 3 || ended(busy) {
			t.Errorf("before the end of the grace period %d clients are connected", r.Present())
		}
		pass(time.Second)
		if r.Present() != 1 {
			t.Errorf("after the grace period %d clients are connected", r.Present())
		}
		if !ended(busy) || !errors.Is(call.Err(), context.Canceled) || r.Enter("busy") != nil {
			t.Error("the call of a client that is gone goes on")
		}
		if ended(quiet) {
			t.Error("a silent client for which nothing runs lost its session")
		}
		pass(2 * idle)
		if ended(open) || streaming.Err() != nil {
			t.Error("a client with an open stream lost its session")
		}
		if !ended(quiet) {
			t.Error("a session is kept for good")
		}
		open.Leave()
		pass(grace)
		if !ended(open) {
			t.Error("the stream closed and the call goes on")
		}
	})
}

// A client that comes back within the grace period finds everything as it was.
func TestComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(1)
		s := begin(t, r, "x")
		release := s.Hold()
		for range 5 {
			pass(grace - time.Second)
			if r.Enter("x") != s {
				t.Fatal("the session is gone")
			}
			s.Leave()
		}
		release()
		release() // counts once
		pass(grace)
		if ended(s) {
			t.Error("nothing runs and the session ended after the grace period")
		}
		hold := s.Hold()
		defer hold()
		pass(idle)
		if !ended(s) {
			t.Error("the session is kept for good")
		}
	})
}

// The number of sessions is bounded: the client that has been silent longest makes room,
// one for which nothing runs first, and one that is connected never.
func TestBound(t *testing.T) {
	t.Parallel()
	for range 20 { // the registry goes through its sessions in any order
		synctest.Test(t, testBound)
	}
}

func testBound(t *testing.T) {
	r := registry(3)
	first := begin(t, r, "first")
	defer first.Hold()()
	pass(time.Second)
	second := begin(t, r, "second")
	pass(time.Second)
	third := begin(t, r, "third")
	fourth := begin(t, r, "fourth")
	if !ended(second) || ended(first) || ended(third) || ended(fourth) {
		t.Errorf("ended: %t %t %t %t", ended(first), ended(second), ended(third), ended(fourth))
	}
	for _, id := range []string{"first", "third", "fourth"} {
		if r.Enter(id) == nil {
			t.Fatal(id)
		}
	}
	if _, err := r.Begin(); !errors.Is(err, httpsession.ErrFull) {
		t.Errorf("a session beyond the limit: %v", err)
	}
	third.Leave()
	if _, err := r.Begin(); err != nil || !ended(third) {
		t.Errorf("there is room and it is not used: %v", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	r := registry(2)
	s := begin(t, r, "x")
	r.Enter("x")
	ctx, done := s.Run(t.Context())
	defer done()
	r.Close()
	if <-ctx.Done(); !ended(s) || r.Present() != 0 {
		t.Error("a session outlives its registry")
	}
	if _, err := r.Begin(); err == nil {
		t.Error("a session begins after the end")
	}
	s.Leave() // the request that was open returns
}

// Hoarding costs no more than the limit.
func TestHoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(10)
		for i := range 10_000 {
			begin(t, r, strconv.Itoa(i))
		}
		if n := r.Present(); n != 10 {
			t.Errorf("%d sessions are kept", n)
		}
		if r.Enter("0") != nil || r.Enter("9999") == nil {
			t.Error("the wrong sessions are kept")
		}
		r.Close()
	})
}

// Calls count as long as they run, requests as long as they are open, and subscriptions never.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	r := registry(1)
	s := begin(t, r, "x")
	defer s.Hold()()
	expect := func(want int, when string) {
		t.Helper()
		if got := s.UnderWay(); got != want {
			t.Errorf("%s, %d are under way, want %d", when, got, want)
		}
	}
	r.Enter("x")
	expect(0, "with a subscription")
	_, first := s.Run(t.Context())
	_, second := s.Run(t.Context())
	r.Enter("x")
	expect(2, "with two calls of one request")
	first()
	r.Enter("x")
	r.Enter("x")
	expect(3, "with three more requests and one call")
	second()
	s.Leave()
	s.Leave()
	s.Leave()
	expect(0, "in the end")
}
