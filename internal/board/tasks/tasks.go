// Package tasks is the view of a board that shows the recipes of the project's justfile, runs them,
// and shows their output.
package tasks

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
)

//go:embed tasks.tmpl
var files embed.FS

// Tasks are the tasks of the project.
type Tasks interface {
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
	Start(ctx context.Context, c recipe.Call) (running.Task, error)
	Running() []running.Task
	Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error)
	Latest() []runlog.Report
	Stop(ctx context.Context, id, by string) (running.Task, error)
}

// Options configure the view.
type Options struct {
	Tasks Tasks
	// Root is the worktree whose tasks they are.
	Root string
	Now  func() time.Time
}

// Client is the view's name in the list of runs.
const Client = "copse board"

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
	return &View{o: o, kit: kit, templates: kit.Parse(files, "tasks.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "tasks" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Tasks" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source { return []board.Source{board.Tasks, board.Repository} }

// Count returns the number of running tasks.
func (v *View) Count(context.Context) board.Badge {
	n := 0
	for _, t := range v.o.Tasks.Running() {
		if t.Root == v.o.Root {
			n++
		}
	}
	if n == 0 {
		return board.Badge{}
	}
	return board.Badge{Text: fmt.Sprintf("%d running", n)}
}

// maxRuns is the number of runs in the list.
const maxRuns = 20

// run is a run in a row and in the panel.
type run struct {
	runlog.Report
	Link     string
	Args     string
	Tone     markup.Tone
	Runs     bool
	Took     string
	ReadOnly bool
	Again    string // the page that runs it again
}

func (v *View) run(r runlog.Report, readOnly bool) run {
	one := run{
		Report: r, Link: "tasks/" + url.PathEscape(r.ID), Args: strings.Join(r.Args, " "), Runs: r.State == runlog.Running, ReadOnly: readOnly,
		Again: "tasks?" + url.Values{"task": {r.Name}}.Encode(),
	}
	switch r.State {
	case runlog.Running:
		one.Tone = markup.Blue
	case runlog.Done:
		one.Tone = markup.Green
	case runlog.Failed:
		one.Tone = markup.Red
	case runlog.Stopped, runlog.Lost:
		one.Tone = markup.Amber
	}
	if !r.Ended.IsZero() {
		one.Took = r.Ended.Sub(r.Started).Round(100 * time.Millisecond).String()
	}
	return one
}

// listed is a recipe in a row.
type listed struct {
	recipe.Recipe
	Link string
	Text string // its command line
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	page := board.Page{Title: "Tasks"}
	all, err := v.o.Tasks.Recipes(ctx)
	recipes := board.Section{Key: "recipes", Class: "tasks", Label: "Tasks of the justfile"}
	switch _, none := errors.AsType[recipe.MissingError](err); {
	case none:
		recipes.Head = draw.HTML("none", nil)
	case err != nil:
		recipes.Head = draw.HTML("unread", err.Error())
	default:
		recipes.Head = draw.HTML("recipes", len(all))
	}
	named := r.Query.Get("task")
	var chosen *recipe.Recipe
	for i, one := range all {
		selected := r.Path == "" && one.Name == named
		if selected {
			chosen = &all[i]
		}
		recipes.Rows = append(recipes.Rows, board.Row{
			Key: one.Name, Selected: selected,
			HTML: draw.HTML("recipe", listed{one, "tasks?" + url.Values{"task": {one.Name}}.Encode(), one.Usage()}),
		})
	}
	page.Sections = []board.Section{recipes}
	if runs := v.runs(draw, r); len(runs.Rows) > 0 {
		page.Sections = append([]board.Section{runs}, recipes)
	}
	switch {
	case r.Path != "":
		report, err := v.o.Tasks.Report(ctx, r.Path, 0)
		if err != nil || report.Root != v.o.Root {
			return board.Page{}, failure.New(failure.NotFound, "There is no such run", "copse keeps runs for three days. Choose one from the list of tasks.")
		}
		page.Detail = v.output(draw, v.run(report, r.ReadOnly))
	case chosen != nil:
		page.Detail = v.form(draw, *chosen, r.ReadOnly)
	case named != "" && err == nil:
		return board.Page{}, failure.New(failure.NotFound, "There is no task "+named, "Choose one from the list of tasks.")
	}
	return page, draw.Err
}

// runs returns the list of the latest runs of this worktree.
func (v *View) runs(draw *markup.Renderer, r board.Request) board.Section {
	out := board.Section{Key: "runs", Class: "tasks", Label: "Runs"}
	for _, report := range v.o.Tasks.Latest() {
		if report.Root != v.o.Root {
			continue
		}
		if len(out.Rows) == maxRuns {
			break
		}
		out.Rows = append(out.Rows, board.Row{Key: report.ID, Selected: report.ID == r.Path, HTML: draw.HTML("run", v.run(report, r.ReadOnly))})
	}
	out.Head = draw.HTML("runs", struct {
		Worktree string
		Count    int
	}{filepath.Base(v.o.Root), len(out.Rows)})
	return out
}

// output returns the panel about a run.
func (v *View) output(draw *markup.Renderer, one run) *board.Detail {
	return &board.Detail{
		Title: one.Name, Mono: true, Sub: draw.HTML("sub", one), Close: "tasks",
		Blocks: []board.Row{
			{Key: "state", HTML: draw.HTML("state", one)},
			{Key: "output", HTML: draw.HTML("output", one)},
		},
	}
}

// field is a parameter in a form.
type field struct {
	recipe.Parameter
	Field string
}

// parameterField returns the name of the field of a parameter.
func parameterField(i int) string { return "p" + strconv.Itoa(i) }

// form returns the panel that runs a recipe.
func (v *View) form(draw *markup.Renderer, one recipe.Recipe, readOnly bool) *board.Detail {
	data := struct {
		recipe.Recipe
		Text     string
		Fields   []field
		ReadOnly bool
	}{Recipe: one, Text: one.Usage(), ReadOnly: readOnly}
	for i, p := range one.Parameters {
		data.Fields = append(data.Fields, field{p, parameterField(i)})
	}
	return &board.Detail{
		Title: one.Name, Mono: true, Sub: draw.HTML("usage", data), Close: "tasks",
		Blocks: []board.Row{{Key: "form", HTML: draw.HTML("form", data)}},
	}
}

// Act runs a task, or stops one.
func (v *View) Act(ctx context.Context, r board.Request, action string, form url.Values) (board.Outcome, error) {
	switch {
	case action == "run" && r.Path == "":
		return v.start(ctx, form)
	case action == "stop" && r.Path != "":
		report, err := v.o.Tasks.Report(ctx, r.Path, 0)
		if err != nil || report.Root != v.o.Root {
			return board.Outcome{}, failure.New(failure.NotFound, "There is no such run", "Reload the page.")
		}
		task, err := v.o.Tasks.Stop(ctx, r.Path, Client)
		if err != nil {
			return board.Outcome{}, failure.New(failure.NotFound, err.Error(), "Reload the page to see what runs.")
		}
		return board.Outcome{To: "tasks/" + url.PathEscape(task.ID), Notice: template.HTML(template.HTMLEscapeString(task.Name + " was stopped."))}, nil
	}
	return board.Outcome{}, failure.New(failure.NotFound, "Unknown change", "Reload the page and try again.")
}

// start runs a recipe with the values of a form, like a person who typed them in a terminal.
func (v *View) start(ctx context.Context, form url.Values) (board.Outcome, error) {
	all, err := v.o.Tasks.Recipes(ctx)
	if err != nil {
		return board.Outcome{}, failure.New(failure.Invalid, err.Error(), "")
	}
	name := form.Get("task")
	at := slices.IndexFunc(all, func(r recipe.Recipe) bool { return r.Name == name })
	if at < 0 {
		return board.Outcome{}, failure.New(failure.NotFound, (&recipe.UnknownError{Name: name, Known: all}).Error(), "")
	}
	args, err := arguments(all[at], form)
	if err != nil {
		return board.Outcome{}, err
	}
	if all[at].Confirm && !form.Has("confirmed") {
		return board.Outcome{}, failure.New(failure.Invalid, name+" requires confirmation", "Check the box to confirm.")
	}
	task, err := v.o.Tasks.Start(ctx, recipe.Call{Name: name, Args: args, Confirmed: form.Has("confirmed"), Person: true, Client: Client})
	if _, busy := errors.AsType[*recipe.BusyError](err); busy {
		return board.Outcome{}, failure.New(failure.Busy, name+" is already running", "Wait until it ends, or stop it.")
	}
	if err != nil {
		return board.Outcome{}, failure.New(failure.Invalid, err.Error(), "")
	}
	return board.Outcome{To: "tasks/" + url.PathEscape(task.ID)}, nil
}

// arguments returns the command line of a recipe.
func arguments(r recipe.Recipe, form url.Values) ([]string, error) {
	var args []string
	skipped := ""
	for i, p := range r.Parameters {
		value := strings.ReplaceAll(form.Get(parameterField(i)), "\r\n", "\n")
		switch {
		case p.Option != "":
			if value != "" {
				args = append(args, p.Option, value)
			}
		case value == "" && p.Optional:
			skipped = p.Name
		case value == "":
			return nil, failure.New(failure.Invalid, "A value for "+p.Name+" is missing", "Fill it in.")
		case skipped != "":
			return nil, failure.New(failure.Invalid, "A value for "+skipped+" is missing: "+p.Name+" comes after it", "Fill it in, too.")
		case p.Many:
			for line := range strings.SplitSeq(value, "\n") {
				if line != "" {
					args = append(args, line)
				}
			}
		default:
			args = append(args, value)
		}
	}
	return args, nil
}
