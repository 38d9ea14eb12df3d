package items

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

// None is the input of a tool without arguments.
type None struct{}

// ConfigOut is what a project says about its items.
type ConfigOut struct {
	Statuses         []string `json:"statuses"`
	Types            []string `json:"types"`
	Iterations       []string `json:"iterations"`
	CurrentIteration string   `json:"currentIteration"`
	Priorities       []string `json:"priorities"`
	Warnings         []string `json:"warnings,omitempty"`
}

// GetConfig tells the valid values. The last status means done.
func (t *Tools) GetConfig(ctx context.Context, _ None) (ConfigOut, error) {
	c, err := t.project.Config(ctx)
	if err != nil {
		return ConfigOut{}, err
	}
	return ConfigOut{
		Statuses: listed(c.Statuses), Types: listed(c.Types), Iterations: listed(c.Iterations),
		CurrentIteration: c.CurrentIteration, Priorities: item.Priorities(), Warnings: warnings(c.Warnings, nil),
	}, nil
}

// maxWarnings is how many warnings an answer has; doctor tells all.
const maxWarnings = 3

// warnings are what is wrong with a project and its items, in words.
func warnings(project, items []item.Warning) []string {
	var list []string
	for _, all := range [][]item.Warning{project, items} {
		for _, w := range all {
			list = append(list, w.File+" "+w.Reason)
		}
	}
	if more := len(list) - maxWarnings; more > 0 {
		list = append(list[:maxWarnings], fmt.Sprintf("%d more; `tic doctor` lists and repairs", more))
	}
	return list
}

// state is the project as one call sees it.
type state struct {
	config item.Config
	*item.Snapshot
}

func (t *Tools) state(ctx context.Context) (state, error) {
	c, err := t.project.Config(ctx)
	if err != nil {
		return state{}, err
	}
	s, err := t.project.Snapshot(ctx)
	return state{c, s}, err
}

func (s state) warnings() []string { return warnings(s.config.Warnings, s.Warnings) }

// PageIn selects a page of a list.
type PageIn struct {
	Limit  *int
	Cursor string
}

