package adf

import (
	"strconv"
	"strings"
)

// maxColumns limits the columns that colspans and rowspans can claim.
const maxColumns = 100

// table renders n as a GitHub table. A cell that spans several rows or columns
// is shown in the first and leaves the others empty.
func (r renderer) table(n node) string {
	var rows [][]string
	width := 0
	header := false
	spans := map[int]int{} // column -> rows below that a cell above still covers
	for _, row := range n.children() {
		children := row.children()
		if row.kind() != "tableRow" {
			children = []node{row}
		}
		cells, allHeaders := r.row(children, spans)
		if len(cells) == 0 {
			continue
		}
		if len(rows) == 0 {
			header = allHeaders
		}
		rows = append(rows, cells)
		width = max(width, len(cells))
	}
	if len(rows) == 0 {
		return ""
	}
	if !header {
		rows = append([][]string{nil}, rows...)
	}
	var b strings.Builder
	for i, cells := range rows {
		b.WriteString("|")
		for _, text := range cells {
			b.WriteString(" " + text + " |")
		}
		if i == 0 { // only the header must have all the columns
			b.WriteString(strings.Repeat("  |", width-len(cells)) + "\n|" + strings.Repeat(" --- |", width))
		}
		if i < len(rows)-1 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// row renders the cells of one row; spans is what the rows above leave of it.
func (r renderer) row(children []node, spans map[int]int) (cells []string, allHeaders bool) {
	if len(children) == 0 {
		return nil, false
	}
	skip := func() {
		for spans[len(cells)] > 0 {
			spans[len(cells)]--
			cells = append(cells, "")
		}
	}
	allHeaders = true
	for _, c := range children {
		skip()
		if c.kind() != "tableHeader" {
			allHeaders = false
		}
		text := r.cell(c)
		rowspan, _ := strconv.Atoi(c.attr("rowspan"))
		colspan, _ := strconv.Atoi(c.attr("colspan"))
		for range max(1, min(colspan, maxColumns-len(cells))) {
			if rowspan > 1 && len(cells) < maxColumns {
				spans[len(cells)] = rowspan - 1
			}
			cells = append(cells, text)
			text = ""
		}
	}
	skip()
	return cells, allHeaders
}

// cell renders a cell's blocks in one line.
func (r renderer) cell(n node) string {
	r.inCell = true
	if r.depth++; r.depth > maxDepth {
		return r.oneLine([]node{{"type": "text", "text": plainText(n)}})
	}
	content := n.children()
	if n.kind() != "tableCell" && n.kind() != "tableHeader" {
		content = []node{n}
	}
	var lines []string
	for l := range strings.SplitSeq(join(r.flow(content), true), "\n") {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "<br>"), "|", `\|`)
}
