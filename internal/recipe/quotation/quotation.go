// Package quotation removes from the output of a task what just quotes of files that copse has not checked.
//
// copse checks the files of a justfile before just reads them again to run a recipe. A link that takes the place of
// one in between leads just outside the project, and its error quotes a line from there. just also quotes what it cannot
// read of a file with variables, which often has a secret.
//
// Use a [Writer], and flush it at the end of the output. It passes everything else unchanged and at once, except what
// could be the beginning of such an error.
package quotation

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe/justsource"
)

// Checked knows the lines that copse has checked. An empty file is any.
type Checked interface {
	Has(file, number, text string) bool
}

const (
	// general is the beginning of each error of just.
	general = "error: "
	// failure is the beginning of the error about a recipe that has run.
	failure = "error: recipe `"
	// variables is in the error about a file with variables. Its first letter depends on the release.
	variables = "ailed to load environment file"

	// maxMessage is the number of lines in a message of just about a justfile, before the position.
	maxMessage = 5
	// maxLine is the number of bytes of a line that can be such an error.
	maxLine = 64 << 10
)

// state is where a Writer is in the output.
type state int

const (
	opening  state = iota // at its beginning, where an error about a justfile is
	position              // behind a position, before the quoted line
	omitting              // behind an omitted error, until that of the recipe that has caused it
	passing               // everywhere else
	ended                 // behind the error about a file with variables, which is the last
)

// Writer removes quotations from an output. It is safe for concurrent use.
type Writer struct {
	out       io.Writer
	checked   Checked
	variables bool

	mu           sync.Mutex
	state        state
	held         []string // the lines of an error
	line         []byte   // the held beginning of a line
	midline      bool     // the beginning of an omitted line has been omitted
	tail         []byte   // what may be the beginning of the error about variables
	file, number string
}

// New returns a writer to out. withVariables means that just reads files with variables.
func New(out io.Writer, checked Checked, withVariables bool) *Writer {
	return &Writer{out: out, checked: checked, variables: withVariables}
}

// Write passes p without the quotations, or holds its end. The error is that of the output.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		if w.state >= passing {
			if err := w.pass(rest); err != nil {
				return 0, err
			}
			break
		}
		part := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			part = rest[:i+1]
		}
		rest = rest[len(part):]
		if err := w.add(part); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush passes what is held, at the end of the output.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	switch {
	case w.state == position:
		err = w.omit()
	case w.state == opening && len(w.held)+len(w.line) > 0:
		err = w.replay(string(w.line))
	}
	w.line = nil
	if w.state == passing && err == nil && len(w.tail) > 0 {
		_, err = w.out.Write(w.tail)
	}
	w.tail = nil
	return err
}

// add adds a part of a line, which has its end or is the last of a write.
func (w *Writer) add(part []byte) error {
	whole := part[len(part)-1] == '\n'
	if w.midline {
		w.midline = !whole
		return nil
	}
	w.line = append(w.line, part...)
	line := string(w.line)
	if !whole && len(line) < maxLine && w.waits(line) {
		return nil
	}
	w.line = nil
	switch w.state {
	case opening:
		return w.open(line)
	case position:
		if err := w.quoted(line); err != nil {
			return err
		}
	case omitting:
		if strings.HasPrefix(line, failure) {
			w.state = passing
			return w.pass([]byte(line))
		}
	case passing, ended:
	}
	w.midline = w.state == omitting && !whole
	return nil
}

// waits reports whether a line without an end may be a part of an error.
func (w *Writer) waits(line string) bool {
	begins := func(with string) bool { return strings.HasPrefix(with, line) || strings.HasPrefix(line, with) }
	switch w.state {
	case opening:
		return len(w.held) > 0 || begins(general)
	case omitting:
		return strings.HasPrefix(failure, line)
	default:
		return true
	}
}

// open examines a line at the beginning of the output.
func (w *Writer) open(line string) error {
	if len(w.held) == 0 && !strings.HasPrefix(line, general) || len(w.held) == maxMessage {
		return w.replay(line)
	}
	text := strings.TrimRight(line, "\r\n")
	if number, _, ok := justsource.Quoted(text); ok && len(w.held) > 0 { // an older just names no file
		w.state, w.number = position, number
		return w.quoted(line)
	}
	w.held = append(w.held, line)
	var ok bool
	if w.file, w.number, ok = justsource.Position(text); ok {
		w.state = position
	}
	return nil
}

// replay passes the held lines and another one of an output that is not an error about a justfile.
func (w *Writer) replay(line string) error {
	text := strings.Join(w.held, "") + line
	w.held, w.state = nil, passing
	return w.pass([]byte(text))
}

// quoted examines a line behind a position.
func (w *Writer) quoted(line string) error {
	number, text, ok := justsource.Quoted(strings.TrimRight(line, "\r\n"))
	if ok && number == "" && len(w.held) <= maxMessage {
		w.held = append(w.held, line)
		return nil
	}
	if w.number = cmp.Or(w.number, number); ok && number == w.number && w.checked.Has(w.file, number, text) {
		return w.replay(line)
	}
	return w.omit()
}

// omit writes another error in place of the held one, which is about a text that copse has not checked.
func (w *Writer) omit() error {
	where := "a line"
	if w.file != "" {
		where = "line " + w.number + " of " + foreign.Mention(cleantext.Cut(cleantext.Line(w.file), 200))
	}
	w.held, w.state = nil, omitting
	_, err := io.WriteString(w.out, "error: just cannot use "+where+
		". copse omits the message, because it has not checked that line: the file has just changed, or a recipe has started just for it\n")
	return err
}

// pass passes a text up to an error about a file with variables, and holds an end that can begin one.
func (w *Writer) pass(text []byte) error {
	if w.state == ended {
		return nil
	}
	if w.variables {
		if len(w.tail) > 0 {
			text = append(w.tail, text...)
			w.tail = nil
		}
		if i := bytes.Index(text, []byte(variables)); i >= 0 {
			w.state = ended
			text = append(bytes.Clone(text[:i+len(variables)]), ". copse omits the rest of the message, which can have a line of that file\n"...)
		} else {
			n := len(text) - beginning(text)
			text, w.tail = text[:n], bytes.Clone(text[n:])
		}
	}
	if len(text) == 0 {
		return nil
	}
	_, err := w.out.Write(text)
	return err
}

// beginning returns the length of the longest end of a text with which the error about variables begins.
func beginning(text []byte) int {
	for n := min(len(variables)-1, len(text)); n > 0; n-- {
		if strings.HasPrefix(variables, string(text[len(text)-n:])) {
			return n
		}
	}
	return 0
}
