// Package prompts is the view of a board that finds the prompts of all agents, renders one with
// values, and copies it.
package prompts

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/failure"
)

//go:embed prompts.tmpl
var files embed.FS

// Library has the registries of agents.
type Library interface {
	All() ([]library.Agent, []error)
	Open(agent string) (*library.Catalog, error)
}

// Runner renders prompts.
type Runner interface {
	Run(ctx context.Context, from *library.Catalog, r render.Request) (render.Result, error)
}

// Options configure the view.
type Options struct {
	Library Library
	Runner  Runner
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
	_ board.Asker   = (*View)(nil)
)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "prompts.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "prompts" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Prompts" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source { return []board.Source{board.Prompts} }

// Count returns the number of prompts.
func (v *View) Count(context.Context) board.Badge {
	agents, _ := v.o.Library.All() // unreadable registries count nothing
	n := 0
	for _, agent := range agents {
		n += len(agent.Commands)
	}
	if n == 0 {
		return board.Badge{}
	}
	return board.Badge{Text: strconv.Itoa(n)}
}

const (
	// window is the number of prompts on a page.
	window = 60
	// maxText is the number of characters of a description in a row.
	maxText = 200
)

// entry is a prompt in the list.
type entry struct {
	Agent string
	command.Command
	Text string
	Link string
}

// address returns the page of a prompt, in the list that a text finds.
func address(agent string, id command.ID, text string) string {
	q := url.Values{"agent": {agent}, "c1": {id.C1}, "c2": {id.C2}, "c3": {id.C3}}
	if text != "" {
		q.Set("q", text)
	}
	return "prompts?" + q.Encode()
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	return v.page(ctx, r, nil)
}

// Ask returns the page with the prompt that the values of a form give. Rendering changes
// nothing; a form keeps the values, which can be long or private, out of the address.
func (v *View) Ask(ctx context.Context, r board.Request, form url.Values) (board.Page, error) {
	return v.page(ctx, r, form)
}

// page makes the page. form has the values of a prompt; it is nil where nothing is rendered.
func (v *View) page(ctx context.Context, r board.Request, form url.Values) (board.Page, error) {
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	q := r.Query
	text := strings.TrimSpace(q.Get("q"))
	page := board.Page{Title: "Prompts", Tools: draw.HTML("tools", text)}
	agents, errs := v.o.Library.All()
	notes := make([]string, len(errs))
	for i, err := range errs {
		notes[i] = err.Error()
	}
	var all []entry
	for _, agent := range agents {
		for _, c := range found(agent.Catalog, text) {
			all = append(all, entry{Agent: agent.Name, Command: c})
		}
	}
	section := board.Section{Key: "prompts", Class: "prompts", Label: "Prompts"}
	from, _ := strconv.Atoi(q.Get("from"))
	from = max(0, min(from, len(all)-1)) / window * window
	named := command.ID{C1: q.Get("c1"), C2: q.Get("c2"), C3: q.Get("c3")}
	for _, one := range all[from:min(from+window, len(all))] {
		one.Text, one.Link = cleantext.Cut(cleantext.Line(one.Description), maxText), address(one.Agent, one.ID, text)
		section.Rows = append(section.Rows, board.Row{
			Key: one.Agent + " " + one.String(), Selected: one.Agent == q.Get("agent") && one.ID == named,
			HTML: draw.HTML("row", one),
		})
	}
	section.Foot = foot(draw, text, from, len(all))
	switch {
	case len(agents) == 0 && len(notes) == 0:
		section.Head = draw.HTML("none", nil)
	case len(all) == 0:
		section.Head = draw.HTML("nothing", text)
	}
	page.Sections = []board.Section{section}
	if len(notes) > 0 {
		page.Sections = append(page.Sections, board.Section{Key: "notes", Class: "problem", Label: "Unreadable entries", Head: draw.HTML("notes", notes)})
	}
	if named != (command.ID{}) {
		var err error
		if page.Detail, err = v.detail(ctx, draw, q, form, named); err != nil {
			return board.Page{}, err
		}
	}
	return page, draw.Err
}

