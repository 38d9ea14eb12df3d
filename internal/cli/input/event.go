package input

import (
	"encoding/json"
	"io"
	"time"
)

// maxEvent is the maximum size of an event.
const maxEvent = 1 << 20

// Event decodes the first JSON value of an input into v, which describes an event of a client. Some
// clients leave the input open, so Event does not wait for its end, and for a value at most a second.
// It reports whether there is one.
func Event(in io.Reader, v any) bool {
	read := make(chan json.RawMessage, 1)
	go func() {
		var value json.RawMessage
		_ = json.NewDecoder(io.LimitReader(in, maxEvent)).Decode(&value) // the value is empty then
		read <- value
	}()
	select {
	case value := <-read:
		return json.Unmarshal(value, v) == nil
	case <-time.After(Patience):
		return false
	}
}
