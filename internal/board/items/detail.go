package items

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markdown"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
)

// panel is the content of the panel about an item.
type panel struct {
	item.Item
	// Link is the page of the item; Edit and Delete are its pages with a form.
	Link, Edit, Delete   string
	CreatedAt, UpdatedAt time.Time

	Query    string // of the page, for the addresses of forms
	ReadOnly bool
	Hosted   bool
	Done     bool

	Statuses, Types, Priorities, Iterations []string

	Claim    *claim.Claim
	Waits    []reference
	Blocks   []reference
	Children []reference
	Parent   *reference

	Description template.HTML
	Cut         bool
	Said        []comment
	MoreSaid    int

	History []change

	Preview *preview
	Behind  Behind
}

// reference is another item.
type reference struct {
	ID    item.ID
	Title string
	Link  string
	Done  bool
	Gone  bool
}

// comment is a comment as HTML.
type comment struct {
	Author string
	At     time.Time
	Date   string // if At could not be read
	HTML   template.HTML
}

// change is an entry of the history.
type change struct {
	changes.Change
	At   time.Time
	What []string
	Undo bool
}

// preview describes the effects of a deletion.
type preview struct {
	Fingerprint          item.Fingerprint
	Children, Dependents []reference
}

const (
	// maxComments is the number of comments on the page, the latest ones.
	maxComments = 50
	// maxMarkdown is the size of the texts on the page that are not shown as their source: a parser
	// needs more time for some texts than for others.
	maxMarkdown = 4 * markdown.MaxText
	// maxChanges is the number of changes of the history on the page, the latest ones.
	maxChanges = 30
	// maxValue is the number of characters of a changed value on the page.
	maxValue = 60
	// maxRelated is the number of related items on the page.
	maxRelated = 50
)

// detail returns the panel about an item.
func (d *drawing) detail(ctx context.Context, id item.ID, q url.Values) (*board.Detail, error) {
	it, err := d.view.o.Store.Item(ctx, id)
	if err != nil {
		return nil, err
	}
	p := panel{
		Item: it, Link: d.filter.address(id.String()), Edit: d.filter.address(id.String(), "edit", "1"), Delete: d.filter.address(id.String(), "delete", "1"),
		CreatedAt: parse(it.Created), UpdatedAt: parse(it.Updated), Query: d.filter.values().Encode(), ReadOnly: d.readOnly, Hosted: d.view.o.Hosted, Done: d.config.Done(it.Status),
		Statuses: with(d.config.Statuses, it.Status), Types: with(d.config.Types, it.Type), Priorities: with(item.Priorities(), it.Priority),
		Iterations: with(d.config.Iterations, it.Iteration),
		Children:   d.references(d.snapshot.Children(id)), Blocks: d.references(d.snapshot.Dependents(id)),
	}
	if c, ok := d.snapshot.Claim(id); ok {
		p.Claim = &c
	}
	if d.view.o.Behind != nil && it.Link.Branch != "" {
		p.Behind = d.view.o.Behind(ctx, it.Link.Branch)
	}
	if it.Parent != 0 {
		parent := d.reference(it.Parent)
		p.Parent = &parent
	}
	for _, on := range it.DependsOn {
		p.Waits = append(p.Waits, d.reference(on))
	}
	p.Description, p.Cut = markdown.Redacted(it.Description, d.Kit.Redacted)
	p.MoreSaid = max(0, len(it.Comments)-maxComments)
	size := min(len(it.Description), markdown.MaxText)
	for _, c := range it.Comments[p.MoreSaid:] {
		draw := markdown.Redacted
		if size += min(len(c.Body), markdown.MaxText); size > maxMarkdown {
			draw = plain
		}
		html, _ := draw(c.Body, d.Kit.Redacted)
		p.Said = append(p.Said, comment{Author: c.Author, At: parse(c.Date), Date: c.Date, HTML: html})
	}
	if err := d.past(ctx, &p); err != nil {
		return nil, err
	}
	out := &board.Detail{Title: id.String() + " · " + it.Title, Sub: d.HTML("sub", p), Close: d.filter.address("")}
	add := func(name string) { out.Blocks = append(out.Blocks, board.Row{Key: name, HTML: d.HTML(name, p)}) }
	switch {
	case q.Has("delete") && !d.readOnly:
		seen, err := d.snapshot.Preview(it)
		if err != nil {
			return nil, err
		}
		p.Preview = &preview{Fingerprint: seen.Fingerprint, Children: d.references(seen.Children), Dependents: d.references(seen.Dependents)}
		add("delete")
		return out, nil
	case q.Has("edit") && !d.readOnly:
		add("edit")
		return out, nil
	}
	if !d.readOnly {
		add("actions")
	}
	add("claim")
	add("description")
	add("related")
	add("comments")
	add("history")
	add("where")
	return out, nil
}

