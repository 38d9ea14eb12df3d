package stacks

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

// A conflict is drawn as a wire from row to row, in the gutter beside the cards. Rows have any
// height, and cards stand between them, so the style sheet places the wire by anchors: a row
// has the class "at" with a number, and a wire the classes "from" and "to" with the numbers of
// its rows.
const (
	// maxAnchors is how many rows the style sheet can connect.
	maxAnchors = 24
	// maxWireLanes is how many wires run beside each other.
	maxWireLanes = 4
)

// wire connects two rows of a page.
type wire struct {
	top, bottom int // rows, counted from the top of the page
	lane        int
	title       string
}

// wires draws the conflicts between rows of the sections, and marks those rows. What it does
// not draw is in words in the rows and in the card of conflicts.
func wires(sections []board.Section, report conflicts.Report) template.HTML {
	at, all := ends(sections, report)
	var html strings.Builder
	numbers := map[int]int{} // of anchors, by row
	for _, w := range lanes(all) {
		if len(numbers) > maxAnchors-2 {
			break
		}
		for _, row := range []int{w.top, w.bottom} {
			if _, ok := numbers[row]; ok {
				continue
			}
			n := len(numbers)
			numbers[row] = n
			section := &sections[at[row].section]
			section.Rows[at[row].row].Class = fmt.Sprintf("at%d", n)
			if !strings.HasSuffix(section.Class, " wired") {
				section.Class += " wired"
			}
		}
		fmt.Fprintf(&html, `<i class="wire from%d to%d lane%d" title="%s"></i>`, numbers[w.top], numbers[w.bottom], w.lane, template.HTMLEscapeString(w.title))
	}
	return template.HTML(html.String())
}

// position is where a row is: in a section, and counted from the top of the page.
type position struct{ section, row, at int }

// ends returns the rows of the page, and the wires between them without their lanes.
func ends(sections []board.Section, report conflicts.Report) ([]position, []wire) {
	var at []position
	positions := map[string]position{}
	for i, s := range sections {
		for j, r := range s.Rows {
			p := position{i, j, len(at)}
			at = append(at, p)
			if r.Class != trunkRow {
				positions[r.Key] = p
			}
		}
	}
	var all []wire
	for _, c := range report.Conflicts {
		if len(c.Branches) != 2 {
			continue
		}
		a, ok := positions[c.Branches[0]]
		b, both := positions[c.Branches[1]]
		if !ok || !both || a.at == b.at {
			continue
		}
		title := fmt.Sprintf("%s conflicts with %s", cleantext.Line(c.Branches[0]), cleantext.Line(c.Branches[1]))
		if len(c.Files) > 0 {
			title += " in " + cleantext.Line(strings.Join(c.Files, ", "))
		}
		all = append(all, wire{top: min(a.at, b.at), bottom: max(a.at, b.at), title: cleantext.Cut(title, maxWireTitle)})
	}
	return at, all
}

// maxWireTitle is how many characters the title of a wire has.
const maxWireTitle = 200

// lanes gives wires that lie beside each other different lanes, the short ones next to the
// rows. A wire without a free lane is left out.
func lanes(all []wire) []wire {
	slices.SortStableFunc(all, func(a, b wire) int {
		return cmp.Or(cmp.Compare(a.bottom-a.top, b.bottom-b.top), cmp.Compare(a.top, b.top))
	})
	var placed []wire
	for _, w := range all {
		free := [maxWireLanes]bool{}
		for i := range free {
			free[i] = true
		}
		for _, other := range placed {
			if w.top <= other.bottom && other.top <= w.bottom {
				free[other.lane] = false
			}
		}
		if w.lane = slices.Index(free[:], true); w.lane >= 0 {
			placed = append(placed, w)
		}
	}
	return placed
}
