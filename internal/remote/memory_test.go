package remote_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/remote"
)

// A huge answer costs a bounded amount of memory, whatever the service says of its size,
// and whether it is kept or not.
func TestHugeAnswers(t *testing.T) { //nolint:paralleltest // it measures the process
	const (
		size = 300 << 20
		// Reading it whole allocates more than twice its size. The race detector
		// doubles what growing a buffer allocates.
		limit = 200
	)
	body := func(w io.Writer, n int) {
		_, _ = io.WriteString(w, `["`)
		for chunk := strings.Repeat("x", 1<<20); n > 0; n -= len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return // the client has seen enough
			}
		}
		_, _ = io.WriteString(w, `"]`)
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		ok     bool
	}{
		"in chunks": {func(w http.ResponseWriter, _ *http.Request) { body(w, size) }, false},
		"with its length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(size+4))
			body(w, size)
		}, false},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			body(z, size)
			_ = z.Close()
		}, false},
		"just small enough": {func(w http.ResponseWriter, _ *http.Request) { body(w, 7<<20) }, true},
	} {
		for _, cache := range []string{"", t.TempDir()} {
			s := serve(t, tt.answer)
			c := client(t, remote.Options{CacheDir: cache})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := c.Do(req)
			if err == nil {
				var into []string
				err = remote.ReadJSON("test", res, &into)
			}
			runtime.ReadMemStats(&after)
			if (err == nil) != tt.ok {
				t.Errorf("%s: %v", name, err)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > limit {
				t.Errorf("%s, cache %t: %d MiB were allocated in all", name, cache != "", used)
			} else {
				t.Logf("%s, cache %t: %d MiB", name, cache != "", used)
			}
		}
	}
}
