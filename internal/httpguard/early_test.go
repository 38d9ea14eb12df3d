package httpguard_test

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// A request ends with its connection, although the client has sent more before it left.
func TestEarlyByte(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"a byte": "\n", "a request": get, "half a request": get[:20]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var ended time.Duration
				ours, end := connected(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					begun := time.Now()
					select {
					case <-r.Context().Done():
					case <-time.After(time.Hour):
					}
					ended = time.Since(begun)
				}))
				defer end()
				if _, err := io.WriteString(ours, get); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // an answer may take any time
				go io.WriteString(ours, more)
				synctest.Wait()
				_ = ours.Close()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if ended == 0 || ended > time.Minute+5*time.Second {
					t.Errorf("the request ended after %s", ended)
				}
			})
		})
	}
}

// A client may send its next request a moment before the server has noticed the end of the one before.
func TestEarlyRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, end := connected(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "an answer")
		}))
		defer end()
		in := bufio.NewReader(ours)
		for range 2 {
			go func() {
				for range 3 { // each one after the server has begun with the one before
					_, _ = io.WriteString(ours, get)
				}
			}()
			for i := range 3 {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(i, err)
				}
				if text, err := io.ReadAll(res.Body); err != nil || string(text) != "an answer" {
					t.Errorf("%d: %q, %v", i, text, err)
				}
				_ = res.Body.Close()
			}
			time.Sleep(time.Minute) // the connection stays open
		}
	})
}
