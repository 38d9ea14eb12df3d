// Package capture keeps what a reader of a task's output needs of it, however long it is: its
// beginning and its end, and the lines that explain a failure.
//
// An [Output] is the writer of one task. It stores at most [MaxOutput] bytes. [Output.Reasons] finds
// the errors of compilers, linters, and test runners, also in the part that is not stored.
package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/cleantext"
)

// MaxOutput is the number of stored bytes of an output: half of them from its beginning, and half
// from its end.
const MaxOutput = 32 << 10

// Output stores the beginning and the end of a task's output. The zero value is ready to use and
// safe for concurrent use.
type Output struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring, once it is full
	next  int    // where the ring continues
	total int64

	reasons explanation
}

const half = MaxOutput / 2

// Write stores p. It never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	written := len(p)
	o.total += int64(written)
	o.reasons.write(p)
	if room := half - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head, p = append(o.head, p[:n]...), p[n:]
	}
	if len(p) > half {
		p = p[len(p)-half:]
	}
	for len(p) > 0 {
		if len(o.tail) < half {
			n := min(half-len(o.tail), len(p))
			o.tail, p = append(o.tail, p[:n]...), p[n:]
			continue
		}
		n := copy(o.tail[o.next:], p)
		o.next, p = (o.next+n)%half, p[n:]
	}
	return written, nil
}

// Text returns the stored output as clean text, with a line that states how many bytes are omitted
// between beginning and end.
func (o *Output) Text() (text string, leftOut int64) { return o.TextOf(MaxOutput) }

// TextOf returns Text with at most n bytes of the stored output.
func (o *Output) TextOf(maximum int) (text string, leftOut int64) {
	o.mu.Lock()
	head := o.head
	tail := append(append([]byte{}, o.tail[o.next:]...), o.tail[:o.next]...)
	leftOut = o.total - int64(len(head)) - int64(len(tail))
	o.mu.Unlock()
	if over := len(head) + len(tail) - maximum; over > 0 {
		all := slices.Concat(head, tail)
		leftOut += int64(over)
		head, tail = all[:maximum/2], all[len(all)-(maximum-maximum/2):]
	}
	if leftOut == 0 {
		return clean(slices.Concat(head, tail)), 0
	}
	// The cut is between lines, if possible.
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		leftOut += int64(len(head) - i - 1)
		head = head[:i+1]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		leftOut += int64(i + 1)
		tail = tail[i+1:]
	}
	return fmt.Sprintf("%s\n… %s left out …\n%s", strings.TrimSuffix(clean(head), "\n"), cleantext.Count(int(leftOut), "byte"), clean(tail)), leftOut
}

// LastLine returns the last line that is not empty, in at most n characters.
func (o *Output) LastLine(n int) string {
	o.mu.Lock()
	text := append(append([]byte{}, o.tail[o.next:]...), o.tail[:o.next]...)
	if len(text) == 0 {
		text = append(text, o.head...)
	}
	o.mu.Unlock()
	text = text[max(0, len(text)-4096):]
	lines := strings.Split(strings.TrimSpace(clean(text)), "\n")
	return cleantext.Cut(strings.TrimSpace(lines[len(lines)-1]), n)
}

// clean makes text harmless. Of a line that was overwritten several times, as progress bars are, it
// keeps the final text.
func clean(text []byte) string {
	if bytes.IndexByte(text, '\r') >= 0 {
		lines := bytes.Split(text, []byte("\n"))
		for i, line := range lines {
			line = bytes.TrimRight(line, "\r")
			lines[i] = line[bytes.LastIndexByte(line, '\r')+1:]
		}
		text = bytes.Join(lines, []byte("\n"))
	}
	return cleantext.Block(string(text))
}