// found returns the commands of a catalog that match a text, best match first; without a text, all
// of them.
func found(catalog *library.Catalog, text string) []command.Command {
	if text == "" {
		return catalog.Commands
	}
	var all []command.Command
	known := map[command.ID]bool{}
	for _, m := range catalog.Search(text, window) {
		all, known[m.Command.ID] = append(all, m.Command), true
	}
	// The beginning of a word, while the user types, is not yet a word.
	words := strings.Fields(strings.ToLower(text))
	for _, c := range catalog.Commands {
		in := strings.ToLower(c.SearchText())
		if !known[c.ID] && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(in, w) }) {
			all = append(all, c)
		}
	}
	return all
}

// foot states which part of the list is on the page.
func foot(draw *markup.Renderer, text string, from, of int) template.HTML {
	if of <= window {
		return ""
	}
	at := func(n int) string {
		to := url.Values{"from": {strconv.Itoa(n)}}
		if text != "" {
			to.Set("q", text)
		}
		return "prompts?" + to.Encode()
	}
	data := struct {
		First, Last, Of int
		Earlier, Later  string
	}{First: from + 1, Last: min(from+window, of), Of: of}
	if from > 0 {
		data.Earlier = at(from - window)
	}
	if data.Last < of {
		data.Later = at(data.Last)
	}
	return draw.HTML("foot", data)
}

// variable is a variable of a prompt, with its value.
type variable struct {
	command.Variable
	Field, Value string
}

// panel is the content of the panel about a prompt.
type panel struct {
	command.Command
	Agent, Path, Link          string
	Edition, Adaptation        string
	InputText, InputFile, Dest string
	Variables                  []variable
	Rendered                   bool
	Prompt                     string
	Missing                    []string
	Refused                    string
	CommandLine                string
}

// detail returns the panel about a prompt, with its text if the browser sent values.
func (v *View) detail(ctx context.Context, draw *markup.Renderer, q, form url.Values, id command.ID) (*board.Detail, error) {
	agent := cmp.Or(q.Get("agent"), library.DefaultAgent)
	missing := failure.New(failure.NotFound, "There is no prompt "+id.String()+" of "+agent, "Choose one from the list.")
	catalog, err := v.o.Library.Open(agent)
	if err != nil {
		return nil, missing
	}
	c, ok := catalog.Find(id)
	if !ok {
		return nil, missing
	}
	p := panel{
		Command: c, Agent: agent, Path: catalog.Path, Link: address(agent, id, q.Get("q")), Edition: form.Get("edition"), Adaptation: form.Get("adaptation"),
		InputText: strings.ReplaceAll(form.Get("input_text"), "\r\n", "\n"), InputFile: form.Get("input_file"), Dest: form.Get("destination"),
		CommandLine: "copse prompt run " + markup.ShellWord(id.C1) + " " + markup.ShellWord(id.C2) + " " + markup.ShellWord(id.C3),
	}
	if agent != library.DefaultAgent {
		p.CommandLine += " --agent " + markup.ShellWord(agent)
	}
	o := render.Options{Edition: p.Edition, Adaptation: p.Adaptation, InputFile: p.InputFile, Destination: p.Dest}
	for i, uv := range c.UV {
		one := variable{uv, "uv" + strconv.Itoa(i), form.Get("uv" + strconv.Itoa(i))}
		p.Variables = append(p.Variables, one)
		if one.Value != "" {
			o.Variables = append(o.Variables, render.Value{Name: uv.Name, Value: one.Value})
		}
	}
	if p.Rendered = form != nil; p.Rendered {
		res, err := v.o.Runner.Run(ctx, catalog, render.Request{Agent: agent, ID: id, Args: o.Args(), InputText: p.InputText})
		refused, isRefused := errors.AsType[*render.Error](err)
		switch {
		case isRefused:
			p.Refused = refused.Reason
		case err != nil:
			p.Refused = err.Error()
		default:
			p.Prompt, p.Missing = res.Prompt, res.Missing
		}
	}
	out := &board.Detail{Title: id.String(), Mono: true, Sub: draw.HTML("sub", p), Close: "prompts"}
	if text := q.Get("q"); text != "" {
		out.Close += "?" + url.Values{"q": {text}}.Encode()
	}
	out.Blocks = []board.Row{{Key: "about", HTML: draw.HTML("about", p)}, {Key: "form", HTML: draw.HTML("form", p)}}
	if p.Rendered {
		out.Blocks = append(out.Blocks, board.Row{Key: "prompt", HTML: draw.HTML("prompt", p)})
	}
	return out, nil
}
