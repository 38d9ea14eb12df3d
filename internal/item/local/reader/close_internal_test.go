package reader

import (
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/rooted"
)

// Close does not wait for a listing of a file system that does not answer: a server ends with its
// input.
func TestCloseDuringListing(t *testing.T) {
	t.Parallel()
	r := Open(rooted.Dir{Wall: t.TempDir(), Name: "."}, Options{})
	r.mu.Lock() // as a listing does
	closed := make(chan struct{})
	go func() {
		r.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("Close waits for a listing")
	}
	r.mu.Unlock()
}
