package items

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/toolset"
)

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

// readItem is an item as Markdown, uncut.
func (t *Tools) readItem(ctx context.Context, values map[string]string) (string, error) {
	id, err := item.ParseID(values["id"])
	if err != nil {
		return message(err), nil
	}
	it, err := t.project.Item(ctx, id)
	if err != nil {
		return message(err), nil
	}
	return markdown(&it), nil
}

func markdown(it *item.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# #%d %s\n\n", it.ID, cleantext.Line(it.Title))
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, cleantext.Line(value))
		}
	}
	fact("type", it.Type)
	fact("status", it.Status)
	fact("priority", it.Priority)
	fact("iteration", it.Iteration)
	fact("assignee", it.Assignee)
	fact("labels", strings.Join(it.Labels, ", "))
	if it.Parent != 0 {
		fact("parent", fmt.Sprintf("#%d", it.Parent))
	}
	var needs []string
	for _, id := range it.DependsOn {
		needs = append(needs, fmt.Sprintf("#%d", id))
	}
	fact("depends on", strings.Join(needs, ", "))
	fact("created", it.Created)
	fact("updated", it.Updated)
	if it.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", cleantext.Block(it.Description))
	}
	for i, c := range it.Comments {
		if i == 0 {
			b.WriteString("\n## Comments\n")
		}
		fmt.Fprintf(&b, "\n### %s, %s\n\n%s\n",
			cleantext.Line(cmp.Or(c.Author, "unknown")), cleantext.Line(cmp.Or(c.Date, "undated")), cleantext.Block(c.Body))
	}
	return b.String()
}

// completeID offers the numbers that begin with what was typed, then those of
// items that have it in their titles.
func (t *Tools) completeID(ctx context.Context, typed string, _ map[string]string) ([]string, error) {
	s, err := t.state(ctx)
	if err != nil {
		return nil, err
	}
	var byNumber, byTitle []string
	wanted := strings.ToLower(typed)
	for _, it := range s.List(s.config, item.Filter{All: true}) {
		switch id := it.ID.String(); {
		case strings.HasPrefix(id, typed):
			byNumber = append(byNumber, id)
		case strings.Contains(strings.ToLower(it.Title), wanted):
			byTitle = append(byTitle, id)
		}
	}
	return append(byNumber, byTitle...), nil
}
