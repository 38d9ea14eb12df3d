package entry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/board/entry"
)

// The oldest of too many links is no longer valid, and the oldest of too many sessions ends.
func TestMany(t *testing.T) {
	t.Parallel()
	const maxLinks, maxSessions = 16, 64
	access := entry.New("/", time.Now)
	enter := func(secret string) (*http.Request, bool) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		w := httptest.NewRecorder()
		if !access.Enter(w, r, secret) {
			return nil, false
		}
		r.AddCookie(w.Result().Cookies()[0])
		return r, true
	}
	links := make([]string, maxLinks+1)
	for i := range links {
		links[i] = access.Link(false)
	}
	for i, link := range links {
		if _, ok := enter(link); ok != (i > 0) {
			t.Errorf("link %d of %d is valid: %t", i+1, len(links), ok)
		}
	}
	var first, last *http.Request
	for i := range maxSessions + 1 {
		last, _ = enter(access.Link(false))
		if i == 0 {
			first = last
		}
	}
	if access.Session(first) != nil || access.Session(last) == nil {
		t.Error("not the oldest session ended")
	}
}

// The streams of a session end when nobody has used it for [entry.Idle]. A request prolongs it.
func TestIdleSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		access := entry.New("/", time.Now)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		w := httptest.NewRecorder()
		if !access.Enter(w, r, access.Link(false)) {
			t.Fatal("a new link is not valid")
		}
		r.AddCookie(w.Result().Cookies()[0])
		use := func() *entry.Session { return access.Session(r) }
		ctx, cancel := use().During(context.Background())
		defer cancel()
		for range 3 {
			time.Sleep(entry.Idle)
			synctest.Wait()
			if ctx.Err() != nil || use() == nil {
				t.Fatal("the session ended too early")
			}
		}
		time.Sleep(entry.Idle + time.Second)
		synctest.Wait()
		if ctx.Err() == nil || use() != nil {
			t.Error("a stream outlives its session")
		}
	})
}
