package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Measures of a panel of a line chart, in pixels.
const (
	panelWidth, panelHeight = 270, 150
	panelLeft, panelTop     = 62, 34 // of the axes in a panel
	panelRight, panelBottom = 28, 26
	panelsInRow             = 3
	legendHeight            = 60
)

// lineChart draws a panel for each work: the size of the data from left to right, the time upward,
// both logarithmic, a line for each server. All panels have the same axes.
func lineChart(t Table) []byte {
	var works, servers []string
	lowest, highest := math.Inf(1), 0.0
	for _, l := range t.Rows {
		if !slices.Contains(works, l.Work) {
			works = append(works, l.Work)
		}
		if !slices.Contains(servers, l.Server) {
			servers = append(servers, l.Server)
		}
		for _, v := range l.Values {
			if v > 0 {
				lowest, highest = min(lowest, v), max(highest, v)
			}
		}
	}
	if highest == 0 {
		lowest, highest = 1, 1
	}
	from, to := math.Floor(math.Log10(lowest)), math.Ceil(math.Log10(highest))
	if from == to {
		to++
	}
	rows := (len(works) + panelsInRow - 1) / panelsInRow
	width := panelsInRow * panelWidth
	names, below := legend(servers, width)
	height := legendHeight + below + rows*panelHeight
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="bold" fill="#1d2430">%s</text>
`, width, height, width, height, html.EscapeString(t.Title+": ms by size, both logarithmic"))
	b.WriteString(names)
	for i, work := range works {
		p := panel{x: i % panelsInRow * panelWidth, y: legendHeight + below + i/panelsInRow*panelHeight, from: from, to: to, sizes: len(t.Columns)}
		p.axes(&b, work, t.Columns)
		for _, l := range t.Rows {
			if l.Work == work {
				p.line(&b, l, colors[slices.Index(servers, l.Server)%len(colors)])
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// panel is a part of a line chart, from the power of ten from up to the power to.
type panel struct {
	x, y     int
	from, to float64
	sizes    int
}

// at returns the place of a value of the column i.
func (p panel) at(i int, v float64) (x, y float64) {
	x = float64(p.x + panelLeft)
	if p.sizes > 1 {
		x += float64(i) / float64(p.sizes-1) * (panelWidth - panelLeft - panelRight)
	}
	const high = panelHeight - panelTop - panelBottom
	return x, float64(p.y+panelTop) + (p.to-math.Log10(v))/(p.to-p.from)*high
}

func (p panel) axes(b *bytes.Buffer, title string, columns []string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold" fill="#1d2430">%s</text>`+"\n", p.x+12, p.y+20, html.EscapeString(title))
	for power := p.from; power <= p.to; power++ {
		x, y := p.at(0, math.Pow(10, power))
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%d" y2="%.1f" stroke="#e3e7eb"/><text x="%.1f" y="%.1f" text-anchor="end" fill="#6b7683">%s</text>`+"\n",
			x, y, p.x+panelWidth-panelRight, y, x-5, y+4, power10(power))
	}
	for i, column := range columns {
		size, _, _ := strings.Cut(column, ":")
		x, y := p.at(i, math.Pow(10, p.from))
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#6b7683">%s</text>`+"\n", x, y+15, html.EscapeString(size))
	}
}

// line draws the values that are known.
func (p panel) line(b *bytes.Buffer, l Line, colour string) {
	var points []string
	for i, v := range l.Values {
		if v <= 0 {
			continue
		}
		x, y := p.at(i, v)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"><title>%s</title></circle>`+"\n", x, y, colour, html.EscapeString(l.Server+": "+Number(v)+" ms"))
	}
	if len(points) > 1 {
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
	}
}

// power10 returns a power of ten for an axis: 0.1, 10, 10,000.
func power10(power float64) string {
	if v := math.Pow(10, power); v < 1 {
		return fmt.Sprintf("%g", v)
	}
	text := "1" + strings.Repeat("0", int(power))
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
