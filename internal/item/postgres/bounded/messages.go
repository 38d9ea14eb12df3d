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

// maxParameters is the maximum number of parameters that a server can report on a connection, and
// maxSmall the maximum size of each, and of a message of the login. The client keeps all parameters.
// PostgreSQL reports about fifteen.
const (
	maxParameters = 100
	maxSmall      = 64 << 10
)

// Messages of a server.
const (
	authentication = 'R'
	parameter      = 'S'
	ready          = 'Z' // the end of the login
	saslContinue   = 11
	lengthSize     = 4
	headerSize     = 1 + lengthSize // the kind, and the length of the rest including itself
)

// messages reads what a server sends. It refuses a login that requests too much work, and more
// parameters than a server has.
type messages struct {
	io.Reader
	pending    []byte // the beginning of a message
	skip       int64  // what remains of a message that nobody examines
	loggedIn   bool
	over       bool
	parameters map[string]struct{}
}

// Read implements [io.Reader].
func (m *messages) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	for rest := p[:n]; len(rest) > 0 && !m.over; {
		if m.skip > 0 {
			skipped := min(m.skip, int64(len(rest)))
			m.skip, rest = m.skip-skipped, rest[skipped:]
			continue
		}
		missing := min(m.missing(), len(rest))
		m.pending, rest = append(m.pending, rest[:missing]...), rest[missing:]
		if refused := m.examine(); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// missing returns how many bytes the pending message needs next: its header, or its rest.
func (m *messages) missing() int {
	if len(m.pending) < headerSize {
		return headerSize - len(m.pending)
	}
	return 1 + int(m.size()) - len(m.pending)
}

// size returns the size of the pending message without its kind.
func (m *messages) size() int64 { return int64(binary.BigEndian.Uint32(m.pending[1:])) }

// examine examines the pending message if it is complete. Only messages that count are kept until then.
func (m *messages) examine() error {
	if len(m.pending) < headerSize {
		return nil
	}
	size, kind := m.size(), m.pending[0]
	counts := kind == parameter || kind == authentication && !m.loggedIn
	switch {
	case size < lengthSize: // the frontend refuses it
		m.over, m.pending = true, nil
	case !counts:
		m.loggedIn = m.loggedIn || kind == ready
		m.skip, m.pending = size-lengthSize, m.pending[:0]
	case size > maxSmall:
		return fmt.Errorf("%w: a parameter, or a message of the login, has more than %d KiB", errTooMuch, maxSmall>>10)
	case int64(len(m.pending)) == 1+size:
		body := m.pending[headerSize:]
		m.pending = m.pending[:0]
		if kind == parameter {
			return m.count(body)
		}
		if many := iterations(body); many > maxIterations {
			return fmt.Errorf("%w: the login requests %d iterations of a hash, and at most %d are possible", errTooMuch, many, maxIterations)
		}
	}
	return nil
}

// count counts the parameter of a ParameterStatus message, which begins with its name.
func (m *messages) count(body []byte) error {
	name, _, _ := bytes.Cut(body, []byte{0})
	if m.parameters == nil {
		m.parameters = make(map[string]struct{})
	}
	if m.parameters[string(name)] = struct{}{}; len(m.parameters) > maxParameters {
		return fmt.Errorf("%w: it has more than %d parameters", errTooMuch, maxParameters)
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