// with returns the values, including one that may be missing.
func with(values []string, one string) []string {
	if one == "" || slices.Contains(values, one) {
		return values
	}
	return append(slices.Clone(values), one)
}

func (d *drawing) references(list []*item.Summary) []reference {
	var all []reference
	for _, it := range list[:min(len(list), maxRelated)] {
		all = append(all, d.reference(it.ID))
	}
	return all
}

func (d *drawing) reference(id item.ID) reference {
	it, err := d.snapshot.Find(id)
	if err != nil {
		return reference{ID: id, Gone: true}
	}
	return reference{ID: id, Title: it.Title, Link: d.filter.address(id.String()), Done: d.config.Done(it.Status)}
}

// past adds the history, the latest change first.
func (d *drawing) past(ctx context.Context, p *panel) error {
	log, err := d.view.o.Store.History(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(log) {
		if len(p.History) == maxChanges {
			return nil
		}
		_, err := changes.PlanUndo(&p.Item, false, log, c.ID)
		refused, _ := errors.AsType[*changes.UndoError](err)
		p.History = append(p.History, change{
			Change: c, At: parse(c.At), What: what(c),
			// Undoing the creation of an item takes two steps, like any other deletion.
			Undo: c.ID != "" && c.Kind != changes.Created && refused == nil && !d.readOnly && !d.view.o.Hosted,
		})
	}
	return nil
}

// what describes a change.
func what(c changes.Change) []string {
	var words []string
	for _, v := range c.Values() {
		short := func(text string) string {
			if text == "" {
				return "none"
			}
			return cut(text, maxValue)
		}
		if v.Field == "description" {
			words = append(words, "description")
			continue
		}
		words = append(words, strings.ReplaceAll(v.Field, "_", " ")+": "+short(v.Before)+" → "+short(v.After))
	}
	return append(words, c.Cut...)
}

// parse returns a time of an item, zero if it is invalid.
func parse(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// create returns the panel with the form for a new item.
func (d *drawing) create(q url.Values) *board.Detail {
	p := panel{
		Query: d.filter.values().Encode(), Statuses: d.config.Statuses, Types: d.config.Types, Priorities: item.Priorities(), Iterations: d.config.Iterations,
		Item: item.Item{Summary: item.Summary{
			Status: d.filter.Status, Type: cmp.Or(d.filter.Type, d.config.PreferredType()), Assignee: d.filter.Assignee, Priority: d.filter.Priority, Iteration: d.config.CurrentIteration,
		}},
	}
	if id, err := item.ParseID(q.Get("parent")); err == nil {
		p.Item.Parent = id
	}
	if d.filter.Iteration != "" && d.filter.Iteration != all {
		p.Iteration = d.filter.Iteration
	}
	return &board.Detail{
		Title: "New item", Close: d.filter.address(""),
		Blocks: []board.Row{{Key: "create", HTML: d.HTML("create", p)}},
	}
}

// plain returns a text without formatting.
func plain(source string, redact func(string) string) (template.HTML, bool) {
	return markdown.Source(redact(source))
}
