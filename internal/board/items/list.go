package items

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
)

const (
	// window is the number of items of a column on a page.
	window = 30
	// treeWindow is the number of rows of the tree on a page.
	treeWindow = 150
	// maxChoices is the number of values that a filter offers; users can type others into the
	// address.
	maxChoices = 100
	// maxTitle is the number of characters of a title in a row.
	maxTitle = 160
)

// drawing is a page that is being rendered.
type drawing struct {
	markup.Renderer
	view     *View
	readOnly bool
	config   item.Config
	snapshot *item.Snapshot
	filter   filter
}

// selected returns the items that the filter selects, by number.
func (d *drawing) selected() []*item.Summary {
	f := item.Filter{
		Type: d.filter.Type, Status: d.filter.Status, Priority: d.filter.Priority, Assignee: d.filter.Assignee, Label: d.filter.Label,
		Iteration: d.filter.Iteration, All: d.filter.Iteration == all,
	}
	if d.filter.Text == "" {
		return d.snapshot.List(d.config, f)
	}
	var found []*item.Summary
	for i, word := range strings.Fields(d.filter.Text) {
		hits := d.snapshot.Search(d.config, word, f)
		next := make(map[*item.Summary]bool, len(hits))
		var both []*item.Summary
		for _, h := range hits {
			next[h.Summary] = true
			if i == 0 {
				both = append(both, h.Summary)
			}
		}
		if i > 0 {
			for _, it := range found {
				if next[it] {
					both = append(both, it)
				}
			}
		}
		found = both
	}
	// A number also finds its item.
	if id, err := item.ParseID(strings.TrimPrefix(d.filter.Text, "#")); err == nil {
		if it, err := d.snapshot.Find(id); err == nil && !slices.Contains(found, it) {
			found = append([]*item.Summary{it}, found...)
		}
	}
	return found
}

// aside returns how many items the page shows, and how many of them are not done.
func aside(shown, total, open int) string {
	text := cleantext.Count(total, "item")
	if shown != total {
		text = strconv.Itoa(shown) + " of " + text
	}
	return text + ", " + strconv.Itoa(open) + " open"
}

// choices are the values of a filter.
type choices struct {
	Name, Label, Any string
	Value            string
	Values           []string
}

// Missing reports whether the value is not one of those that are offered.
func (c choices) Missing() bool { return c.Value != "" && !slices.Contains(c.Values, c.Value) }

// tools returns the filters.
func (d *drawing) tools(id item.ID) template.HTML {
	iteration := "All iterations"
	if d.config.CurrentIteration != "" {
		iteration = d.config.CurrentIteration + " (current)"
	}
	assignees, labels := map[string]bool{}, map[string]bool{}
	for _, it := range d.snapshot.List(d.config, item.Filter{All: true}) {
		if it.Assignee != "" {
			assignees[it.Assignee] = true
		}
		for _, l := range it.Labels {
			labels[l] = true
		}
	}
	some := func(set map[string]bool) []string {
		all := slices.Sorted(maps.Keys(set))
		return all[:min(len(all), maxChoices)]
	}
	path := ""
	if id != 0 {
		path = id.String()
	}
	iterations := slices.DeleteFunc(slices.Clone(d.config.Iterations), func(i string) bool { return i == d.config.CurrentIteration })
	if d.config.CurrentIteration != "" {
		iterations = append(iterations, all)
	}
	flat, nested := d.filter, d.filter
	flat.Tree, nested.Tree = false, true
	return d.HTML("tools", struct {
		filter
		Path, Board, AsTree, New string
		ReadOnly                 bool
		Filters                  []choices
		Statuses, Priorities     []string
		Query                    string
	}{
		filter: d.filter, Path: path, Board: flat.address(path), AsTree: nested.address(path), New: d.filter.address("", "new", "1"), ReadOnly: d.readOnly,
		Filters: []choices{
			{"iteration", "Iteration", iteration, d.filter.Iteration, iterations},
			{"assignee", "Assignee", "Anyone", d.filter.Assignee, some(assignees)},
			{"label", "Label", "Any label", d.filter.Label, some(labels)},
			{"type", "Type", "Any type", d.filter.Type, d.config.Types},
			{"priority", "Priority", "Any priority", d.filter.Priority, item.Priorities()},
		},
		Statuses: d.config.Statuses, Priorities: item.Priorities(), Query: d.filter.values().Encode(),
	})
}

// row is the content of a row.
type row struct {
	*item.Summary
	Title    string
	Link     string
	Tone     markup.Tone // of the status, in the tree
	Claim    *claim.Claim
	WaitsFor string // the open items that it depends on
	ReadOnly bool
	Bulk     string // the form of its checkbox
	Omitted  int    // how many items below it were left out
}

