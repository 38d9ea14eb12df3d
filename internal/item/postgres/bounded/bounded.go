// Package bounded limits how much a database can make this program read.
//
// [Apply] sets the limits of a connection: one message has at most [MaxMessage] bytes, and
// between two requests the server sends at most so many bytes as the caller allows, whatever
// they are: rows, notices, parameters, or announcements. It has at most 100 parameters in all, because
// the client keeps them. A server that sends more loses the
// connection, and the call fails with an error for which [Exceeded] is true.
package bounded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// MaxMessage is how many bytes a message of a server can have. A row is one message: an
	// item with all its comments.
	MaxMessage = 64 << 20
	// MaxAnswer is how many bytes the answer to a request can have.
	MaxAnswer = 256 << 20
	// MaxRows is how many items or claims an answer can have.
	MaxRows = 500_000
)

// errTooMuch is the error of a connection whose server sends more than its limit.
var errTooMuch = errors.New("the response is too long")

// Exceeded reports whether an error is that of a limit.
func Exceeded(err error) bool {
	_, message := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err)
	return message || errors.Is(err, errTooMuch)
}

// CheckRows returns an error if an answer has more rows than are read.
func CheckRows(n int) error {
	if n > MaxRows {
		return fmt.Errorf("%w: it has more than %d rows", errTooMuch, MaxRows)
	}
	return nil
}

// Apply limits the connections that a configuration makes.
func Apply(c *pgx.ConnConfig, maxAnswer int64) {
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		raw, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		limited := &conn{Conn: raw, limit: maxAnswer}
		limited.left.Store(maxAnswer)
		return limited, nil
	}
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(&messages{Reader: r}, w)
		f.SetMaxBodyLen(int(min(MaxMessage, maxAnswer)))
		return f
	}
}

// conn is a connection on which a limited number of bytes can be read between two writes.
type conn struct {
	net.Conn
	limit int64
	left  atomic.Int64
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.left.Add(-int64(n)) < 0 {
		return 0, fmt.Errorf("%w: it has more than %d MiB", errTooMuch, c.limit>>20)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.left.Store(c.limit)
	return c.Conn.Write(p)
}
