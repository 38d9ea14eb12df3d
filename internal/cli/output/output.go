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
	"slices"
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
}

// New returns the writer for env's stdout.
func New(env app.Env) *Writer {
	o := &Writer{w: env.Stdout, width: app.Width(env.Stdout)}
	o.color = o.width > 0 && env.Getenv("NO_COLOR") == "" && env.Getenv("CLICOLOR") != "0" && env.Getenv("TERM") != "dumb"
	return o
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
		text = cleantext.Wrap(text, 0, indent/2, o.width)
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

// Column is a column of a table.
type Column struct {
	Name string
	// Right aligns numbers.
	Right bool
	// Flexible columns are cut if the table is wider than the terminal.
	Flexible bool
	// Handle columns have what a person types to name the row, such as a branch. They are not cut.
	Handle bool
	// Label cells are the names of the cells behind them, in a paragraph.
	Label bool
	// Clear cells need no name of the column in a paragraph.
	Clear bool
}

const (
	// gap is the space between two columns of a table.
	gap = 2
	// narrowest is the minimum width of a flexible column.
	narrowest = 12
	// indent is the indentation of continued lines.
	indent = 4
)

// Table writes rows: with a header and aligned at a terminal, tab-separated and without a
// header in a pipe. Each row has a cell for each column. If a terminal is too narrow for
// the table, or would show two values as the same text, each row is a short paragraph instead.
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
	widths, fits := o.fit(columns, append([][]string{header}, rows...))
	if !fits || alike(rows, widths) {
		return o.records(columns, rows)
	}
	line := func(row []string, style func(string) string) {
		var cells []string
		for i, cell := range row {
			cell = cut(cell, widths[i])
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

// cut shortens a cell to the width of its column.
func cut(cell string, width int) string { return displaywidth.TruncateString(cell, width, "…") }

// alike reports whether two values of a column are the same text after they are cut.
func alike(rows [][]string, widths []int) bool {
	for i, width := range widths {
		values := map[string]string{}
		for _, row := range rows {
			short := cut(row[i], width)
			if other, met := values[short]; met && other != row[i] {
				return true
			}
			values[short] = row[i]
		}
	}
	return false
}

// records writes each row as a line that ends with its first flexible cell or handle, and a line
// with the other cells that are not empty. Both are wrapped.
func (o *Writer) records(columns []Column, rows [][]string) error {
	head := 1 + max(0, slices.IndexFunc(columns, func(c Column) bool { return c.Flexible || c.Handle }))
	for _, row := range rows {
		var fields []string
		for i, cell := range row[head:] {
			switch column := columns[head+i]; {
			case cell == "" || cell == "-" || column.Label:
			case columns[head+i-1].Label:
				fields = append(fields, row[head+i-1]+" "+cell)
			case column.Clear:
				fields = append(fields, cell)
			default:
				fields = append(fields, column.Name+" "+cell)
			}
		}
		err := o.Hang("", strings.Join(row[:head], " "))
		if err == nil && len(fields) > 0 {
			err = o.Hang(strings.Repeat(" ", indent), strings.Join(fields, ", "))
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	return o.Drawn(prefix + cleantext.Fill(text, column, hang, o.width) + "\n")
}

// Fold writes lines that the caller has cleaned and styled. At a terminal, a line that is too
// wide continues in the next one, below the text of a tree, else indented.
func (o *Writer) Fold(text string) error {
	if !o.Terminal() {
		return o.Drawn(text)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
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

// fit returns the widths of columns, and whether a line fits the terminal with them. It narrows the
// flexible columns first.
func (o *Writer) fit(columns []Column, rows [][]string) (widths []int, fits bool) {
	widths = make([]int, len(columns))
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
	return widths, excess <= 0
}
