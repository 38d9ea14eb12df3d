// Package output writes results to stdout in the form that its reader wants:
// aligned tables for a person at a terminal, tab-separated values for a pipe,
// JSON for a program.
//
// Make a [Writer] of an environment, and hand it what there is; it knows who
// reads. Values are cleaned, so that nothing in them can steer a terminal or break
// a line: a tab or line break becomes a space. Colours are used at a terminal
// only, and not where NO_COLOR is set, CLICOLOR is 0 or TERM is dumb.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

// Screen is an output that knows how wide it is, as a terminal does.
type Screen interface {
	io.Writer
	// Width is in columns.
	Width() int
}

// Writer writes results.
type Writer struct {
	w      io.Writer
	width  int // of the terminal, 0 if there is none
	colour bool
}

// usualWidth is that of a terminal that does not tell.
const usualWidth = 80

// New returns the writer for env's stdout.
func New(env app.Env) *Writer {
	o := &Writer{w: env.Stdout}
	switch w := secret.Raw(env.Stdout).(type) {
	case Screen:
		o.width = w.Width()
	case *os.File:
		if term.IsTerminal(int(w.Fd())) {
			o.width = usualWidth
			if width, _, err := term.GetSize(int(w.Fd())); err == nil && width > 0 {
				o.width = width
			}
		}
	}
	o.colour = o.width > 0 && env.Getenv("NO_COLOR") == "" && env.Getenv("CLICOLOR") != "0" && env.Getenv("TERM") != "dumb"
	return o
}

// Terminal reports whether a person reads.
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

// Shape is the type that the command's JSON has.
func (jsonFlag[T]) Shape() reflect.Type { return reflect.TypeFor[T]() }

// JSONFlag adds the flag --json to a command that prints a T then. The reference takes the
// form from the flag's method Shape.
func JSONFlag[T any](cmd *cobra.Command, on *bool) {
	cmd.Flags().VarPF(jsonFlag[T]{on}, "json", "", "print JSON").NoOptDefVal = "true"
}

// JSON writes v, indented by two spaces.
func (o *Writer) JSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	if w, ok := o.w.(*secret.Writer); ok {
		return w.WriteJSON(b.Bytes())
	}
	_, err := o.w.Write(b.Bytes())
	return err
}

// Line writes one line of text, cleaned.
func (o *Writer) Line(format string, args ...any) error {
	_, err := fmt.Fprintln(o.w, cleantext.Line(fmt.Sprintf(format, args...)))
	return err
}

// Text writes lines of text, cleaned.
func (o *Writer) Text(text string) error {
	_, err := fmt.Fprintln(o.w, strings.TrimRight(cleantext.Block(text), "\n"))
	return err
}

// Drawn writes text that the caller has cleaned and styled.
func (o *Writer) Drawn(text string) error {
	_, err := io.WriteString(o.w, text)
	return err
}

// Bold is a text that stands out at a terminal.
func (o *Writer) Bold(text string) string { return o.style("1", text) }

// Faint is a text that stands back at a terminal.
func (o *Writer) Faint(text string) string { return o.style("2", text) }

func (o *Writer) style(code, text string) string {
	if !o.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Column is a column of a table.
type Column struct {
	Name string
	// Right aligns numbers.
	Right bool
	// Flexible columns are cut where the table is wider than the terminal; the
	// others keep what they have.
	Flexible bool
}

// gap is between two columns of a table.
const gap = 2

// narrowest is how far a flexible column is cut.
const narrowest = 12

// Table writes rows: with a header and aligned at a terminal, tab-separated and
// without one in a pipe. Each row has a cell for each column.
func (o *Writer) Table(columns []Column, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = cleantext.Line(row[i])
		}
	}
	var b strings.Builder
	if !o.Terminal() {
		for _, row := range rows {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
		_, err := io.WriteString(o.w, b.String())
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = strings.ToUpper(c.Name)
	}
	widths := o.fit(columns, append([][]string{header}, rows...))
	line := func(row []string, style func(string) string) {
		var cells []string
		for i, cell := range row {
			cell = displaywidth.TruncateString(cell, widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-displaywidth.String(cell))
			if columns[i].Right {
				cell = pad + cell
			} else if i < len(row)-1 {
				cell += pad
			}
			cells = append(cells, style(cell))
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ") + "\n")
	}
	line(header, o.Faint)
	for _, row := range rows {
		line(row, func(s string) string { return s })
	}
	_, err := io.WriteString(o.w, b.String())
	return err
}

// fit returns the widths of columns, such that a line fits the terminal if the
// flexible ones can be made narrow enough.
func (o *Writer) fit(columns []Column, rows [][]string) []int {
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displaywidth.String(cell))
		}
	}
	excess := gap * (len(columns) - 1)
	for _, w := range widths {
		excess += w
	}
	excess -= o.width
	for excess > 0 {
		widest := -1
		for i, c := range columns {
			if c.Flexible && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		excess--
	}
	return widths
}
