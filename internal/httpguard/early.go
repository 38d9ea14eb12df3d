package httpguard

import (
	"context"
	"net"
	"sync"
	"time"
)

// earlyTime is how long the next request of a client may wait for the answer to the one before. A client
// that has its answer sends the next one at once, and the server needs a moment to notice.
const earlyTime = 5 * time.Second

// Listener returns a listener for a server of [Server]. While a request runs, net/http watches its
// connection by reading one byte. A byte that a client sends meanwhile ends that watch, so the end of the
// client would go unnoticed, and the request would run on for nobody. A connection of this listener
// closes if such a byte stays unread for five seconds, and that ends its request. Pipelining is therefore
// not supported; no MCP client uses it.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watched{Conn: c}, nil
}

// watched is a connection that closes if its client sends more before its answer.
type watched struct {
	net.Conn
	ended context.CancelFunc // set before the first request

	mu    sync.Mutex
	early *time.Timer // until the byte is read
}

// Read reads what the client sends next. net/http reads a single byte only to watch the connection.
func (w *watched) Read(p []byte) (int, error) {
	w.read()
	n, err := w.Conn.Read(p)
	if len(p) == 1 && n == 1 {
		w.mu.Lock()
		w.early = time.AfterFunc(earlyTime, func() { _ = w.Close() })
		w.mu.Unlock()
	}
	return n, err
}

// read forgets an early byte: the server reads the request that begins with it.
func (w *watched) read() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.early != nil {
		w.early.Stop()
		w.early = nil
	}
}

// Close closes the connection and ends its request.
func (w *watched) Close() error {
	w.read()
	if w.ended != nil {
		w.ended()
	}
	return w.Conn.Close()
}

// CloseWrite ends what the server sends. net/http uses it if the client may not have read the answer.
func (w *watched) CloseWrite() error {
	if c, ok := w.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
