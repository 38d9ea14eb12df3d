// Package output writes results to stdout in the form that the reader needs: aligned tables at a
// terminal, tab-separated values in a pipe, JSON for a program.
//
// [New] returns the [Writer] of an environment, which detects the kind of reader. It cleans all
// values, so they cannot control a terminal or break a line: a tab or line break becomes a space.
// It uses colors only at a terminal, and not if NO_COLOR is set, CLICOLOR is 0, or TERM is dumb.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

// Writer writes results.
type Writer struct {
	w     io.Writer
	width int // of the terminal, 0 if there is none
	color bool
	// headed tables have a header in a pipe, too.
	headed bool
	// redact removes secrets before a text is cut or wrapped: then the writer no longer finds them.
	redact func(text string) string
}

// New returns the writer for env's stdout.
func New(env app.Env) *Writer {
	o := &Writer{w: env.Stdout, width: app.Width(env.Stdout), redact: func(text string) string { return text }}
	if env.Secrets != nil {
		o.redact = env.Secrets.Redact
	}
	o.color = o.width > 0 && env.Getenv("NO_COLOR") == "" && env.Getenv("CLICOLOR") != "0" && env.Getenv("TERM") != "dumb"
	return o
}

// HeadersFlag adds the flag --headers to a command that passes it to [Writer.Headed].
func HeadersFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "headers", false, "print a header in a pipe, too")
}

// Headed returns a writer whose tables have a header in a pipe, too, if on.
func (o *Writer) Headed(on bool) *Writer {
	headed := *o
	headed.headed = on
	return &headed
}

// Terminal reports whether stdout is a terminal.
func (o *Writer) Terminal() bool { return o.width > 0 }

// jsonFlag is the flag --json of a command whose JSON is a T.
type jsonFlag[T any] struct{ on *bool }

func (j jsonFlag[T]) String() string {
	if j.on == nil {
		return "false"
	}
	return strconv.FormatBool(*j.on)
}

func (j jsonFlag[T]) Set(text string) (err error) {
	*j.on, err = strconv.ParseBool(text)
	return err
}

func (jsonFlag[T]) Type() string { return "bool" }

// Shape returns the type that the command's JSON has.
func (jsonFlag[T]) Shape() reflect.Type { return reflect.TypeFor[T]() }

// JSONFlag adds the flag --json to a command that then prints a T. The reference takes the form
// from the flag's method Shape.
func JSONFlag[T any](cmd *cobra.Command, on *bool) {
	cmd.Flags().VarPF(jsonFlag[T]{on}, "json", "", "print JSON").NoOptDefVal = "true"
}

// JSON writes v, indented by two spaces. On a terminal, it escapes characters that control one.
func (o *Writer) JSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	data := b.Bytes()
	if o.Terminal() {
		data = cleantext.JSON(data)
	}
	if w, ok := o.w.(*secret.Writer); ok {
		return w.WriteJSON(data)
	}
	_, err := o.w.Write(data)
	return err
}

// Line writes one line of text, cleaned. At a terminal, it wraps the line between words.
func (o *Writer) Line(format string, args ...any) error {
	text := cleantext.Line(fmt.Sprintf(format, args...))
	if o.Terminal() {
		text = cleantext.Wrap(o.redact(text), 0, indent/2, o.width)
	}
	return o.Drawn(text + "\n")
}

// Whole writes one line that a person copies, such as a command, cleaned and not wrapped.
func (o *Writer) Whole(text string) error { return o.Drawn(cleantext.Line(text) + "\n") }

// Text writes lines of text, cleaned.
func (o *Writer) Text(text string) error {
	_, err := fmt.Fprintln(o.w, strings.TrimRight(cleantext.Block(text), "\n"))
	return err
}

// Exact writes a text that a program may need byte for byte: unchanged in a pipe, and cleaned at a terminal.
func (o *Writer) Exact(text string) error {
	if o.Terminal() {
		text = cleantext.Block(text)
	}
	return o.Drawn(text)
}

// Drawn writes text that the caller has cleaned and styled.
func (o *Writer) Drawn(text string) error {
	_, err := io.WriteString(o.w, text)
	return err
}

// Bold returns a text that is emphasized at a terminal.
func (o *Writer) Bold(text string) string { return o.style("1", text) }

// Faint returns a text that is subdued at a terminal.
func (o *Writer) Faint(text string) string { return o.style("2", text) }

func (o *Writer) style(code, text string) string {
	if !o.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Hang writes a text behind a prefix, cleaned and wrapped to the width of the terminal, with a
// hanging indent. The prefix can be styled.
func (o *Writer) Hang(prefix, text string) error {
	text = cleantext.Line(text)
	if !o.Terminal() {
		return o.Drawn(prefix + text + "\n")
	}
	column := displaywidth.String(cleantext.Line(prefix))
	hang := indent
	if 0 < column && column < o.width/2 {
		hang = column
	}
	return o.Drawn(prefix + cleantext.Fill(o.redact(text), column, hang, o.width) + "\n")
}

// Fold writes lines that the caller has cleaned and styled. At a terminal, a line that is too
// wide continues in the next one, below the text of a tree, else indented.
func (o *Writer) Fold(text string) error {
	if !o.Terminal() {
		return o.Drawn(text)
	}
	var b strings.Builder
	for line := range strings.Lines(o.redact(text)) {
		o.fold(&b, strings.TrimSuffix(line, "\n"))
		b.WriteString("\n")
	}
	return o.Drawn(b.String())
}

// fold breaks a line between words.
func (o *Writer) fold(b *strings.Builder, line string) {
	drawn := len(line) - len(strings.TrimLeft(line, "│├└─ "))
	hang := strings.NewReplacer("├", "│", "└", " ", "─", " ").Replace(line[:drawn]) + strings.Repeat(" ", indent)
	column := displaywidth.String(line[:drawn])
	b.WriteString(line[:drawn])
	for rest := line[drawn:]; rest != ""; {
		spaces := len(rest) - len(strings.TrimLeft(rest, " "))
		end := len(rest)
		if i := strings.IndexByte(rest[spaces:], ' '); i >= 0 {
			end = spaces + i
		}
		word := rest[spaces:end]
		n := displaywidth.String(cleantext.Line(word))
		if spaces > 0 && column+spaces+n > o.width {
			b.WriteString("\n" + hang)
			column = displaywidth.String(hang)
		} else {
			b.WriteString(rest[:spaces])
			column += spaces
		}
		b.WriteString(word)
		column += n
		rest = rest[end:]
	}
}