func (d *drawing) row(it *item.Summary) row {
	r := row{
		Summary: it, Title: cleantext.Cut(cleantext.Line(it.Title), maxTitle), Link: d.filter.address(it.ID.String()), ReadOnly: d.readOnly, Bulk: "bulk",
		Tone: d.tone(it.Status),
	}
	if c, ok := d.snapshot.Claim(it.ID); ok {
		r.Claim = &c
	}
	if !d.config.Done(it.Status) {
		r.WaitsFor = d.waits(it)
	}
	return r
}

// waits names the open items on which an item depends.
func (d *drawing) waits(it *item.Summary) string {
	var open []string
	for _, id := range it.DependsOn {
		if on, err := d.snapshot.Find(id); err == nil && !d.config.Done(on.Status) {
			open = append(open, id.String())
		}
	}
	switch {
	case len(open) == 0:
		return ""
	case len(open) > maxWaits:
		return "waits for " + cleantext.Count(len(open), "item")
	}
	return "waits for " + strings.Join(open, ", ")
}

// maxWaits is the number of such items that a row names.
const maxWaits = 3

func (d *drawing) tone(status string) markup.Tone {
	switch {
	case d.config.Done(status):
		return markup.Green
	case d.config.InProgress(status):
		return markup.Blue
	}
	return markup.Plain
}

// columns returns the board by status.
func (d *drawing) columns(selected []*item.Summary, at item.ID) []board.Section {
	by := map[string][]*item.Summary{}
	for _, it := range selected {
		by[it.Status] = append(by[it.Status], it)
	}
	statuses := distinct.Of(append(slices.Clone(d.config.Statuses), slices.Sorted(maps.Keys(by))...)...)
	var all []board.Section
	for _, status := range statuses.Values() {
		items := by[status]
		if d.config.Done(status) {
			// The latest finished items come first.
			slices.SortStableFunc(items, func(a, b *item.Summary) int { return strings.Compare(b.Updated, a.Updated) })
		} else {
			slices.SortStableFunc(items, func(a, b *item.Summary) int {
				return cmp.Compare(slices.Index(item.Priorities(), b.Priority), slices.Index(item.Priorities(), a.Priority))
			})
		}
		w := d.window(status, len(items), window)
		one := board.Section{Key: "status " + status, Class: "status", Label: status, Head: d.HTML("column", w), Foot: d.foot(w)}
		for _, it := range items[w.From:w.To] {
			one.Rows = append(one.Rows, board.Row{Key: it.ID.String(), Selected: it.ID == at, HTML: d.HTML("card", d.row(it))})
		}
		all = append(all, one)
	}
	return all
}

// part is the part of a list that is on the page.
type part struct {
	Name           string
	From, To, Of   int
	Earlier, Later string // addresses, "" for none
}

// First returns the number of the first row, from 1.
func (p part) First() int { return p.From + 1 }

func (d *drawing) window(name string, of, size int) part {
	from := min(d.filter.From[name], max(0, of-1)) / size * size
	p := part{Name: name, From: from, To: min(from+size, of), Of: of}
	if from > 0 {
		p.Earlier = d.filter.with(name, from-size).address("")
	}
	if p.To < of {
		p.Later = d.filter.with(name, p.To).address("")
	}
	return p
}

func (d *drawing) foot(p part) template.HTML {
	if p.Earlier == "" && p.Later == "" {
		return ""
	}
	return d.HTML("foot", p)
}

// tree returns the tree of the items. An item whose parent is not selected is a root.
func (d *drawing) tree(selected []*item.Summary, at item.ID) []board.Section {
	known := make(map[item.ID]*item.Summary, len(selected))
	for _, it := range selected {
		known[it.ID] = it
	}
	below := map[item.ID][]*item.Summary{}
	var roots []*item.Summary
	for _, it := range selected {
		if known[it.Parent] == nil || it.Parent == it.ID {
			roots = append(roots, it)
		} else {
			below[it.Parent] = append(below[it.Parent], it)
		}
	}
	type node struct {
		*item.Summary
		depth int
	}
	rows := make([]node, 0, len(selected))
	listed := make(map[item.ID]bool, len(selected))
	var appendItem func(it *item.Summary, depth int)
	appendItem = func(it *item.Summary, depth int) {
		if listed[it.ID] {
			return
		}
		listed[it.ID] = true
		rows = append(rows, node{it, depth})
		for _, child := range below[it.ID] {
			appendItem(child, depth+1)
		}
	}
	for _, it := range roots {
		appendItem(it, 0)
	}
	for _, it := range selected { // those in a cycle of parents
		appendItem(it, 0)
	}
	w := d.window("", len(rows), treeWindow)
	one := board.Section{Key: "tree", Class: "tree", Label: "Tree of items", Foot: d.foot(w)}
	for _, n := range rows[w.From:w.To] {
		one.Rows = append(one.Rows, d.branch(n.Summary, ItemRow{ID: n.ID, Depth: n.depth}, n.ID == at))
	}
	return []board.Section{one}
}

// maxDepth is the maximum indentation of a row.
const maxDepth = 8
