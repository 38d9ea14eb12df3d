// Package hosted is the views of copse that a client of MCP shows beside the answers of tools:
// the extension MCP Apps. The board's own views draw them, so they have the markup and the
// style of the page, with the colors and fonts of the client.
//
// A [Page] is a document that needs nothing else. It shows what the functions of [Views] draw
// for an answer. A link to an item and a form become calls of tools, which the page asks the
// client to make. Like all of the board's HTML, a drawing has every foreign text escaped.
//
// The content security policy of the document allows no request, and only the document's own script
// and style, by their hashes.
package hosted

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/items"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/stacks"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

//go:embed hosted.tmpl
var files embed.FS

//go:embed hosted.js
var script string

//go:embed hosted.css
var style string

// Page is a view as a document.
type Page struct {
	URI, Name, Title, Description string
	// HTML returns the document.
	HTML func() string
}

// The pages.
const (
	stackURI = "ui://copse/stack"
	itemsURI = "ui://copse/items"
)

// Stack returns the view of a stack of branches.
func Stack() Page {
	return page(Page{URI: stackURI, Name: "stack-view", Title: "Stack", Description: "The stack of branches with what blocks it, for clients that show views"}, "get_stack_status")
}

// Items returns the view of work items.
func Items() Page {
	return page(Page{URI: itemsURI, Name: "items-view", Title: "Work items", Description: "Work items as a list or a tree, for clients that show views"}, "list_items")
}

// page returns a complete page. If the client does not say which tool the page belongs to, the page
// calls a default tool.
func page(p Page, tool string) Page {
	p.HTML = sync.OnceValue(func() string { return document(p.Title, tool) })
	return p
}

// sheet returns the style of the page, which follows the client instead of the system.
func sheet() string {
	css := string(markup.Assets()["board.css"].Body)
	// The light colors, then the dark colors.
	colors := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(css, 2)
	if len(colors) != 2 {
		panic("hosted: the style sheet has no light and dark colors")
	}
	return css + ":root[data-theme=light] {" + colors[0][1] + "color-scheme: light; }\n" +
		":root[data-theme=dark] {" + colors[1][1] + "color-scheme: dark; }\n" + style
}

// document returns the page. It is entirely part of the program.
func document(title, tool string) string {
	css := sheet()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(css) + "; base-uri 'none'; form-action 'none'"
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<title>` + template.HTMLEscapeString(title) + `</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>` + css + `</style>
</head>
<body class="hosted" data-tool="` + template.HTMLEscapeString(tool) + `">
<main>
<div id="list" aria-busy="true"><p class="dim">Waiting for the answer…</p></div>
<div id="item"></div>
<div id="notice" role="status"></div>
</main>
<script>` + script + `</script>
</body>
</html>
`
}

// Options are what views draw from.
type Options struct {
	Now func() time.Time
	// Items draws work items as the page does. It is called for the first drawing of one.
	Items func() ItemsView
	// ReadOnly means that the server serves no tool that changes something.
	ReadOnly bool
}

// ItemsView draws work items.
type ItemsView interface {
	Rows(ctx context.Context, items []items.ItemRow) ([]board.Row, error)
	Panel(ctx context.Context, id item.ID, readOnly bool) (*board.Detail, error)
}

// Views render the data of answers.
type Views struct {
	kit       *markup.Kit
	o         Options
	templates func() *template.Template
	stacks    func() *stacks.View
	items     func() ItemsView
}

// New returns the views. They parse the templates on first use.
func New(kit *markup.Kit, o Options) *Views {
	return &Views{
		kit: kit, o: o,
		templates: sync.OnceValue(func() *template.Template { return kit.Parse(files, "hosted.tmpl") }),
		stacks:    sync.OnceValue(func() *stacks.View { return stacks.New(kit, stacks.Options{Now: o.Now}) }),
		items:     sync.OnceValue(o.Items),
	}
}

// list is a section of the page, with what a client can do with it.
type list struct {
	board.Section
	Heading string // of a section without a head
	Aside   string
	Again   string // the button that asks again
	Filter  bool
	Cursor  string // of the next rows; "" for none
	Notes   []string
}

func (v *Views) draw(name string, data any) (string, error) {
	html, err := v.kit.Render(v.templates(), name, data)
	return string(html), err
}

// DrawStack renders the verdict on a stack, as the page does.
func (v *Views) DrawStack(s verdict.Status) (string, error) {
	section, err := v.stacks().Section(s)
	if err != nil {
		return "", fmt.Errorf("draw a stack: %w", err)
	}
	l := list{Section: section, Again: "Refresh", Notes: s.Notes}
	if s.Showing != "" {
		l.Notes = append([]string{s.Showing}, l.Notes...)
	}
	switch {
	case s.GitHub.Reason != "":
		l.Notes = append([]string{"GitHub: " + s.GitHub.Reason}, l.Notes...)
	case s.GitHub.Age != "":
		l.Notes = append([]string{"GitHub answered " + s.GitHub.Age}, l.Notes...)
	}
	return v.draw("list", l)
}

// DrawItems renders an answer of list_items.
func (v *Views) DrawItems(ctx context.Context, data json.RawMessage) (string, error) {
	var in struct {
		Items []struct {
			ID item.ID `json:"id"`
		} `json:"items"`
		Total  int    `json:"total"`
		Cursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw items: %w", err)
	}
	rows := make([]items.ItemRow, len(in.Items))
	for i, it := range in.Items {
		rows[i].ID = it.ID
	}
	aside := strconv.Itoa(in.Total)
	if len(rows) < in.Total {
		aside = fmt.Sprintf("%d of %d", len(rows), in.Total)
	}
	return v.drawItems(ctx, rows, aside, in.Cursor)
}

// node is an item of a tree.
type node struct {
	ID       item.ID `json:"id"`
	Children []node  `json:"children"`
	Omitted  int     `json:"omitted"`
}

// DrawTree renders an answer of get_item_tree.
func (v *Views) DrawTree(ctx context.Context, data json.RawMessage) (string, error) {
	var in struct {
		Tree []node `json:"tree"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw a tree of items: %w", err)
	}
	var rows []items.ItemRow
	var appendNodes func(nodes []node, depth int)
	appendNodes = func(nodes []node, depth int) {
		for _, n := range nodes {
			rows = append(rows, items.ItemRow{ID: n.ID, Depth: depth, Omitted: n.Omitted})
			appendNodes(n.Children, depth+1)
		}
	}
	appendNodes(in.Tree, 0)
	return v.drawItems(ctx, rows, "", "")
}

func (v *Views) drawItems(ctx context.Context, listed []items.ItemRow, aside, cursor string) (string, error) {
	rows, err := v.items().Rows(ctx, listed)
	if err != nil {
		return "", fmt.Errorf("draw items: %w", err)
	}
	l := list{
		Section: board.Section{Class: "tree", Label: "Work items", Rows: rows},
		Heading: "Work items", Aside: aside, Again: "Refresh", Filter: true, Cursor: cursor,
	}
	return v.draw("list", l)
}

// DrawItem renders an answer of show_item.
func (v *Views) DrawItem(ctx context.Context, data json.RawMessage) (string, error) {
	var in struct {
		ID item.ID `json:"id"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw an item: %w", err)
	}
	panel, err := v.items().Panel(ctx, in.ID, v.o.ReadOnly)
	if err != nil {
		return "", fmt.Errorf("draw an item: %w", err)
	}
	return v.draw("detail", panel)
}
