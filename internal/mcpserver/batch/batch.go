// Package batch limits the messages in the body of one HTTP request.
//
// The revision 2025-03-26 of the protocol knows batches. A server runs all messages of a batch at
// the same time and keeps all answers until the client reads them, and a limit on requests counts
// the batch as one. A server also keeps what a client sends with initialize, for as long as the
// session lasts. [Limit] guarantees that a body which it accepts has at most [Max] messages, that
// only calls of tools and prompts are larger than [MaxSmall], and that the next reader of the body
// sees all of it.
package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/copse-dev/copse/internal/mcpserver/wire"
)

// Max is the maximum number of messages in the body of one request.
const Max = 20

// ErrTooLong reports that a batch has more than [Max] messages.
var ErrTooLong = errors.New("the batch has too many messages")

// MaxSmall is the maximum size of a message that is not a call, in bytes.
const MaxSmall = 64 << 10

// ErrTooLarge reports that a message other than a call is larger than [MaxSmall].
var ErrTooLarge = errors.New("the message is too large")

// Limit reads the body of a request. It returns [ErrTooLong] for a long batch, [ErrTooLarge] for a message
// that is too large, a [*wire.IDError] for one whose ID would be changed, a [*wire.AmbiguousError], and the error of a
// body that cannot be read. Limit the size of the body first.
func Limit(r *http.Request) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	if err := check(text); err != nil {
		return err
	}
	r.Body = readCloser{bytes.NewReader(text), r.Body}
	return nil
}

// Asks reports whether the body of a request has a message that the server answers. Notifications and
// answers of the client have no answer. The next reader of the body sees all of it. Limit the size of
// the body first.
func Asks(r *http.Request) bool {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return true // the next reader would not see all of it
	}
	r.Body = readCloser{bytes.NewReader(text), r.Body}
	if !json.Valid(text) {
		return true
	}
	for message := range messages(text) {
		if head, err := wire.ReadEnvelope(message); err != nil || head.ID != nil && head.Method != "" {
			return true
		}
	}
	return false
}

// readCloser is a body of which a part was read.
type readCloser struct {
	io.Reader
	io.Closer
}

// check returns an error for a body with too many messages, or with one that is too large. It accepts
// the rest of damaged text: the library refuses it.
func check(text []byte) error {
	n := 0
	for message := range messages(text) {
		if n++; n > Max {
			return ErrTooLong
		}
		head, err := wire.ReadEnvelope(message)
		if err != nil {
			return err
		}
		if len(message) > MaxSmall && !isCall(head.Method) {
			return ErrTooLarge
		}
		if err := head.CheckID(); err != nil {
			return err
		}
	}
	return nil
}

// messages returns the messages of a body up to the first damaged one.
func messages(text []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		in := json.NewDecoder(bytes.NewReader(text))
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
			_, _ = in.Token() // the bracket
		}
		for in.More() {
			var message json.RawMessage
			if in.Decode(&message) != nil || !yield(message) {
				return
			}
		}
	}
}

// isCall reports whether a method is a call of a tool or a prompt. A server forgets the arguments of a call
// with its answer. It keeps those of other methods, such as initialize, for as long as the session lasts.
func isCall(method string) bool { return method == "tools/call" || method == "prompts/get" }
