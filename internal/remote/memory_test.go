package remote_test

import (
	"compress/gzip"
	"errors"
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

// Small values take more memory than bytes of an answer: an answer with far more values than a real
// one is refused before it is decoded, whatever its form.
func TestManyValues(t *testing.T) { //nolint:paralleltest // it measures the process
	type large struct {
		Inner []struct{ Text [20]string }
		Text  [100]string
	}
	const (
		size  = 7 << 20
		limit = 250 // MiB in all; the largest lists take gigabytes without a limit
	)
	repeat := func(begin, each, end string) string {
		return begin + strings.Repeat(each, (size-len(begin)-len(end))/len(each)) + end
	}
	for name, tt := range map[string]struct {
		body string
		ok   bool
	}{
		"empty objects":          {repeat("[{}", ",{}", "]"), false},
		"one long list":          {"[{}" + strings.Repeat(",{}", 100_000) + "]", false},
		"values of another type": {repeat("[0", ",0", "]"), false},
		"lists of empty objects": {repeat(`[{}`, `,{"Inner":[`+strings.Repeat("{},", 99)+"{}]}", "]"), false},
		"a list in an object":    {`{"Inner":` + repeat("[{}", ",{}", "]") + `}`, false},
		"a hundred long texts":   {repeat(`[{"Inner":[]}`, `,{"Unknown":"`+strings.Repeat(`[{,\\\"`, 8<<10)+`"}`, "]"), true},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var into []large
		err := remote.DecodeJSON("test", &http.Response{Header: http.Header{}}, []byte(tt.body), &into)
		runtime.ReadMemStats(&after)
		if (err == nil) != tt.ok || !tt.ok && !errors.Is(err, remote.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > limit {
			t.Errorf("%s: %d MiB were allocated in all", name, used)
		}
	}
}
