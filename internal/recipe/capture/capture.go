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
	"github.com/copse-dev/copse/internal/lazyregexp"
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
	before, after := beginning, end
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		leftOut += int64(len(head) - i - 1)
		before, head = clean, head[:i]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		leftOut += int64(i + 1)
		after, tail = clean, tail[i+1:]
	}
	return fmt.Sprintf("%s\n… %s left out …\n%s", before(head), cleantext.Count(int(leftOut), "byte"), after(tail)), leftOut
}

// LastLine returns the last line that is not empty, in at most n characters. A line that has no end yet is cut.
func (o *Output) LastLine(n int) string {
	const longest = 4 << 10
	text := o.stored()
	read := clean
	if over := len(text) - longest; over > 0 {
		read, text = end, text[over:]
	}
	lines := strings.Split(strings.TrimSpace(read(text)), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if line != "" && continues(text) {
		line = beginning([]byte(line))
	}
	return cleantext.Cut(line, n)
}

// Interrupt marks the end of the output as a cut, unless a line ends there. Call it when the task is stopped: just
// then continues the line with an error.
func (o *Output) Interrupt() {
	if text := o.stored(); continues(text) {
		closed := ""
		if cleantext.Unclosed(string(text)) < len(text) {
			if closed = "\x1b\\"; bytes.HasSuffix(text, []byte("\x1b")) { // or the mark would be a part of the sequence
				closed = "\\"
			}
		}
		_, _ = o.Write([]byte(closed + mark)) // never fails
	}
}

// End marks the places where a program can have ended in the middle of a secret, if redact finds a part of one there:
// the end of the output, and where just continues a line with an error. Call it when the task has ended.
func (o *Output) End(redact func(string) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	leftOut := o.total - int64(len(o.head)) - int64(len(o.tail))
	head, tail := o.head, slices.Concat(o.tail[o.next:], o.tail[:o.next])
	if leftOut == 0 {
		head, tail = nil, slices.Concat(head, tail)
	}
	o.head, o.tail, o.next = head, lastPart(tail, redact), 0
	o.total = leftOut + int64(len(o.head)) + int64(len(o.tail))
}

// lastPart returns the last part of an output with the marks of End.
func lastPart(text []byte, redact func(string) string) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		if last := i == len(lines)-1; last || report.Get().Match(line) {
			lines[i] = []byte(ended(string(line), redact))
		}
	}
	return slices.Concat(lines...)
}

// report finds the error of just after a recipe has failed.
var report = lazyregexp.New("(?:\x1b\\[[\\d;]*m)*error(?:\x1b\\[[\\d;]*m)*: (?:\x1b\\[[\\d;]*m)*[Rr]ecipe `")

// ended returns a line with a mark at its end, and before an error of just, where a part of a secret is.
func ended(line string, redact func(string) string) string {
	places := []int{len(line)}
	if found := report.Get().FindStringIndex(line); found != nil {
		places = append(places, found[0])
	}
	for _, at := range places {
		// Escape sequences may follow the secret.
		before := clean([]byte(line[:at]))
		if redact(before+mark) != redact(before)+mark {
			line = before + mark + line[at:]
		}
	}
	return line
}

// stored returns the stored bytes.
func (o *Output) stored() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Concat(o.head, o.tail[o.next:], o.tail[:o.next])
}

// continues reports whether an output ends within a line, and without a mark.
func continues(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsAny(text[len(text)-1:], "\r\n") && !bytes.HasSuffix(text, []byte(mark))
}

// mark is at each cut within a line. With it, the search for secrets recognizes a part of one (package
// secret).
const mark = "…"

// beginning returns the clean beginning of a line that continues.
func beginning(text []byte) string { return clean(text) + mark }

// end returns the clean end of a text that begins within a line, and possibly within an escape sequence.
func end(text []byte) string { return mark + clean(text[cleantext.Rest(string(text)):]) }

// clean makes text harmless. Of a line that was overwritten several times, as progress bars are, it
// keeps the final text. An escape sequence that the program has not closed yet is omitted: with the rest, nothing of
// it is shown.
func clean(text []byte) string {
	text = text[:cleantext.Unclosed(string(text))]
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
