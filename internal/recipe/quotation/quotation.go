// Package quotation removes from the output of a task what just quotes of files that copse has not checked.
//
// copse checks the files of a justfile before just reads them again to run a recipe. A link that takes the place of
// one in between leads just outside the project, and its error quotes a line from there. just also quotes a line of a
// file with variables that it cannot read, which often has a secret.
//
// Use a [Writer], and flush it at the end of the output. It passes everything else unchanged and at once, except the
// beginning of a line that could be such an error.
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
	// variables is the beginning of the error about a file with variables, which can come after the output of a command.
	variables = "error: failed to load environment file from `"
	// parsing is before the line that such an error quotes, and parsed is after it. The line can have several lines.
	parsing = ": Error parsing line: '"
	parsed  = "', error at line index: "

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
	skipping              // in the rest of an error whose line is omitted
	passing               // everywhere else
	omitting              // in the line of a file with variables
)

// Writer removes quotations from an output. It is safe for concurrent use.
type Writer struct {
	out     io.Writer
	checked Checked

	mu           sync.Mutex
	state        state
	midline      bool         // the beginning of the line has passed
	held         []string     // the lines of an error
	line         bytes.Buffer // the held beginning of a line
	file, number string
}

// New returns a writer to out.
func New(out io.Writer, checked Checked) *Writer { return &Writer{out: out, checked: checked} }

// Write passes p without the quotations, or holds its end. The error is that of the output.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		if n := w.plain(rest); n > 0 {
			w.midline = !ended(rest[:n])
			if err := w.pass(rest[:n]); err != nil {
				return 0, err
			}
			rest = rest[n:]
			continue
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

// plain returns the number of bytes at the beginning of p that pass: those before the next line that can be an error.
func (w *Writer) plain(p []byte) int {
	switch {
	case w.state != passing, w.line.Len() > 0, !w.midline && p[0] == variables[0]:
		return 0
	}
	if i := bytes.Index(p, []byte("\n"+variables[:1])); i >= 0 {
		return i + 1
	}
	return len(p)
}

// Flush passes what is held, at the end of the output.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.line.String()
	w.line.Reset()
	switch w.state {
	case position:
		return w.omit()
	case skipping, omitting:
		return nil
	case opening, passing:
	}
	if line == "" && len(w.held) == 0 {
		return nil
	}
	w.midline = line != ""
	return w.replay(line)
}

// add adds a part of a line, which has its end or is the last of a write.
func (w *Writer) add(part []byte) error {
	w.line.Write(part)
	line := w.line.String()
	if !ended(part) && len(line) < maxLine && w.waits(line) {
		return nil
	}
	w.line.Reset()
	w.midline = !ended(part)
	return w.handle(line)
}

func ended(part []byte) bool { return part[len(part)-1] == '\n' }

// waits reports whether a line without an end may be a part of an error.
func (w *Writer) waits(line string) bool {
	begins := func(with string) bool { return strings.HasPrefix(with, line) || strings.HasPrefix(line, with) }
	switch w.state {
	case opening:
		return len(w.held) > 0 || begins(general)
	case passing:
		return begins(variables)
	default:
		return true
	}
}

// handle passes, holds, or omits a line.
func (w *Writer) handle(line string) error {
	switch w.state {
	case opening:
		return w.open(line)
	case position:
		return w.quoted(line)
	case skipping:
		if _, _, ok := justsource.Quoted(line); ok {
			return nil
		}
		w.state = passing
	case omitting:
		if i := strings.Index(line, parsed); i >= 0 {
			w.state = passing
		}
		return nil
	case passing:
	}
	if strings.HasPrefix(line, variables) {
		if before, quoted, ok := strings.Cut(line, parsing); ok {
			if w.state = omitting; strings.Contains(quoted, parsed) {
				w.state = passing
			}
			line = before + ": it has a line that just cannot read\n"
			w.midline = false
		}
	}
	return w.pass([]byte(line))
}

// open examines a line at the beginning of the output.
func (w *Writer) open(line string) error {
	if len(w.held) == 0 && (!strings.HasPrefix(line, general) || strings.HasPrefix(line, variables)) || len(w.held) == maxMessage {
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

// replay handles the held lines and another one of an output that is not an error about a justfile.
func (w *Writer) replay(line string) error {
	held := w.held
	w.held, w.state = nil, passing
	for _, line := range append(held, line) {
		if err := w.handle(line); err != nil {
			return err
		}
	}
	return nil
}

// quoted examines a line behind a position.
func (w *Writer) quoted(line string) error {
	number, text, ok := justsource.Quoted(strings.TrimRight(line, "\r\n"))
	if ok && number == "" && len(w.held) <= maxMessage {
		w.held = append(w.held, line)
		return nil
	}
	if w.number = cmp.Or(w.number, number); ok && number == w.number && w.checked.Has(w.file, number, text) {
		known := strings.Join(w.held, "") + line
		w.held, w.state = nil, passing
		return w.pass([]byte(known))
	}
	if err := w.omit(); err != nil {
		return err
	}
	return w.handle(line)
}

// omit writes another error in place of the held one, which is about a text that copse has not checked.
func (w *Writer) omit() error {
	where := "a line"
	if w.file != "" {
		where = "line " + w.number + " of " + foreign.Mention(cleantext.Cut(cleantext.Line(w.file), 200))
	}
	w.held, w.state = nil, skipping
	return w.pass([]byte("error: just cannot use " + where +
		", which copse omits because it has not checked it. The file has just changed, or a recipe has started just for it\n"))
}

func (w *Writer) pass(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := w.out.Write(text)
	return err
}
