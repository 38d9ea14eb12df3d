package httpguard_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
)

// one is a listener with one connection.
type one struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *one) Close() error   { close(l.closed); return nil }
func (l *one) Addr() net.Addr { return &net.TCPAddr{} }

// A body that does not arrive ends after half a minute, and an answer may take longer.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want string
		wait time.Duration
	}{
		"a body that stops": {`{"half`, "6 bytes, timeout: true", 30 * time.Second},
		"a slow answer":     {`{"whole":1}`, "11 bytes, timeout: false", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err == nil {
						select {
						case <-time.After(time.Hour):
						case <-r.Context().Done(): // as if the client had hung up
						}
					}
					fmt.Fprintf(w, "%d bytes, timeout: %t", len(body), errors.Is(err, os.ErrDeadlineExceeded))
				})
				server := httpguard.Server(httpguard.New(httpguard.Options{Now: time.Now}, handler))
				l := &one{make(chan net.Conn), make(chan struct{})}
				go server.Serve(httpguard.Listener(l))
				ours, theirs := net.Pipe()
				l.conn <- theirs
				begun := time.Now()
				if _, err := io.WriteString(ours, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n"+tt.body); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := io.ReadAll(res.Body) // what there is
				_ = res.Body.Close()
				if string(got) != tt.want || time.Since(begun) != tt.wait {
					t.Errorf("got %q after %s, want %q after %s", got, time.Since(begun), tt.want, tt.wait)
				}
				_ = ours.Close()
				_ = server.Close()
			})
		})
	}
}

// A body that nobody reads has the same deadline, so the connection ends.
func TestUnreadBody(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"without a token":    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n",
		"of a foreign host":  "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 11\r\n\r\n",
		"of an open path":    "GET /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n",
		"in pieces":          "GET /open HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
		"that is not wanted": "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 11\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := httpguard.Server(httpguard.New(httpguard.Options{Token: func() string { return token }, Open: []string{"/open"}, Now: time.Now},
					http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
				l := &one{make(chan net.Conn), make(chan struct{})}
				go server.Serve(httpguard.Listener(l))
				ours, theirs := net.Pipe()
				l.conn <- theirs
				begun := time.Now()
				go io.WriteString(ours, head)
				_ = ours.SetReadDeadline(begun.Add(time.Hour))
				if _, err := io.ReadAll(ours); err != nil || time.Since(begun) > 31*time.Second {
					t.Errorf("the connection ends after %s: %v", time.Since(begun), err)
				}
				_ = ours.Close()
				_ = server.Close()
			})
		})
	}
}

// A connection without a request ends after two minutes.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, end := connected(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		defer end()
		go io.WriteString(ours, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		begun := time.Now()
		_ = ours.SetReadDeadline(begun.Add(time.Hour))
		if _, err := io.ReadAll(ours); err != nil || time.Since(begun) != 2*time.Minute {
			t.Errorf("the connection ends after %s: %v", time.Since(begun), err)
		}
	})
}

// A header has at most 64 KiB, and what net/http adds to that.
func TestLargeHeader(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{32 << 10: "200", 80 << 10: "431"} {
		synctest.Test(t, func(t *testing.T) {
			ours, end := connected(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer end()
			go io.WriteString(ours, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", size)+"\r\n\r\n")
			_ = ours.SetReadDeadline(time.Now().Add(time.Minute))
			got, _ := io.ReadAll(ours) // until the server closes the connection, or nothing more comes
			if !strings.HasPrefix(string(got), "HTTP/1.1 "+want) {
				t.Errorf("%d bytes: %s", size, got)
			}
		})
	}
}

// connected returns a connection to a server of a guarded handler, and what ends both.
func connected(handler http.Handler) (conn net.Conn, end func()) {
	server := httpguard.Server(httpguard.New(httpguard.Options{Now: time.Now}, handler))
	l := &one{make(chan net.Conn), make(chan struct{})}
	go server.Serve(httpguard.Listener(l))
	ours, theirs := net.Pipe()
	l.conn <- theirs
	return ours, func() {
		_ = ours.Close()
		_ = server.Close()
	}
}

// A client that does not take an answer loses its connection after half a minute, and a stream in
// which nothing happens stays open.
func TestUnreadAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"a large one": "stream", "the end of one": "short"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var ended time.Duration
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, answer)
					if answer == "short" {
						return
					}
					w.(http.Flusher).Flush()
					time.Sleep(time.Hour)
					begun := time.Now()
					_, _ = w.Write(make([]byte, 100<<10))
					<-r.Context().Done()
					ended = time.Since(begun)
				})
				server := httpguard.Server(httpguard.New(httpguard.Options{Now: time.Now}, handler))
				l := &one{make(chan net.Conn), make(chan struct{})}
				go server.Serve(httpguard.Listener(l))
				ours, theirs := net.Pipe()
				l.conn <- theirs
				if _, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				if answer == "stream" {
					if res, err := http.ReadResponse(bufio.NewReader(ours), nil); err != nil || res.StatusCode != http.StatusOK {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Hour + time.Minute)
				synctest.Wait()
				_ = ours.SetReadDeadline(time.Now().Add(time.Second))
				if _, err := io.ReadAll(ours); err != nil || ended > 31*time.Second {
					t.Errorf("the connection is open: %v, and the handler ran for %s", err, ended)
				}
				_ = ours.Close()
				_ = server.Close()
			})
		})
	}
}
