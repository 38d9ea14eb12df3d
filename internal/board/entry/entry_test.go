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
