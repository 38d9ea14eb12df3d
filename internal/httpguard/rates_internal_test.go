package httpguard

import (
	"testing"
	"time"
)

type open map[string]bool

func (o open) HasSession(id string) bool { return o[id] }

// The shares of sessions that have ended are forgotten. An open one keeps what it has used of its own.
func TestSweep(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sessions := open{"kept": true, "ended": true}
	r := newRates(1, sessions)
	r.swept = now
	take := func(id string) bool { return r.take(now, &connection{}, id) }
	for take("kept") { // first the requests of all, then its share
	}
	take("ended")
	if len(r.shares) != 2 {
		t.Fatalf("there are %d shares", len(r.shares))
	}
	delete(sessions, "ended")
	now = now.Add(sweepTime + time.Millisecond)
	r.all.AllowN(now, r.all.Burst())
	for take("kept") {
	}
	if r.shares["kept"] == nil || r.shares["ended"] != nil {
		t.Errorf("the shares are %v", r.shares)
	}
}
