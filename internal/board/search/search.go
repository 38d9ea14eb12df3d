// Package search is the view of a board that finds things of all kinds as the user types, and shows
// those without their own view: files, and pull requests and issues from the last answers of
// services.
package search

import (
	"context"
	"embed"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/workflow/search"
)

//go:embed search.tmpl
var files embed.FS

// Searcher finds things.
type Searcher interface {
	Kinds() []search.Kind
	Search(ctx context.Context, r search.Request) (search.Result, error)
}

// Files reads the files of the project.
type Files interface {
	Read(ctx context.Context, path string, lines project.Lines) (project.Text, error)
}

// Options configure the view.
type Options struct {
	Searcher Searcher
	// Files can be nil.
	Files Files
	Words failure.Words
	// Views are the names of the other views of the board.
	Views []string
}

// View is the view. Create it with [New].
type View struct {
	o         Options
	kit       *markup.Kit
	templates *template.Template
}

var _ board.View = (*View)(nil)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "search.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "search" }

// Title returns "": the box at the top of each page leads here.
func (*View) Title() string { return "" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source {
	return []board.Source{board.Repository, board.Remote, board.Items, board.Prompts}
}

const (
	// maxShown is the number of hits on a page.
	maxShown = 60
	// maxLines and maxBytes limit the part of a file on the page.
	maxLines = 400
	maxBytes = 48 << 10
)

// kind is a kind of hit that the user can select.
type kind struct {
	Name, Label, Link string
	Count             int
	Selected          bool
}

// row is the content of a row.
type row struct {
	search.Hit
	Link  string
	Label string
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	text, only := strings.TrimSpace(r.Query.Get("q")), search.Kind(r.Query.Get("kind"))
	page := board.Page{Title: "Search", Tools: draw.HTML("tools", struct{ Text, Kind string }{text, string(only)})}
	if text == "" {
		page.Sections = []board.Section{{Key: "hint", Label: "Search", Head: draw.HTML("hint", nil)}}
		return page, draw.Err
	}
	request := search.Request{Query: text, Words: v.o.Words}
	found, err := v.o.Searcher.Search(ctx, request)
	if err != nil {
		return page, err
	}
	counts := found.Counts
	if only != "" && slices.Contains(v.o.Searcher.Kinds(), only) {
		request.Kinds = []search.Kind{only}
		if found, err = v.o.Searcher.Search(ctx, request); err != nil {
			return page, err
		}
	}
	section := board.Section{Key: "hits", Class: "hits", Label: "Found"}
	at := r.Query.Get("at")
	for _, h := range found.Hits[:min(len(found.Hits), maxShown)] {
		h = h.Brief()
		one := row{Hit: h, Link: v.link(h, r.Query), Label: strings.ReplaceAll(string(h.Kind), "_", " ")}
		key := string(h.Kind) + " " + h.Agent + " " + h.ID
		selected := at != "" && at == key
		section.Rows = append(section.Rows, board.Row{Key: key, Selected: selected, HTML: draw.HTML("row", one)})
		if selected {
			page.Detail = v.detail(ctx, draw, h, r.Query)
		}
	}
	section.Head = draw.HTML("kinds", v.kinds(counts, only, text))
	if found.Total == 0 {
		section.Foot = draw.HTML("nothing", text)
	} else if more := found.Total - len(section.Rows); more > 0 {
		section.Foot = draw.HTML("more", more)
	}
	page.Sections = []board.Section{section}
	if len(found.Notes) > 0 {
		page.Sections = append(page.Sections, board.Section{Key: "notes", Label: "Not searched", Head: draw.HTML("notes", found.Notes)})
	}
	return page, draw.Err
}

// kinds returns the kinds of the hits, with their numbers.
func (v *View) kinds(counts map[search.Kind]int, only search.Kind, text string) []kind {
	total := 0
	for _, n := range counts {
		total += n
	}
	all := []kind{{Label: "All", Link: "search?" + url.Values{"q": {text}}.Encode(), Count: total, Selected: only == ""}}
	for _, k := range v.o.Searcher.Kinds() {
		if counts[k] > 0 || k == only {
			all = append(all, kind{
				Name: string(k), Label: k.Plural(), Link: "search?" + url.Values{"q": {text}, "kind": {string(k)}}.Encode(), Count: counts[k], Selected: k == only,
			})
		}
	}
	return all
}

// link returns the page that shows a hit.
func (v *View) link(h search.Hit, q url.Values) string {
	has := func(name string) bool { return slices.Contains(v.o.Views, name) }
	switch {
	case h.Kind == search.Branch && has("stacks"):
		return "stacks?" + url.Values{"branch": {h.ID}}.Encode()
	case h.Kind == search.Item && has("items"):
		return "items/" + url.PathEscape(h.ID)
	case h.Kind == search.Prompt && has("prompts"):
		agent := h.Agent
		if agent == "" {
			agent = library.DefaultAgent
		}
		return "prompts?" + url.Values{"agent": {agent}, "c1": {h.Command.C1}, "c2": {h.Command.C2}, "c3": {h.Command.C3}}.Encode()
	case h.Kind == search.Recipe && has("tasks"):
		return "tasks?" + url.Values{"task": {h.ID}}.Encode()
	}
	to := url.Values{"q": {q.Get("q")}, "at": {string(h.Kind) + " " + h.Agent + " " + h.ID}}
	if only := q.Get("kind"); only != "" {
		to.Set("kind", only)
	}
	return "search?" + to.Encode()
}

// shown is the content of the panel about a hit.
type shown struct {
	search.Hit
	Label, Stack string
	Text, Notice string
}

// detail returns the panel about a hit without its own view.
func (v *View) detail(ctx context.Context, draw *markup.Renderer, h search.Hit, q url.Values) *board.Detail {
	back := url.Values{"q": {q.Get("q")}}
	if only := q.Get("kind"); only != "" {
		back.Set("kind", only)
	}
	s := shown{Hit: h, Label: strings.ReplaceAll(string(h.Kind), "_", " ")}
	out := &board.Detail{Title: h.ID, Mono: h.Kind == search.File || h.Kind == search.Branch, Close: "search?" + back.Encode()}
	switch h.Kind {
	case search.PullRequest:
		out.Title = "#" + h.ID + " · " + h.Title
		if h.Branch != "" && h.Fork == "" && slices.Contains(v.o.Views, "stacks") {
			s.Stack = "stacks?" + url.Values{"branch": {h.Branch}}.Encode()
		}
	case search.Issue:
		out.Title = h.ID + " · " + h.Title
	case search.File:
		if v.o.Files == nil {
			break
		}
		text, err := v.o.Files.Read(ctx, h.ID, project.Lines{Max: maxLines, Bytes: maxBytes})
		if err != nil {
			s.Notice = foreign.Notice(err.Error())
			break
		}
		s.Text, s.Notice = cleantext.Block(text.Content), foreign.Notice(text.Notice)
	case search.Branch, search.Item, search.Prompt, search.Recipe:
	}
	out.Sub = draw.HTML("sub", s)
	out.Blocks = []board.Row{{Key: "about", HTML: draw.HTML("about", s)}}
	return out
}
