package bounded

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// maxIterations is the maximum work that a server can request for a login: this program repeats a
// hash so often before the server has proved anything. PostgreSQL requests 4,096 by default, and
// nothing interrupts the work.
const maxIterations = 200_000

// Messages of a server.
const (
	authentication = 'R'
	ready          = 'Z' // the end of the login
	saslContinue   = 11
	lengthSize     = 4
	headerSize     = 1 + lengthSize // the kind, and the length of the rest including itself
	maxLogin       = 64 << 10
)

// login reads what a server sends, and refuses a login that requests too much work.
type login struct {
	io.Reader
	pending []byte // the beginning of a message
	skip    int64  // what remains of a message of another kind
	over    bool
}

// Read implements [io.Reader].
func (l *login) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for rest := p[:n]; len(rest) > 0 && !l.over; {
		if l.skip > 0 {
			skipped := min(l.skip, int64(len(rest)))
			l.skip, rest = l.skip-skipped, rest[skipped:]
			continue
		}
		l.pending, rest = append(l.pending, rest[0]), rest[1:]
		if refused := l.message(); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// message examines the pending message if it is complete.
func (l *login) message() error {
	if len(l.pending) < headerSize {
		return nil
	}
	size := int64(binary.BigEndian.Uint32(l.pending[1:]))
	switch kind := l.pending[0]; {
	case kind == ready, size < lengthSize: // the frontend refuses the latter
		l.over, l.pending = true, nil
	case kind != authentication:
		l.skip, l.pending = size-lengthSize, l.pending[:0]
	case size > maxLogin:
		return fmt.Errorf("%w: a message of the login has more than %d KiB", errTooMuch, maxLogin>>10)
	case int64(len(l.pending)) == 1+size:
		many := iterations(l.pending[headerSize:])
		l.pending = l.pending[:0]
		if many > maxIterations {
			return fmt.Errorf("%w: the login requests %d iterations of a hash, and at most %d are possible", errTooMuch, many, maxIterations)
		}
	}
	return nil
}

// iterations returns the number in an AuthenticationSASLContinue message: "r=…,s=…,i=4096".
func iterations(body []byte) int {
	const kind = 4
	if len(body) < kind || binary.BigEndian.Uint32(body) != saslContinue {
		return 0
	}
	for field := range bytes.SplitSeq(body[kind:], []byte(",")) {
		if text, ok := bytes.CutPrefix(field, []byte("i=")); ok {
			n, err := strconv.Atoi(string(text))
			if err != nil {
				return maxIterations + 1
			}
			return n
		}
	}
	return 0
}
