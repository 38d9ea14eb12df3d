package items

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// None is the input of a tool without arguments.
type None struct{}

// ConfigOut is the configuration of the project's items.
type ConfigOut struct {
	Statuses         []string `json:"statuses"`
	Types            []string `json:"types"`
	Iterations       []string `json:"iterations"`
	CurrentIteration string   `json:"currentIteration"`
	Priorities       []string `json:"priorities"`
	// Showing describes what was omitted.
	Showing  []string `json:"showing,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// GetConfig returns the valid values.
func (t *Tools) GetConfig(ctx context.Context, _ None) (ConfigOut, error) {
	c, err := t.project.Config(ctx)
	if err != nil {
		return ConfigOut{}, err
	}
	out := ConfigOut{
		Statuses: form.Lines(c.Statuses), Types: form.Lines(c.Types), Iterations: form.Lines(c.Iterations),
		CurrentIteration: form.Line(c.CurrentIteration, form.LineLength), Priorities: item.Priorities(), Warnings: warnings(c.Warnings),
	}
	// The last iterations are the newest.
	if more := len(out.Iterations) - page.Fit(form.Backward(out.Iterations), form.ElementSize[string], iterationsBudget); more > 0 {
		out.Showing = []string{fmt.Sprintf("iterations: the last %d of %d; .tic/config.yml has all", len(out.Iterations)-more, len(out.Iterations))}
		out.Iterations = out.Iterations[more:]
	}
	return out, nil
}

// iterationsBudget is the maximum size of the names of iterations in bytes.
const iterationsBudget = 6 << 10

// The maximum number of warnings in an answer, and their size in bytes; doctor reports all.
const (
	maxWarnings    = 3
	warningLength  = 250
	warningsBudget = 600
)

// warnings describes the problems of a project and its items.
func warnings(all []item.Warning) []string {
	var list []string
	for _, w := range all[:min(len(all), maxWarnings)] {
		list = append(list, form.Line(w.String(), warningLength))
	}
	list = list[:page.Fit(list, func(s string) int { return len(s) }, warningsBudget)]
	if more := len(all) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more; `tic doctor` lists and repairs", more))
	}
	return list
}

// PageIn selects a page of a list.
type PageIn struct {
	Limit  *int
	Cursor string
}

// ListIn selects items. An empty field does not restrict.
type ListIn struct {
	Type      string `json:"type,omitempty"`
	Status    string `json:"status,omitempty"`
	Iteration string `json:"iteration,omitempty"`
	All       bool   `json:"all,omitempty"`
	Assignee  string `json:"assignee,omitempty"`
	Label     string `json:"label,omitempty"`
	Priority  string `json:"priority,omitempty" enum:"low,medium,high,critical"`
	Ready     bool   `json:"ready,omitempty" description:"Not done, blocked, or claimed."`
	Limit     *int   `json:"limit,omitempty" min:"1" max:"200" default:"50"`
	Cursor    string `json:"cursor,omitempty"`
}

func (in ListIn) filter() item.Filter {
	return item.Filter{
		Type: in.Type, Status: in.Status, Iteration: in.Iteration, All: in.All,
		Assignee: in.Assignee, Label: in.Label, Priority: in.Priority, Ready: in.Ready,
	}
}

// ListOut is a page of items, by id.
type ListOut = plain.List[form.Row]

// ListItems lists the items that a filter selects.
func (t *Tools) ListItems(ctx context.Context, in ListIn) (ListOut, error) {
	return t.query(ctx, "list_items", in, "")
}

// SearchIn is a text to search for among selected items.
type SearchIn struct {
	Query     string `json:"query"`
	Type      string `json:"type,omitempty"`
	Status    string `json:"status,omitempty"`
	Iteration string `json:"iteration,omitempty"`
	All       bool   `json:"all,omitempty"`
	Assignee  string `json:"assignee,omitempty"`
	Label     string `json:"label,omitempty"`
	Priority  string `json:"priority,omitempty"`
	Ready     bool   `json:"ready,omitempty"`
	Limit     *int   `json:"limit,omitempty" zero:"none"`
	Cursor    string `json:"cursor,omitempty"`
}

func (in SearchIn) list() ListIn {
	return ListIn{
		Type: in.Type, Status: in.Status, Iteration: in.Iteration, All: in.All, Assignee: in.Assignee,
		Label: in.Label, Priority: in.Priority, Ready: in.Ready, Limit: in.Limit, Cursor: in.Cursor,
	}
}

// SearchItems finds a text in titles and descriptions.
func (t *Tools) SearchItems(ctx context.Context, in SearchIn) (ListOut, error) {
	return t.query(ctx, "search_items "+in.Query, in.list(), in.Query)
}

// query returns a page of the items that a filter and a text select. The name is that of
// the query, for its cursors.
func (t *Tools) query(ctx context.Context, name string, in ListIn, text string) (ListOut, error) {
	v, err := t.backlog.Read(ctx)
	if err != nil {
		return ListOut{}, err
	}
	filter := in.filter()
	resolved := filter
	if !filter.All {
		resolved.Iteration = cmp.Or(filter.Iteration, v.Config.CurrentIteration)
	}
	data, err := json.Marshal(resolved)
	if err != nil {
		return ListOut{}, err
	}
	isMerged := func(*item.Summary) bool { return false }
	if t.links != nil {
		if isMerged, err = backlog.Merges(ctx, t.links, t.pulls, v.Config); err != nil {
			return ListOut{}, err
		}
	}
	found, more := v.Select(backlog.Query{Filter: filter, Text: text})
	snippets := t.backlog.Snippets(text, found)
	out, err := rowsOf(v, PageIn{in.Limit, in.Cursor}, name+" "+string(data), found, func(hit item.Hit) form.Row {
		row := form.RowOf(hit.Summary)
		row.Claimed = form.Line(v.HeldBy(hit.ID), form.LineLength*2)
		row.Snippet = snippets.Of(ctx, hit)
		if isMerged(hit.Summary) {
			row.PR = "merged"
		}
		return row
	})
	if in.Cursor == "" {
		out.Warnings = append(out.Warnings, elsewhere(more)...)
	}
	if len(found) == 0 {
		out.Warnings = append(unknown(v, filter), out.Warnings...)
	}
	return out, err
}

// elsewhere says how many items a query finds in other iterations.
func elsewhere(more int) []string {
	if more == 0 {
		return nil
	}
	return []string{fmt.Sprintf(`%d more in other iterations; pass all: true to see them`, more)}
}

// unknown returns the values of a filter that the project does not know.
func unknown(v backlog.View, f item.Filter) []string {
	list := v.Unknown(f)
	for i, text := range list {
		list[i] = form.Line(text, warningLength)
	}
	return list
}

// RelatedIn is an item whose relatives are requested.
type RelatedIn struct {
	ID     item.ID `json:"id"`
	Limit  *int    `json:"limit,omitempty" zero:"none"`
	Cursor string  `json:"cursor,omitempty"`
}

// GetChildren lists the items whose parent is an item.
func (t *Tools) GetChildren(ctx context.Context, in RelatedIn) (ListOut, error) {
	return t.related(ctx, "get_children", in, (*item.Snapshot).Children)
}

// GetDependents lists the items that depend on an item.
func (t *Tools) GetDependents(ctx context.Context, in RelatedIn) (ListOut, error) {
	return t.related(ctx, "get_dependents", in, (*item.Snapshot).Dependents)
}

func (t *Tools) related(ctx context.Context, tool string, in RelatedIn, list func(*item.Snapshot, item.ID) []*item.Summary) (ListOut, error) {
	v, err := t.backlog.Read(ctx)
	if err != nil {
		return ListOut{}, err
	}
	found, err := t.backlog.Related(ctx, v, in.ID, list)
	if err != nil {
		return ListOut{}, err
	}
	hits := make([]item.Hit, len(found))
	for i, it := range found {
		hits[i] = item.Hit{Summary: it}
	}
	return rowsOf(v, PageIn{in.Limit, in.Cursor}, tool+" "+in.ID.String(), hits, func(h item.Hit) form.Row {
		row := form.RowOf(h.Summary)
		row.Claimed = form.Line(v.HeldBy(h.ID), form.LineLength*2)
		return row
	})
}

var limits = page.Limits{Default: 50, Max: 200}

// rowsOf returns a page of a list, which is by ID. The query names it for its cursors.
func rowsOf(v backlog.View, in PageIn, query string, list []item.Hit, row func(item.Hit) form.Row) (ListOut, error) {
	window, err := limits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, query)
	if err != nil {
		return ListOut{}, &toolset.ArgumentError{Message: err.Error()}
	}
	budget := form.Budget
	if in.Limit != nil {
		budget = *in.Limit * form.Budget // an explicit limit
	}
	rows := make(map[item.ID]form.Row)
	found := page.List[item.Hit]{
		Key:     func(it item.Hit) string { return it.ID.String() },
		Compare: page.Numeric,
		Size: func(it item.Hit) int {
			rows[it.ID] = row(it)
			return form.Size(rows[it.ID], 1)
		},
		Budget: budget,
	}.Cut(window, list)
	total := len(list)
	out := ListOut{Rows: make([]form.Row, len(found.Items)), ListInfo: plain.ListInfo{
		Total: &total, NextCursor: found.Next, Warnings: warnings(v.Warnings()),
	}}
	for i, it := range found.Items {
		out.Rows[i] = rows[it.ID]
	}
	return out, nil
}

// ShowIn selects an item, and the start positions in its long parts.
type ShowIn struct {
	ID          item.ID `json:"id"`
	Description *int    `json:"description_offset,omitempty" min:"0" description:"From an earlier answer."`
	Comments    *int    `json:"comments_offset,omitempty" min:"0" description:"Likewise."`
	// Comment is the position at which to continue in the first of the comments.
	Comment int `json:"comment_offset,omitempty" min:"0" description:"Likewise."`
}

// ShowItem reads one item.
func (t *Tools) ShowItem(ctx context.Context, in ShowIn) (form.Item, error) {
	it, err := t.project.Item(ctx, in.ID)
	if err != nil {
		return form.Item{}, err
	}
	out := form.Of(ctx, &it, form.SectionOf(ctx, in.Description, in.Comments, in.Comment))
	claim, err := t.backlog.Claim(ctx, &it.Summary)
	if err != nil {
		return form.Item{}, err
	}
	if claim != nil {
		out.Claim = claimOf(*claim)
	}
	return out, nil
}
