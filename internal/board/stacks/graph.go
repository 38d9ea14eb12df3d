package stacks

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

const (
	laneWidth = 14
	maxLanes  = 6
)

// graph places the branches of a stack: a line for each path, with branches as rings. Rows are
// numbered from the bottom up; the trunk is row -1.
type graph struct {
	lane   []int // by row
	parent []int // row of the parent, -1 for the trunk
	lanes  int
}

// layout gives each branch a lane. The first child continues the lane of its parent, and the others
// start new ones.
func layout(s verdict.Status) graph {
	at := make(map[string]int, len(s.Branches))
	g := graph{lane: make([]int, len(s.Branches)), parent: make([]int, len(s.Branches)), lanes: 1}
	continued := map[int]bool{}
	for i, b := range s.Branches {
		at[b.Branch] = i
		g.parent[i] = -1
		if p, ok := at[b.Parent]; ok && p != i {
			g.parent[i] = p
		}
		lane := 0
		if p := g.parent[i]; p >= 0 {
			lane = g.lane[p]
		}
		if continued[g.parent[i]] {
			lane = min(g.lanes, maxLanes-1)
			g.lanes = min(g.lanes+1, maxLanes)
		}
		continued[g.parent[i]] = true
		g.lane[i] = lane
	}
	return g
}

func x(lane int) int { return 8 + lane*laneWidth }

// draw returns the drawing of a row: its ring, and the lines through it.
func (g graph) draw(row int, tone markup.Tone, filled, current bool) template.HTML {
	var b strings.Builder
	g.lines(&b, row)
	circle(&b, x(g.lane[row]), tone, filled, current)
	return svg(g.lanes, b.String())
}

// trunk returns the drawing of the trunk.
func (g graph) trunk(tone markup.Tone, current bool) template.HTML {
	var b strings.Builder
	g.lines(&b, -1)
	circle(&b, x(0), tone, false, current)
	return svg(g.lanes, b.String())
}

// lines draws the lines in a row: a branch's line begins at its ring and ends at the ring of its
// parent, in a row below.
func (g graph) lines(b *strings.Builder, row int) {
	for child := range g.lane {
		from, to, lane := child, g.parent[child], g.lane[child]
		end := 0
		if to >= 0 {
			end = g.lane[to]
		}
		switch {
		case row == from:
			fmt.Fprintf(b, `<line x1="%d" y1="50%%" x2="%d" y2="100%%"/>`, x(lane), x(lane))
		case row == to:
			fmt.Fprintf(b, `<line x1="%d" x2="%d" y2="50%%"/>`, x(lane), x(end))
		case row < from && row > to:
			fmt.Fprintf(b, `<line x1="%d" x2="%d" y2="100%%"/>`, x(lane), x(lane))
		}
	}
}

// circle draws a ring. The style sheet knows its height and its size.
func circle(b *strings.Builder, x int, tone markup.Tone, filled, current bool) {
	if current {
		fmt.Fprintf(b, `<circle class="here" cx="%d"/>`, x)
	}
	class := string(tone)
	if filled {
		class += " filled"
	}
	if class = strings.TrimSpace(class); class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<circle%s cx="%d"/>`, class, x)
}

// dot returns the drawing of a branch without a stack.
func dot(tone markup.Tone, filled, current bool) template.HTML {
	var b strings.Builder
	circle(&b, x(0), tone, filled, current)
	return svg(1, b.String())
}

func svg(lanes int, content string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg width="%d" aria-hidden="true">%s</svg>`, 2+lanes*laneWidth, content))
}
