package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Envelope are the members of a message that decide how it is handled.
type Envelope struct {
	ID     json.RawMessage // nil if there is none
	Method string
}

// AmbiguousError reports a message that two programs can read differently: a member occurs twice, or its
// name has another case. The library compares names exactly, and encoding/json does not.
type AmbiguousError struct {
	// Member is the name, as the protocol writes it.
	Member string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("a message can have the member %q only once, and only in lower case", e.Member)
}

// ReadEnvelope reads a message. Its error is an [*AmbiguousError]. The envelope of what is not a message is empty:
// the library refuses it.
func ReadEnvelope(message []byte) (Envelope, error) {
	in := json.NewDecoder(bytes.NewReader(message))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return Envelope{}, nil //nolint:nilerr // the library reports it
	}
	var e Envelope
	seen := map[string]bool{}
	for in.More() {
		var value json.RawMessage
		key, err := in.Token()
		name, ok := key.(string)
		if err != nil || !ok || in.Decode(&value) != nil {
			return Envelope{}, nil //nolint:nilerr // the library reports it
		}
		for _, member := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if !strings.EqualFold(name, member) {
				continue
			}
			if seen[member] || name != member {
				return Envelope{}, &AmbiguousError{member}
			}
			seen[member] = true
		}
		switch name {
		case "id":
			e.ID = value
		case "method":
			if json.Unmarshal(value, &e.Method) != nil {
				return Envelope{}, nil //nolint:nilerr // the library reports it
			}
		}
	}
	return e, nil
}
