// Package items is the view of a board that shows the work items, as a board by status or as a
// tree, with a panel about one item, and forms that create, change, claim, and delete items.
//
// A page shows a window of each column, however many items there are, with links to the rest.
package items

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/claims"
)

//go:embed items.tmpl
var files embed.FS

// Options configure the view.
type Options struct {
	// Store has the items.
	Store storage.Store
	// Claims gives and ends claims of the items; nil for a view that nobody changes items in.
	Claims *claims.Claims
	// Agent is the author of changes: the user of the page.
	Agent claim.Agent
	// Behind returns what belongs to the branch of an item, as services said last. It can be
	// nil.
	Behind func(ctx context.Context, branch string) Behind
	Now    func() time.Time
	// Hosted means that a client of MCP shows what is drawn, so only changes that have a tool
	// are offered.
	Hosted bool
}

// Behind is what belongs to a branch. What is not known is empty.
type Behind struct {
	// Issue is a key of Jira, and Status its status there.
	Issue, Status string
	// Pull is the number of a pull request, and State what GitHub says of it.
	Pull  int
	State string
}

// View is the view. Create it with [New].
type View struct {
	o         Options
	kit       *markup.Kit
	templates *template.Template
}

var (
	_ board.View    = (*View)(nil)
	_ board.Counter = (*View)(nil)
	_ board.Actor   = (*View)(nil)
)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "items.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "items" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Items" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source { return []board.Source{board.Items, board.Remote} }

// Count returns the number of items that are not done, of those that the page shows without a
// filter.
func (v *View) Count(ctx context.Context) board.Badge {
	config, snapshot, err := v.read(ctx)
	if err != nil {
		return board.Badge{}
	}
	return board.Badge{Text: strconv.Itoa(open(config, snapshot.List(config, item.Filter{})))}
}

// open returns how many items are not done.
func open(config item.Config, items []*item.Summary) int {
	n := 0
	for _, it := range items {
		if !config.Done(it.Status) {
			n++
		}
	}
	return n
}

func (v *View) read(ctx context.Context) (item.Config, *item.Snapshot, error) {
	config, err := v.o.Store.Config(ctx)
	if err != nil {
		return item.Config{}, nil, err
	}
	snapshot, err := v.o.Store.Snapshot(ctx)
	return config, snapshot, err
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	config, snapshot, err := v.read(ctx)
	if errors.Is(err, storage.ErrNoProject) {
		draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
		page := board.Page{Title: "Items", Sections: []board.Section{{Key: "none", Label: "No items", Head: draw.HTML("none", nil)}}}
		return page, draw.Err
	}
	if err != nil {
		return board.Page{}, explain(err)
	}
	d := &drawing{
		Renderer: markup.Renderer{Kit: v.kit, Templates: v.templates}, view: v, readOnly: r.ReadOnly,
		config: config, snapshot: snapshot, filter: filterOf(r.Query),
	}
	page := board.Page{Title: "Items"}
	selected := d.selected()
	page.Aside = aside(len(selected), snapshot.Len(), open(config, selected))
	id, named := item.ID(0), r.Path != ""
	if named {
		if id, err = item.ParseID(r.Path); err != nil {
			return board.Page{}, failure.New(failure.NotFound, "There is no item "+r.Path, "Choose one from the list.")
		}
	}
	page.Tools = d.tools(id)
	switch {
	case len(selected) == 0:
		page.Sections = []board.Section{{Key: "empty", Label: "No items", Head: d.HTML("empty-list", struct {
			Filtered bool
			All      string
		}{d.filter.narrow() || snapshot.Len() > 0, d.filter.everything()})}}
	case d.filter.Tree:
		page.Sections = d.tree(selected, id)
	default:
		page.Class, page.Sections = "columns", d.columns(selected, id)
	}
	switch {
	case named:
		page.Detail, err = d.detail(ctx, id, r.Query)
	case r.Query.Has("new") && !r.ReadOnly:
		page.Detail = d.create(r.Query)
	}
	if err != nil {
		return board.Page{}, explain(err)
	}
	return page, d.Err
}

// explain returns an error with the next step on the page.
func explain(err error) error {
	if _, done := errors.AsType[*failure.Error](err); done || err == nil {
		return err
	}
	if item.IsNotFound(err) {
		return failure.New(failure.NotFound, err.Error(), "It may have been deleted. Choose one from the list.")
	}
	if _, changed := errors.AsType[*storage.ChangedError](err); changed {
		return failure.New(failure.Busy, "The item has changed since you opened it", "Review it, then delete it.")
	}
	if held, ok := errors.AsType[*storage.HeldError](err); ok {
		return failure.New(failure.Busy, held.Error(), "Ask its holder, or take the item over.")
	}
	if undo, ok := errors.AsType[*changes.UndoError](err); ok {
		return failure.New(failure.Busy, undo.Error(), "Change the item instead.")
	}
	if bad, ok := errors.AsType[*item.InvalidError](err); ok {
		return failure.New(failure.Invalid, bad.Error(), "Correct the form and send it again.")
	}
	if errors.Is(err, storage.ErrNoProject) {
		return failure.New(failure.NotFound, "There is no store of items yet", "Run copse item init in the repository.")
	}
	return failure.New(failure.Internal, err.Error(), "Run copse item doctor to find the problem.")
}

// filter selects the items, and how the page shows them.
type filter struct {
	Tree                                    bool
	Text                                    string
	Type, Status, Priority, Assignee, Label string
	// Iteration is "" for the current one, and "*" for all.
	Iteration string
	// From is where the window of each column begins, by status.
	From map[string]int
}

// all represents all iterations in an address.
const all = "*"

func filterOf(q url.Values) filter {
	f := filter{
		Tree: q.Get("view") == "tree", Text: strings.TrimSpace(q.Get("q")), Type: q.Get("type"), Status: q.Get("status"),
		Priority: q.Get("priority"), Assignee: q.Get("assignee"), Label: q.Get("label"), Iteration: q.Get("iteration"), From: map[string]int{},
	}
	for _, one := range q["from"] {
		number, status, _ := strings.Cut(one, " ")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			f.From[status] = n
		}
	}
	return f
}

// values returns the filter as a query.
func (f filter) values() url.Values {
	q := url.Values{}
	if f.Tree {
		q.Set("view", "tree")
	}
	for name, value := range map[string]string{
		"q": f.Text, "type": f.Type, "status": f.Status, "priority": f.Priority, "assignee": f.Assignee, "label": f.Label, "iteration": f.Iteration,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	statuses := make([]string, 0, len(f.From))
	for status := range f.From {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		if n := f.From[status]; n > 0 {
			q.Add("from", strconv.Itoa(n)+" "+status)
		}
	}
	return q
}

// address returns a page with this filter, relative to the board.
func (f filter) address(path string, more ...string) string {
	q := f.values()
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	to := "items"
	if path != "" {
		to += "/" + path
	}
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// narrow reports whether the filter excludes more than other iterations.
func (f filter) narrow() bool {
	return f.Text+f.Type+f.Status+f.Priority+f.Assignee+f.Label != "" || f.Iteration != "" && f.Iteration != all
}

// everything returns the page without a filter.
func (f filter) everything() string {
	return filter{Tree: f.Tree, Iteration: all}.address("")
}

// with returns the filter with another start of a column.
func (f filter) with(status string, from int) filter {
	next := maps.Clone(f.From)
	next[status] = from
	f.From = next
	return f
}
