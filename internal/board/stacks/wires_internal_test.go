package stacks

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
)

// Each conflict between rows of the page is a wire between those two rows, as long as there is
// room, and wires beside each other do not touch.
func TestWires(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	drawn := regexp.MustCompile(`<i class="wire from(\d+) to(\d+) lane(\d+)" title="([^"]*)"></i>`)
	for range 300 {
		sections, report := make([]board.Section, 1+random.IntN(4)), conflicts.Report{}
		var names []string
		for i := range sections {
			for j := range 1 + random.IntN(6) {
				name := fmt.Sprintf(`b%d-%d<i class="x">`, i, j)
				names = append(names, name)
				sections[i].Rows = append(sections[i].Rows, board.Row{Key: name})
			}
			sections[i].Rows = append(sections[i].Rows, board.Row{Key: "trunk", Class: trunkRow})
		}
		for range random.IntN(30) {
			a, b := names[random.IntN(len(names))], names[random.IntN(len(names))]
			report.Conflicts = append(report.Conflicts, collision.Conflict{Branches: []string{a, b}, Files: []string{`"><script>`}})
		}
		report.Conflicts = append(report.Conflicts, collision.Conflict{Branches: []string{names[0], "on another page"}})
		html := string(wires(sections, report))
		at := map[string]int{} // the rows by their classes, from the top
		name := map[int]string{}
		n := 0
		for _, s := range sections {
			wired := false
			for _, r := range s.Rows {
				if r.Class != "" && r.Class != trunkRow {
					at[strings.TrimPrefix(r.Class, "at")], name[n], wired = n, r.Key, true
				}
				n++
			}
			if wired != strings.HasSuffix(s.Class, " wired") {
				t.Fatalf("a section has the class %q", s.Class)
			}
		}
		if len(at) > maxAnchors {
			t.Fatalf("%d rows are connected", len(at))
		}
		lanes := map[string][][2]int{}
		found := drawn.FindAllStringSubmatch(html, -1)
		if drawn.ReplaceAllString(html, "") != "" {
			t.Fatal(html)
		}
		for _, w := range found {
			top, bottom := at[w[1]], at[w[2]]
			known := false
			for _, c := range report.Conflicts {
				known = known || c.Branches[0] == name[top] && c.Branches[1] == name[bottom] || c.Branches[1] == name[top] && c.Branches[0] == name[bottom]
			}
			if !known || top >= bottom {
				t.Fatalf("a wire leads from row %d to row %d: %s", top, bottom, html)
			}
			for _, other := range lanes[w[3]] {
				if top <= other[1] && other[0] <= bottom {
					t.Fatalf("two wires share a lane: %s", html)
				}
			}
			lanes[w[3]] = append(lanes[w[3]], [2]int{top, bottom})
		}
	}
}

// A few conflicts are all drawn.
func TestFewWires(t *testing.T) {
	t.Parallel()
	sections := []board.Section{{Rows: []board.Row{{Key: "a"}, {Key: "b"}}}, {Rows: []board.Row{{Key: "c"}}}}
	html := wires(sections, conflicts.Report{Conflicts: []collision.Conflict{{Branches: []string{"c", "a"}, Files: []string{"go.mod"}}, {Branches: []string{"b", "c"}}}})
	const want = `<i class="wire from0 to1 lane0" title="b conflicts with c"></i><i class="wire from2 to1 lane1" title="c conflicts with a in go.mod"></i>`
	if string(html) != want {
		t.Errorf("got %s", html)
	}
	if got := wires(sections, conflicts.Report{}); got != "" {
		t.Errorf("nothing is drawn as %s", got)
	}
}
