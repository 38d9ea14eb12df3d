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
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe/justsource"
)

// Checked knows the files that copse has checked.
type Checked interface {
	// Line reports whether just names a file, and whether that has a text in a line.
	Line(file, number, text string) (known, same bool)
}

const (
	// general is the beginning of each error of just.
	general = "error: "

	// maxMessage is the number of lines in a message of just about a justfile, before the position.
	maxMessage = 5
	// maxLine is the number of bytes of a line that can be such an error.
	maxLine = 64 << 10
	// patience is how long the rest of such an error can take.
	patience = 2 * time.Second
)

// variables are the beginnings of the error about a file with variables, of recent and older releases. The longest is the first.
var variables = [][]byte{[]byte("error: failed to load environment file from `"), []byte("error: Failed to load environment file")}

const (
	// parsing is before the text that such an error quotes, and parsed is after it.
	parsing = ": Error parsing line: '"
	parsed  = "', error at line index: "
)

// state is where a Writer is in the output.
type state int

const (
	opening  state = iota // at its beginning, where an error about a justfile is
	position              // behind a position, before the quoted line
	skipping              // in the lines that quote what is omitted
	passing               // everywhere else
	named                 // in the name of a file with variables
	omitting              // in what just cannot read of that file
	omitted               // behind it, in the same line
)

// Writer removes quotations from an output. It is safe for concurrent use.
type Writer struct {
	out           io.Writer
	checked       Checked
	withVariables bool

	mu           sync.Mutex
	state        state
	held         []string // the lines of an error
	line         []byte   // the held beginning of a line
	midline      bool     // the beginning of a line has been skipped
	tail         []byte   // what may be the beginning of the error about variables, or of its next part
	waiting      *time.Timer
	file, number string
}

// New returns a writer to out. withVariables means that just reads files with variables.
func New(out io.Writer, checked Checked, withVariables bool) *Writer {
	return &Writer{out: out, checked: checked, withVariables: withVariables}
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
		if w.midline { // of a long line that is skipped
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			w.midline, rest = false, rest[i+1:]
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
	if w.waiting != nil {
		w.waiting.Stop()
	}
	w.line = nil
	if (w.state == passing || w.state == named) && err == nil && len(w.tail) > 0 {
		_, err = w.out.Write(w.tail)
	}
	w.tail = nil
	return err
}

// add adds a part of a line, which has its end or is the last of a write.
func (w *Writer) add(part []byte) error {
	whole := part[len(part)-1] == '\n'
	w.line = append(w.line, part...)
	line := string(w.line)
	if !whole && len(line) < maxLine && w.waits(line) {
		w.wait()
		return nil
	}
	w.line = nil
	switch w.state {
	case position:
		return w.quoted(line, !whole)
	case skipping:
		return w.skip(line, !whole)
	default:
		return w.open(line)
	}
}

// wait passes what is held if the rest of the error does not come: just writes it at once.
func (w *Writer) wait() {
	if w.waiting != nil {
		return
	}
	w.waiting = time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.state == opening {
			line := string(w.line)
			w.line = nil
			_ = w.replay(line) // the next write fails, too
		}
	})
}

// waits reports whether a line without an end may be a part of an error.
func (w *Writer) waits(line string) bool {
	return w.state != opening || len(w.held) > 0 || strings.HasPrefix(general, line) || strings.HasPrefix(line, general)
}

// open examines a line at the beginning of the output.
func (w *Writer) open(line string) error {
	if len(w.held) == 0 && !strings.HasPrefix(line, general) || len(w.held) == maxMessage {
		return w.replay(line)
	}
	w.held = append(w.held, line)
	w.wait()
	file, number, older, ok := justsource.Position(strings.TrimRight(line, "\r\n"))
	if !ok {
		return nil
	}
	if known, _ := w.checked.Line(file, number, ""); !known || older && !filepath.IsLocal(file) { // a compiler, or another just
		return w.replay("")
	}
	w.state, w.file, w.number = position, file, number
	return nil
}

