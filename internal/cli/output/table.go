package output

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Column is a column of a table.
type Column struct {
	Name string
	// Right aligns numbers.
	Right bool
	// Flexible columns are cut if the table is wider than the terminal.
	Flexible bool
	// Path columns are cut in the middle, because the end of a path says the most.
	Path bool
	// Handle columns have what a person types to name the row, such as a branch. They are not cut.
	Handle bool
	// Label cells are the names of the cells behind them, in a paragraph.
	Label bool
	// Clear cells need no name of the column below a row or in a paragraph.
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

// Table writes rows: with a header and aligned at a terminal, tab-separated in a pipe, where only
// a writer with headers writes one. Each row has a cell for each column.
//
// A terminal that is too narrow for the table gets less of it, in this order: no columns without
// a value, narrower flexible columns, and fewer columns, with the values of the last ones in a
// line below their row. A row with a handle that takes too much of the width is a short paragraph
// of its own. Cells are cut only if each row has one line and no two values become the same text.
func (o *Writer) Table(columns []Column, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = cleantext.Line(row[i])
			if o.Terminal() {
				row[i] = o.redact(row[i])
			}
		}
	}
	if !o.Terminal() {
		var b strings.Builder
		if o.headed {
			var names []string
			for _, c := range columns {
				names = append(names, c.Name)
			}
			b.WriteString(strings.Join(names, "\t") + "\n")
		}
		for _, row := range rows {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
		_, err := io.WriteString(o.w, b.String())
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	if widths, fits := o.fit(columns, rows, narrowest); fits && !alike(columns, rows, widths) {
		return o.grid(columns, rows, widths, func([]string) bool { return true })
	}
	return o.narrow(filled(columns, rows))
}

// narrow writes a table that does not fit the terminal.
func (o *Writer) narrow(columns []Column, rows [][]string) error {
	// The handles of a row must leave enough of the width to the other columns.
	longest := max(narrowest, o.width*2/5)
	short := func(row []string) bool {
		for i, c := range columns {
			if c.Handle && displaywidth.String(row[i]) > longest {
				return false
			}
		}
		return true
	}
	regular := slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return !short(row) })
	for n := len(columns); n > 1 && 2*len(regular) >= len(rows); n-- {
		if columns[n-1].Label {
			continue
		}
		least := narrowest
		if n < len(columns) { // the cells are wrapped
			least = max(narrowest, o.width/3)
		}
		if widths, fits := o.fit(columns[:n], regular, least); fits {
			return o.grid(columns, rows, widths, short)
		}
	}
	for _, row := range rows {
		if err := o.paragraph(columns, row); err != nil {
			return err
		}
	}
	return nil
}

// grid writes a table whose first columns have the given widths. A row that is not regular is a
// paragraph.
func (o *Writer) grid(columns []Column, rows [][]string, widths []int, regular func(row []string) bool) error {
	var header []string
	for _, c := range columns[:len(widths)] {
		header = append(header, strings.ToUpper(c.Name))
	}
	if err := o.line(columns, header, widths, false, o.Faint); err != nil {
		return err
	}
	whole := len(widths) < len(columns) || alike(columns, rows, widths)
	plain := func(s string) string { return s }
	for _, row := range rows {
		if !regular(row) {
			if err := o.paragraph(columns, row); err != nil {
				return err
			}
			continue
		}
		if err := o.line(columns, row, widths, whole, plain); err != nil {
			return err
		}
		if err := o.details(columns, row, len(widths)); err != nil {
			return err
		}
	}
	return nil
}