// ListIn selects items. An empty field does not restrict.
type ListIn struct {
	Type      string `json:"type,omitempty"`
	Status    string `json:"status,omitempty"`
	Iteration string `json:"iteration,omitempty" description:"Default: the current one."`
	All       bool   `json:"all,omitempty" description:"Of all iterations."`
	Assignee  string `json:"assignee,omitempty"`
	Label     string `json:"label,omitempty"`
	Priority  string `json:"priority,omitempty" enum:"low,medium,high,critical"`
	Ready     bool   `json:"ready,omitempty" description:"Not done, and nothing it depends on is open."`
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
type ListOut struct {
	Items []Row `json:"items"`
	plain.Rest
}

// ListItems lists the items that a filter selects.
func (t *Tools) ListItems(ctx context.Context, in ListIn) (ListOut, error) {
	s, err := t.state(ctx)
	if err != nil {
		return ListOut{}, err
	}
	return s.page(PageIn{in.Limit, in.Cursor}, query("list_items", in.filter(), ""), s.List(s.config, in.filter()), nil)
}

// SearchIn is a text to search for among selected items.
type SearchIn struct {
	Query     string `json:"query"`
	Type      string `json:"type,omitempty"`
	Status    string `json:"status,omitempty"`
	Iteration string `json:"iteration,omitempty"`
	All       bool   `json:"all,omitempty" description:"Of all iterations."`
	Assignee  string `json:"assignee,omitempty"`
	Label     string `json:"label,omitempty"`
	Priority  string `json:"priority,omitempty" enum:"low,medium,high,critical"`
	Ready     bool   `json:"ready,omitempty"`
	Limit     *int   `json:"limit,omitempty" min:"1" max:"200" default:"50"`
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
	s, err := t.state(ctx)
	if err != nil {
		return ListOut{}, err
	}
	filter := in.list().filter()
	hits := s.Search(s.config, in.Query, filter)
	found := make([]*item.Summary, len(hits))
	described := make(map[item.ID]bool)
	for i, h := range hits {
		found[i] = h.Summary
		if h.InDescription {
			described[h.ID] = true
		}
	}
	out, err := s.page(PageIn{in.Limit, in.Cursor}, query("search_items", filter, in.Query), found, func(s *item.Summary) int {
		if described[s.ID] {
			return snippetRoom
		}
		return 0
	})
	if err != nil {
		return ListOut{}, err
	}
	for i := range out.Items {
		row := &out.Items[i]
		if !described[row.ID] {
			continue
		}
		// An item that has gone since it was found has no snippet any more.
		if it, err := t.project.Item(ctx, row.ID); err == nil {
			row.Snippet = item.Snippet(it.Description, in.Query)
		}
	}
	return out, nil
}

// RelatedIn is an item whose relatives are asked for.
type RelatedIn struct {
	ID     item.ID `json:"id" min:"1"`
	Limit  *int    `json:"limit,omitempty" min:"1" max:"200" default:"50"`
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
	s, err := t.state(ctx)
	if err != nil {
		return ListOut{}, err
	}
	found := list(s.Snapshot, in.ID)
	if len(found) == 0 {
		// Whether there is none, or no such item, is a difference.
		if _, err := t.project.Item(ctx, in.ID); err != nil {
			return ListOut{}, err
		}
	}
	return s.page(PageIn{in.Limit, in.Cursor}, tool+" "+in.ID.String(), found, nil)
}

var limits = page.Limits{Default: 50, Max: 200}

// query names a list for its cursors.
func query(tool string, f item.Filter, text string) string {
	data, err := json.Marshal(struct {
		Filter item.Filter
		Text   string
	}{f, text})
	if err != nil { // strings and booleans always encode
		return tool
	}
	return tool + string(data)
}

// Bytes: of the rows of a page as they are shown, and of a snippet in one.
const (
	listBudget  = 9 << 10
	snippetRoom = 250
)

// page cuts a list, which is by id. If more is not nil it says what an item takes
// besides its row.
func (s state) page(in PageIn, query string, list []*item.Summary, more func(*item.Summary) int) (ListOut, error) {
	window, err := limits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, query)
	if err != nil {
		return ListOut{}, &toolset.ArgumentError{Message: err.Error()}
	}
	budget := listBudget
	if in.Limit != nil {
		budget = *in.Limit * listBudget // asked for: as many as asked
	}
	found := page.List[*item.Summary]{
		Key:     func(s *item.Summary) string { return s.ID.String() },
		Compare: page.Numeric,
		Size: func(s *item.Summary) int {
			size := shown(rowOf(s), 1)
			if more != nil {
				size += more(s)
			}
			return size
		},
		Budget: budget,
	}.Cut(window, list)
	out := ListOut{Items: make([]Row, len(found.Items)), Rest: plain.Rest{
		Total: len(list), NextCursor: found.Next, Warnings: s.warnings(),
	}}
	for i, it := range found.Items {
		out.Items[i] = rowOf(it)
	}
	return out, nil
}

// shown is how many bytes v takes in the text, so deep in it.
func shown(v any, depth int) int {
	prefix := strings.Repeat(indent, depth)
	data, err := json.MarshalIndent(v, prefix, indent)
	if err != nil { // what cannot be encoded is not shown either
		return 0
	}
	return len(prefix) + len(data) + len(",\n")
}

// ShowIn selects an item, and where to begin in its long parts.
type ShowIn struct {
	ID          item.ID `json:"id" min:"1"`
	Description *int    `json:"description_offset,omitempty" min:"0"`
	Comments    *int    `json:"comments_offset,omitempty" min:"0"`
}

// ShowItem reads one item.
func (t *Tools) ShowItem(ctx context.Context, in ShowIn) (Item, error) {
	it, err := t.project.Item(ctx, in.ID)
	if err != nil {
		return Item{}, err
	}
	return itemOf(&it, section{in.Description, in.Comments}), nil
}
