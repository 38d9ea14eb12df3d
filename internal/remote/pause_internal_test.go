package remote

import (
	"net/http"
	"testing"
	"time"
)

// A service cannot make a pause negative or endless.
func TestRetryAfterIsBounded(t *testing.T) {
	t.Parallel()
	for _, header := range []http.Header{
		{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}},
		{"Retry-After": {"2147483647"}},
		{"X-Ratelimit-Reset": {"9223372036854775807"}},
		{"X-Ratelimit-Reset": {"253402300799"}},
	} {
		header.Set("Date", "Sat, 21 Nov 2026 10:00:00 GMT")
		if got := RetryAfter(&http.Response{Header: header}); got < 0 || got > 24*time.Hour {
			t.Errorf("%v: got %v", header, got)
		}
	}
	if got := RetryAfter(&http.Response{Header: http.Header{"Retry-After": {"90"}}}); got != 90*time.Second {
		t.Errorf("got %v, want 90s", got)
	}
}