// line writes the cells of a row that have a width, each cut or, to keep the whole of it, wrapped.
func (o *Writer) line(columns []Column, row []string, widths []int, whole bool, style func(string) string) error {
	lines := [][]string{make([]string, len(widths))}
	for i, width := range widths {
		if !whole {
			lines[0][i] = cut(row[i], width, columns[i].Path)
			continue
		}
		for n, text := range strings.Split(cleantext.Fill(row[i], 0, 0, width), "\n") {
			if n == len(lines) {
				lines = append(lines, make([]string, len(widths)))
			}
			lines[n][i] = text
		}
	}
	var b strings.Builder
	for _, cells := range lines {
		for i, cell := range cells {
			pad := strings.Repeat(" ", max(0, widths[i]-displaywidth.String(cell)))
			if columns[i].Right {
				cell = pad + cell
			} else if i < len(cells)-1 {
				cell += pad
			}
			cells[i] = style(cell)
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ") + "\n")
	}
	return o.Drawn(b.String())
}

// cut shortens a cell to the width of its column.
func cut(cell string, width int, middle bool) string {
	if !middle || displaywidth.String(cell) <= width {
		return displaywidth.TruncateString(cell, width, "…")
	}
	end := cell
	for displaywidth.String(end) > width/2 {
		_, first := utf8.DecodeRuneInString(end)
		end = end[first:]
	}
	return displaywidth.TruncateString(cell, width-displaywidth.String(end), "…") + end
}

// alike reports whether two values of a column are the same text after they are cut.
func alike(columns []Column, rows [][]string, widths []int) bool {
	for i, width := range widths {
		values := map[string]string{}
		for _, row := range rows {
			short := cut(row[i], width, columns[i].Path)
			if other, met := values[short]; met && other != row[i] {
				return true
			}
			values[short] = row[i]
		}
	}
	return false
}

// empty reports whether a cell has no value.
func empty(cell string) bool { return cell == "" || cell == "-" }

// filled returns a table without the columns that have no value, or an unknown one, in all rows.
func filled(columns []Column, rows [][]string) ([]Column, [][]string) {
	var kept []Column
	cells := make([][]string, len(rows))
	for i, c := range columns {
		if !slices.ContainsFunc(rows, func(row []string) bool { return !empty(row[i]) && row[i] != "?" }) {
			continue
		}
		kept = append(kept, c)
		for n, row := range rows {
			cells[n] = append(cells[n], row[i])
		}
	}
	return kept, cells
}

// paragraph writes a row as a line that ends with its first flexible cell or handle, and a line
// with the other cells that are not empty. Both are wrapped.
func (o *Writer) paragraph(columns []Column, row []string) error {
	head := 1 + max(0, slices.IndexFunc(columns, func(c Column) bool { return c.Flexible || c.Handle }))
	write := func(text string) error { return o.Hang("", text) }
	if head == 1 && columns[0].Handle {
		write = o.Whole
	}
	if err := write(strings.Join(row[:head], " ")); err != nil {
		return err
	}
	return o.details(columns, row, head)
}

// details writes a line with the cells of a row from a column on that are not empty.
func (o *Writer) details(columns []Column, row []string, from int) error {
	var fields []string
	for i := from; i < len(row); i++ {
		switch cell := row[i]; {
		case empty(cell) || columns[i].Label:
		case i > 0 && columns[i-1].Label:
			fields = append(fields, row[i-1]+" "+cell)
		case columns[i].Clear:
			fields = append(fields, cell)
		default:
			fields = append(fields, columns[i].Name+" "+cell)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return o.Hang(strings.Repeat(" ", indent), strings.Join(fields, ", "))
}

// fit returns the widths of columns, and whether a line fits the terminal with them. It narrows the
// flexible columns, but none below the least width.
func (o *Writer) fit(columns []Column, rows [][]string, least int) (widths []int, fits bool) {
	excess := gap*(len(columns)-1) - o.width
	for i, c := range columns {
		width := displaywidth.String(c.Name)
		for _, row := range rows {
			width = max(width, displaywidth.String(row[i]))
		}
		widths = append(widths, width)
		excess += width
	}
	for ; excess > 0; excess-- {
		widest := -1
		for i, c := range columns {
			if c.Flexible && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}
