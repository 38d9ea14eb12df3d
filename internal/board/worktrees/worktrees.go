// Package worktrees is the view of a board that shows who works where: the worktrees of the
// repository, their changes, their agents and tasks, and which ones can be removed.
package worktrees

import (
	"context"
	"embed"
	"html/template"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
)

//go:embed worktrees.tmpl
var files embed.FS

// Lister lists the worktrees of a repository.
type Lister interface {
	List(ctx context.Context) ([]worktrees.Worktree, error)
}

// Runs are the runs of tasks.
type Runs interface {
	Running() []running.Task
	Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error)
}

// Options configure the view.
type Options struct {
	Worktrees Lister
	// Count counts the worktrees.
	Count func(context.Context) (int, error)
	// Runs can be nil.
	Runs Runs
	// Root is the worktree that the board is about.
	Root string
	Now  func() time.Time
}

// silent is the time without a call after which the page marks an agent.
const silent = 5 * time.Minute

// View is the view. Create it with [New].
type View struct {
	o         Options
	kit       *markup.Kit
	templates *template.Template
}

var (
	_ board.View    = (*View)(nil)
	_ board.Counter = (*View)(nil)
)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "worktrees.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "worktrees" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Worktrees" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source {
	return []board.Source{board.Repository, board.Remote, board.Items, board.Agents, board.Tasks}
}

// Count returns the number of worktrees.
func (v *View) Count(ctx context.Context) board.Badge {
	n, err := v.o.Count(ctx)
	if err != nil {
		return board.Badge{}
	}
	return board.Badge{Text: strconv.Itoa(n)}
}

// row is the content of a row.
type row struct {
	worktrees.Worktree
	Name     string
	Link     string
	Dirty    int
	Agents   []agent
	Selected bool
}

// agent is a client that works in a worktree.
type agent struct {
	worktrees.Client
	Silent bool
}

func (v *View) row(w worktrees.Worktree) row {
	r := row{Worktree: w, Name: filepath.Base(w.Path), Dirty: w.Changed + w.Untracked + w.Conflicted}
	r.Link = "worktrees?" + url.Values{"at": {w.Path}}.Encode()
	for _, c := range w.Clients {
		r.Agents = append(r.Agents, agent{c, v.o.Now().Sub(c.At) > silent})
	}
	return r
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	all, err := v.o.Worktrees.List(ctx)
	if err != nil {
		return board.Page{}, err
	}
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	page := board.Page{Title: "Worktrees", Aside: summary(all), Tools: draw.HTML("columns", nil)}
	section := board.Section{Key: "worktrees", Class: "worktrees", Label: "Worktrees"}
	at := r.Query.Get("at")
	for _, w := range all {
		one := v.row(w)
		one.Selected = at != "" && w.Path == at
		section.Rows = append(section.Rows, board.Row{Key: w.Path, Selected: one.Selected, HTML: draw.HTML("row", one)})
		if one.Selected {
			page.Detail = v.detail(ctx, draw, one)
		}
	}
	page.Sections = []board.Section{section}
	if at != "" && page.Detail == nil {
		return page, failure.New(failure.NotFound, "There is no worktree at "+at, "It may have been removed. Choose one from the list.")
	}
	return page, draw.Err
}

// summary counts the worktrees, and those that can be removed.
func summary(all []worktrees.Worktree) string {
	free := 0
	for _, w := range all {
		if w.SafeToRemove {
			free++
		}
	}
	switch free {
	case 0:
		return ""
	case 1:
		return "1 can be removed"
	}
	return strconv.Itoa(free) + " can be removed"
}

// outputTail is the number of output lines of a running task in the panel.
const outputTail = 24

// run is a task that runs in a worktree, with the end of its output.
type run struct {
	running.Task
	Output string
}

func (v *View) detail(ctx context.Context, draw *markup.Renderer, one row) *board.Detail {
	d := &board.Detail{Title: one.Name, Mono: true, Sub: draw.HTML("sub", one), Close: "worktrees"}
	add := func(key, name string, data any) {
		d.Blocks = append(d.Blocks, board.Row{Key: key, HTML: draw.HTML(name, data)})
	}
	add("agents", "agents", one)
	if v.o.Runs != nil {
		for _, task := range v.o.Runs.Running() {
			if task.Root != one.Path {
				continue
			}
			shown := run{Task: task}
			if report, err := v.o.Runs.Report(ctx, task.ID, 0); err == nil {
				shown.Output = tail(report.Output, outputTail)
			}
			add("run "+task.ID, "run", shown)
		}
	}
	add("files", "files", struct {
		row
		Shown []file
		More  int
	}{one, changes(one.Files), max(one.Dirty, len(one.Files)) - min(len(one.Files), maxFiles)})
	add("branch", "branch", one)
	add("remove", "remove", one)
	return d
}

// file is a file that is not committed.
type file struct{ Path, What string }

// maxFiles is how many files the panel names.
const maxFiles = 50

func changes(edits []git.Edit) []file {
	var all []file
	for _, e := range edits[:min(len(edits), maxFiles)] {
		what := "changed"
		switch {
		case e.Untracked:
			what = "untracked"
		case e.Mode == "":
			what = "deleted"
		}
		all = append(all, file{e.Path, what})
	}
	return all
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	text = strings.TrimRight(text, "\n")
	at := len(text)
	for range lines {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}
