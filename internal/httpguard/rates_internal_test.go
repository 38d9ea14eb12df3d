package httpguard

import (
	"strconv"
	"testing"
	"time"
)

// A sweep forgets silent clients, and never one that is over its limit.
func TestSweep(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRates(10, func() time.Time { return now })
	for i := range 50 {
		r.take("silent " + strconv.Itoa(i))
	}
	// The busy client uses what it has each second, beyond its limit, over many sweeps.
	allowed := 0
	const seconds = 60
	for range seconds * 10 {
		now = now.Add(100 * time.Millisecond)
		for range 5 {
			if r.take("busy") {
				allowed++
			}
		}
	}
	if largest := seconds*10 + burst*10; allowed > largest || allowed < seconds*10 {
		t.Errorf("a client was allowed %d requests in %d seconds, at largest %d are right", allowed, seconds, largest)
	}
	if len(r.clients) != 1 {
		t.Errorf("%d clients are remembered", len(r.clients))
	}
}

// Clients that come and go cost no more memory than what comes within two sweeps.
func TestManyClients(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRates(0, func() time.Time { return now })
	largest := 0
	for i := range 100_000 {
		now = now.Add(time.Millisecond) // a thousand a second, as many as there can be
		r.take(strconv.Itoa(i))
		largest = max(largest, len(r.clients))
	}
	if limit := int(2*forget.Seconds())*allClients*DefaultRate + 1; largest > limit {
		t.Errorf("%d clients were remembered at once, want at largest %d", largest, limit)
	}
}
