// Package hosted is the views of copse that a client of MCP shows beside the answers of tools:
// the extension MCP Apps. They have the look of the page, and the colors and fonts of the
// client.
//
// A [Page] is a document that needs nothing else. It shows what the functions of [Views] draw
// of an answer's data, and calls tools through the client. Like all of the board's HTML, a
// drawing has every foreign text escaped.
//
// The document forbids itself every request and every script and style but its own, by their
// hashes.
package hosted

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board"
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

// page completes a page, which asks again with a tool if its client does not say which one
// it was opened for.
func page(p Page, tool string) Page {
	p.HTML = sync.OnceValue(func() string { return document(p.Title, tool) })
	return p
}

// sheet returns the style of the page, which follows the client instead of the system.
func sheet() string {
	css := string(markup.Assets()["board.css"].Body)
	// The light ones, then the dark ones.
	colors := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(css, 2)
	if len(colors) != 2 {
		panic("hosted: the style sheet has no light and dark colors")
	}
	return css + ":root[data-theme=light] {" + colors[0][1] + "color-scheme: light; }\n" +
		":root[data-theme=dark] {" + colors[1][1] + "color-scheme: dark; }\n" + style
}

// document returns the page. All of it is part of the program.
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

// Views draw the data of answers.
type Views struct {
	kit       *markup.Kit
	templates func() *template.Template
	stacks    func() *stacks.View
}

// New returns the views. The templates are read with the first drawing.
func New(kit *markup.Kit, now func() time.Time) *Views {
	return &Views{
		kit:       kit,
		templates: sync.OnceValue(func() *template.Template { return kit.Parse(files, "hosted.tmpl") }),
		stacks:    sync.OnceValue(func() *stacks.View { return stacks.New(kit, stacks.Options{Now: now}) }),
	}
}

func (v *Views) draw(name string, data any) (string, error) {
	html, err := v.kit.Render(v.templates(), name, data)
	return string(html), err
}

// DrawStack draws the verdict on a stack, as the page does.
func (v *Views) DrawStack(s verdict.Status) (string, error) {
	section, err := v.stacks().Section(s)
	if err != nil {
		return "", fmt.Errorf("draw a stack: %w", err)
	}
	return v.draw("stack", struct {
		board.Section
		Status verdict.Status
	}{section, s})
}

// row is an item of a list.
type row struct {
	ID        item.ID   `json:"id"`
	Title     string    `json:"title"`
	Type      string    `json:"type"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Iteration string    `json:"iteration"`
	Assignee  string    `json:"assignee"`
	Labels    []string  `json:"labels"`
	DependsOn []item.ID `json:"dependsOn"`
}

// Tone returns the color of the item's status.
func (r row) Tone() markup.Tone {
	switch strings.ToLower(r.Status) {
	case "done", "closed", "completed", "resolved":
		return markup.Green
	case "in-progress", "in progress", "doing", "review":
		return markup.Blue
	case "blocked":
		return markup.Red
	}
	return markup.Plain
}

// DrawItems draws an answer of list_items.
func (v *Views) DrawItems(data json.RawMessage) (string, error) {
	var in struct {
		Items  []row  `json:"items"`
		Total  int    `json:"total"`
		Cursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw items: %w", err)
	}
	return v.draw("items", in)
}

// node is an item of a tree.
type node struct {
	row
	Children []node `json:"children"`
	Omitted  int    `json:"omitted"`
}

// DrawTree draws an answer of get_item_tree.
func (v *Views) DrawTree(data json.RawMessage) (string, error) {
	var in struct {
		Tree []node `json:"tree"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw a tree of items: %w", err)
	}
	return v.draw("tree", in)
}

// fact is a named value of an item.
type fact struct {
	Name, Text string
	Mono       bool
	HTML       template.HTML
}

// DrawItem draws an answer of show_item.
func (v *Views) DrawItem(data json.RawMessage) (string, error) {
	var in struct {
		row
		Description string         `json:"description"`
		Comments    []item.Comment `json:"comments"`
		Facts       []fact         `json:"-"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", fmt.Errorf("draw an item: %w", err)
	}
	for _, f := range []fact{
		{Name: "Type", Text: in.Type}, {Name: "Priority", Text: in.Priority}, {Name: "Iteration", Text: in.Iteration},
		{Name: "Assignee", Text: in.Assignee}, {Name: "Labels", Text: strings.Join(in.Labels, ", ")},
	} {
		if f.Text != "" {
			in.Facts = append(in.Facts, f)
		}
	}
	return v.draw("item", in)
}