// replay passes the held lines and another one of an output that is not an error about a justfile.
func (w *Writer) replay(line string) error {
	text := strings.Join(w.held, "") + line
	w.held, w.state = nil, passing
	return w.pass([]byte(text))
}

// quoted examines a line behind a position.
func (w *Writer) quoted(line string, goesOn bool) error {
	number, text, ok := justsource.Quoted(strings.TrimRight(line, "\r\n"))
	if ok && number == "" && len(w.held) <= maxMessage {
		w.held = append(w.held, line)
		return nil
	}
	if ok && number == w.number {
		if _, same := w.checked.Line(w.file, number, text); same {
			return w.replay(line)
		}
	}
	if err := w.omit(); err != nil {
		return err
	}
	return w.skip(line, goesOn)
}

// omit writes another error in place of the held one, which is about a text that copse has not checked.
func (w *Writer) omit() error {
	w.held, w.state = nil, skipping
	_, err := io.WriteString(w.out, "error: just cannot use line "+w.number+" of "+foreign.Mention(cleantext.Cut(cleantext.Line(w.file), 200))+
		". copse omits the message, because it has not checked that line: the file has just changed, or a recipe has started just for another one\n")
	return err
}

// skip omits a line that quotes, and passes everything from the first other one on.
func (w *Writer) skip(line string, goesOn bool) error {
	if _, _, ok := justsource.Quoted(strings.TrimRight(line, "\r\n")); ok {
		w.midline = goesOn
		return nil
	}
	return w.replay(line)
}

// pass passes a text without what an error about a file with variables quotes, and holds an end that can be a part of
// such an error.
func (w *Writer) pass(text []byte) error {
	if !w.withVariables {
		return w.write(text)
	}
	text = append(w.tail, text...)
	w.tail = nil
	for len(text) > 0 {
		shown, rest := w.next(text)
		if err := w.write(shown); err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// next returns what is shown of the beginning of a text, and the rest, unless that is held.
func (w *Writer) next(text []byte) (shown, rest []byte) {
	switch w.state {
	case named:
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		name, _, quotes := bytes.Cut(line, []byte(parsing))
		switch {
		case quotes:
			w.state = omitting
			return append(bytes.Clone(name), ": copse omits the line that just cannot read\n"...), text[len(name)+len(parsing):]
		case whole:
			w.state = passing
			return text[:len(line)+1], rest
		case len(line) > maxLine:
			w.state = passing
			return line, nil
		}
		w.tail = bytes.Clone(text)
	case omitting:
		if _, rest, ok := bytes.Cut(text, []byte(parsed)); ok {
			w.state = omitted
			return nil, rest
		}
		w.tail = bytes.Clone(text[max(0, len(text)-len(parsed)+1):])
	case omitted:
		if _, rest, whole := bytes.Cut(text, []byte("\n")); whole {
			w.state = passing
			return nil, rest
		}
	default:
		if end := found(text); end > 0 {
			w.state = named
			return text[:end], text[end:]
		}
		n := len(text) - beginning(text)
		w.tail = bytes.Clone(text[n:])
		return text[:n], nil
	}
	return nil, nil
}

func (w *Writer) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := w.out.Write(text)
	return err
}

// found returns the end of the first beginning of an error about variables in a text, 0 if there is none.
func found(text []byte) int {
	first := 0
	for _, v := range variables {
		if i := bytes.Index(text, v); i >= 0 && (first == 0 || i+len(v) < first) {
			first = i + len(v)
		}
	}
	return first
}

// beginning returns the length of the longest end of a text with which an error about variables begins.
func beginning(text []byte) int {
	for n := min(len(variables[0])-1, len(text)); n > 0; n-- {
		for _, v := range variables {
			if bytes.HasPrefix(v, text[len(text)-n:]) {
				return n
			}
		}
	}
	return 0
}
