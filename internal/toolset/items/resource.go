package items

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

// list returns the resource with the items of the current iteration. A client that subscribed
// to it learns of each change, by whomever and on whatever machine.
func (t *Tools) list() toolset.Resource {
	r := toolset.Resource{
		URI:         "tic://items",
		Name:        "items",
		Title:       "Work items",
		Description: "The work items of the current iteration, as list_items shows them",
		MIMEType:    "application/json",
		Read:        t.readList,
	}
	if t.watch != nil {
		r.Watch = func(ctx context.Context, changed func()) error {
			var last string
			read := func() string {
				text, _ := t.readList(ctx) // an error is a text, too
				return text
			}
			t.watch(ctx, func() { last = read() }, func() {
				if now := read(); now != last && ctx.Err() == nil {
					last = now
					changed()
				}
			})
			return nil
		}
	}
	return r
}

// readList returns the items of the current iteration as JSON.
func (t *Tools) readList(ctx context.Context) (string, error) {
	out, err := t.ListItems(ctx, ListIn{})
	if err == nil {
		return out.Document(plain.Style{Indent: form.Indent}, "items")
	}
	text, err := json.MarshalIndent(map[string]string{"error": message(err)}, "", form.Indent)
	return string(text), err
}

func (t *Tools) template() toolset.Template {
	return toolset.Template{
		URITemplate: "tic://item/{id}",
		Name:        "item",
		Title:       "Work item",
		Description: "A work item in full, with description and comments",
		MIMEType:    "text/markdown",
		Variables:   []toolset.Argument{{Name: "id", Description: "The item's number", Complete: t.completeID}},
		Read:        t.readItem,
	}
}

// readItem returns an item as Markdown, uncut.
func (t *Tools) readItem(ctx context.Context, values map[string]string) (string, error) {
	id, err := item.ParseID(values["id"])
	if err != nil {
		return foreign.Notice(message(err)), nil
	}
	it, err := t.project.Item(ctx, id)
	if err != nil {
		return foreign.Notice(message(err)), nil
	}
	return markdown(&it), nil
}

// markdown writes an item. Text of people appears as foreign text: a description cannot end itself
// and continue as somebody else's comment.
func markdown(it *item.Item) string {
	lines := []foreign.Line{foreign.Own("# #").Int(int(it.ID)).Own(" ").Prose(it.Title), {}}
	fact := func(name foreign.Line, value string) {
		if value != "" {
			lines = append(lines, name.Name(value))
		}
	}
	fact(foreign.Own("- type: "), it.Type)
	fact(foreign.Own("- status: "), it.Status)
	fact(foreign.Own("- priority: "), it.Priority)
	fact(foreign.Own("- iteration: "), it.Iteration)
	fact(foreign.Own("- assignee: "), it.Assignee)
	fact(foreign.Own("- labels: "), strings.Join(it.Labels, ", "))
	if it.Parent != 0 {
		lines = append(lines, foreign.Own("- parent: #").Int(int(it.Parent)))
	}
	var needs []foreign.Line
	for _, id := range it.DependsOn {
		needs = append(needs, foreign.Own("#").Int(int(id)))
	}
	if len(needs) > 0 {
		lines = append(lines, foreign.Own("- depends on: ").Add(foreign.Join(needs, ", ")))
	}
	fact(foreign.Own("- created: "), it.Created)
	fact(foreign.Own("- updated: "), it.Updated)
	if it.Description != "" {
		lines = append(append(lines, foreign.Own("Description:")), foreign.Quote(it.Description)...)
	}
	for i, c := range it.Comments {
		if i == 0 {
			lines = append(lines, foreign.Line{}, foreign.Own("## Comments"))
		}
		lines = append(lines, foreign.Line{}, foreign.Own("### ").Name(cmp.Or(c.Author, "unknown")).Own(", ").Name(cmp.Or(c.Date, "undated")), foreign.Line{})
		lines = append(lines, foreign.Quote(c.Body)...)
	}
	return foreign.Markdown(lines)
}

// completeID offers the numbers that begin with the typed text, then those of items with the text
// in their titles.
func (t *Tools) completeID(ctx context.Context, prefix string, _ map[string]string) ([]string, error) {
	v, err := t.backlog.Read(ctx)
	if err != nil {
		return nil, err
	}
	var byNumber, byTitle []string
	wanted := strings.ToLower(prefix)
	for _, it := range v.List(v.Config, item.Filter{All: true}) {
		switch id := it.ID.String(); {
		case strings.HasPrefix(id, prefix):
			byNumber = append(byNumber, id)
		case strings.Contains(strings.ToLower(it.Title), wanted):
			byTitle = append(byTitle, id)
		}
	}
	return append(byNumber, byTitle...), nil
}
