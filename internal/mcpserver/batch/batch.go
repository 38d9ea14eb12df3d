// Package batch limits the messages in the body of one HTTP request.
//
// The revision 2025-03-26 of the protocol knows batches. A server runs all messages of a batch at
// the same time and keeps all answers until the client reads them, and a limit on requests counts
// the batch as one. [Limit] guarantees that a body which it accepts has at most [Max] messages, and
// that the next reader of the body sees all of it.
package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Max is the maximum number of messages in the body of one request.
const Max = 20

// ErrTooLong reports that a batch has more than [Max] messages.
var ErrTooLong = errors.New("the batch has too many messages")

// Limit reads the body of a request if it is a batch. It returns [ErrTooLong] for a long one, and
// the error of a body that cannot be read. Limit the size of the body first.
func Limit(r *http.Request) error {
	body := bufio.NewReader(r.Body)
	if !begins(body) {
		r.Body = readCloser{body, r.Body}
		return nil
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	if !few(text) {
		return ErrTooLong
	}
	r.Body = readCloser{bytes.NewReader(text), r.Body}
	return nil
}

// readCloser is a body of which a part was read.
type readCloser struct {
	io.Reader
	io.Closer
}

// begins reports whether a text begins with an array. It consumes only white space.
func begins(text *bufio.Reader) bool {
	for {
		next, err := text.Peek(1)
		switch {
		case err != nil:
			return false
		case next[0] == '[':
			return true
		case bytes.IndexByte([]byte(" \t\r\n"), next[0]) < 0:
			return false
		}
		_, _ = text.Discard(1) // Peek has read it
	}
}

// few reports whether an array has at most [Max] elements. Damaged text has few: the
// library refuses it.
func few(array []byte) bool {
	elements := json.NewDecoder(bytes.NewReader(array))
	if _, err := elements.Token(); err != nil {
		return true
	}
	for n := 0; elements.More(); n++ {
		if n == Max {
			return false
		}
		var message json.RawMessage
		if elements.Decode(&message) != nil {
			return true
		}
	}
	return true
}
