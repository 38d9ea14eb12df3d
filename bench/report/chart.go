package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// colors are those of the servers, in the order in which they first occur.
var colors = []string{"#2f7d4f", "#9aa5b1", "#4a7fb5", "#c2803a", "#8d5aa8", "#b5544a", "#5b6b7a"}

// chart draws the growth table as lines and the first column of any other as bars, grouped
// by work.
func chart(t Table) []byte {
	if t.Name == "growth" {
		return lineChart(t)
	}
	const (
		barHeight, gap, bars, right = 16, 14, 430, 90
		top                         = 64
	)
	lines := slices.DeleteFunc(slices.Clone(t.Rows), func(l Line) bool { return l.Values[0] <= 0 })
	label := 150
	for _, l := range lines {
		label = max(label, 7*len(l.Work)+24)
	}
	maximum, minimum := 0.0, math.Inf(1)
	var servers []string
	groups := 0
	for i, l := range lines {
		maximum, minimum = max(maximum, l.Values[0]), min(minimum, l.Values[0])
		if !slices.Contains(servers, l.Server) {
			servers = append(servers, l.Server)
		}
		if i == 0 || lines[i-1].Work != l.Work {
			groups++
		}
	}
	length := func(v float64) float64 {
		if !t.Log {
			return v / maximum * bars
		}
		floor := math.Pow(10, math.Floor(math.Log10(minimum))) / 2
		return math.Log10(v/floor) / math.Log10(maximum/floor) * bars
	}
	width := label + bars + right
	names, below := legend(servers, width)
	height := top + below + len(lines)*barHeight + groups*gap + 8
	var b bytes.Buffer
	scale := ""
	if t.Log {
		scale = ", logarithmic"
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="bold" fill="#1d2430">%s</text>
`, width, height, width, height, html.EscapeString(t.Title+": "+t.Columns[0]+scale))
	b.WriteString(names)
	y := top + below
	for i, l := range lines {
		if i == 0 || lines[i-1].Work != l.Work {
			if i > 0 {
				y += gap
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end" fill="#1d2430">%s</text>`+"\n", label-10, y+12, html.EscapeString(l.Work))
		}
		w := length(l.Values[0])
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d" fill="#3a4653">%s</text>`+"\n",
			label, y, max(w, 1), barHeight-3, colors[slices.Index(servers, l.Server)%len(colors)], float64(label)+w+6, y+11, Number(l.Values[0]))
		y += barHeight
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// legend returns the names of servers with their colors, on as many rows as the width requires, and
// the height of the rows below the first.
func legend(servers []string, width int) (names string, below int) {
	const left, top, row = 12, 34, 18
	var b strings.Builder
	x := left
	for i, s := range servers {
		wide := 32 + 7*len(s)
		if x > left && x+wide > width {
			x, below = left, below+row
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="11" height="11" fill="%s"/><text x="%d" y="%d" fill="#3a4653">%s</text>`+"\n",
			x, top+below, colors[i%len(colors)], x+16, top+below+10, html.EscapeString(s))
		x += wide
	}
	return b.String(), below
}
