// Package board is the local page of a repository: branches, worktrees, agents, items, and tasks,
// updated live.
//
// A [Board] has views. A [View] turns results of the workflow layer into a [Page]: sections
// with rows, and a panel with details. The board renders the rest, keeps open pages up to
// date, and sends them only the parts that changed. [Site] serves the boards of several
// worktrees to browsers that followed a link from "copse board", and to nobody else.
//
// Adding a view means one package that implements [View], and one line of wiring. Optional
// interfaces add to it: [Counter] a figure in the navigation, [Actor] changes, and [Asker]
// answers to forms that change nothing.
//
// Pages are complete without scripts: each one has an address of its own, and each change is
// a form.
package board

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/url"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/parts"
	"github.com/copse-dev/copse/internal/failure"
)

// Source is a part of copse's data that can change.
type Source string

// The sources.
const (
	Repository Source = "repository" // refs, HEAD, worktrees, uncommitted files
	Remote     Source = "remote"     // answers of GitHub and Jira
	Items      Source = "items"
	Agents     Source = "agents" // clients and their calls
	Tasks      Source = "tasks"
	Prompts    Source = "prompts"
	Servers    Source = "servers"
	Conflicts  Source = "conflicts" // a report of conflicts
)

// View is one of the pages of a board. It must be safe for concurrent use.
type View interface {
	// Name is its part of the address: "stacks".
	Name() string
	// Title is its name in the navigation; a view without one is not listed there.
	Title() string
	// Watches are the sources whose changes can change the page.
	Watches() []Source
	// Render returns the page. The board shows an error instead of the page.
	Render(ctx context.Context, r Request) (Page, error)
}

// Counter is a view with a figure beside its name in the navigation.
type Counter interface {
	Count(ctx context.Context) Badge
}

// Badge is a figure or a word, and its meaning.
type Badge struct {
	Text string
	Tone markup.Tone
}

// Actor is a view with changes. A board or session that is read-only never calls it.
type Actor interface {
	// Act makes a change that a form requests. If it returns an error, it changes nothing, and the
	// board shows the error.
	Act(ctx context.Context, r Request, action string, form url.Values) (Outcome, error)
}

// Asker is a view that answers a form without a change. What the form says stays out of the
// address, the history and the log. A read-only board answers, too.
type Asker interface {
	// Ask makes the page that answers the form. Nobody keeps that page up to date.
	Ask(ctx context.Context, r Request, form url.Values) (Page, error)
}

// Outcome describes a change.
type Outcome struct {
	// To is the address of the page to show next, relative to the board.
	To string
	// Notice describes the change. It can contain a form that undoes it.
	Notice template.HTML
}

// Request is a browser's request to a view.
type Request struct {
	// Path is the part after the view's name: "12" in "items/12".
	Path  string
	Query url.Values
	// ReadOnly means that the page must offer no changes.
	ReadOnly bool
}

// Page is the content of a view.
type Page struct {
	Title string
	// Aside appears next to the title.
	Aside string
	// Tools are filters and buttons above the sections.
	Tools template.HTML
	// Class selects the layout: "" for rows below each other, "columns" for a board.
	Class    string
	Sections []Section
	// Over is drawn over the sections. Screen readers do not read it.
	Over template.HTML
	// Detail is the panel on the right; nil for none.
	Detail *Detail
}

// Section is a group of rows, in a card.
type Section struct {
	// Key identifies the section on its page.
	Key   string
	Class string
	// Label names the section for screen readers.
	Label      string
	Head, Foot template.HTML
	Rows       []Row
}

// Row is a row of a section.
type Row struct {
	// Key identifies the row in its section.
	Key   string
	Class string
	// Selected means that the panel is about this row.
	Selected bool
	// Graph is a drawing at the beginning of the row. It changes with the rows around it, so it
	// is updated by itself.
	Graph template.HTML
	HTML  template.HTML
}

// Detail is the panel with everything about one row. Its blocks update one by one.
type Detail struct {
	// Title is the heading: in monospace if Mono is set, as for a branch or a path.
	Title string
	Mono  bool
	Sub   template.HTML
	// Close is the address of the page without the panel, relative to the board.
	Close  string
	Blocks []Row
}

// Summary is the top line of a board.
type Summary struct {
	// Name is the name of the project, Line the text next to it.
	Name, Line string
	// Fresh is the age of the services' answers.
	Fresh template.HTML
}

// Options configure a board.
type Options struct {
	Views   []View
	Summary func(context.Context) Summary
	// Watch calls changed for each source that may have changed, until ctx ends, and ready when it
	// misses no later change. It runs while a page is open.
	Watch func(ctx context.Context, ready func(), changed func(Source))
	// Moved, if set, returns an error once the worktree's directory is another one. Nothing that was
	// made since then is shown.
	Moved func() error
	// ReadOnly disables changes for everybody.
	ReadOnly bool
	Words    failure.Words
	Now      func() time.Time
	Logger   *slog.Logger
	// Close releases the resources of the views.
	Close func()
}

// Board is the page of one worktree. Close it after use.
type Board struct {
	o     Options
	kit   *markup.Kit
	shell *shell
	live  *hub

	mu     sync.Mutex
	counts map[string]Badge // the last figures, by view
}

// New returns a board. kit provides the template functions; its placeholder represents tokens.
func New(kit *markup.Kit, o Options) *Board {
	b := &Board{o: o, kit: kit, shell: newShell(kit), counts: make(map[string]Badge)}
	b.live = newHub(b)
	return b
}

// Close ends the streams of all pages.
func (b *Board) Close() {
	b.live.close()
	if b.o.Close != nil {
		b.o.Close()
	}
}

// view returns the view with a name, nil if there is none.
func (b *Board) view(name string) View {
	at := slices.IndexFunc(b.o.Views, func(v View) bool { return v.Name() == name })
	if at < 0 {
		return nil
	}
	return b.o.Views[at]
}

// How long a page waits for the figures in the navigation, from the beginning. What a person
// waits for is shown without those that take longer; they come with an update.
const (
	firstCount = 20 * time.Millisecond
	liveCount  = 5 * time.Second
)

// figures are the figures of the navigation on their way.
type figures struct {
	board *Board
	done  chan struct{}
	limit *time.Timer
}

// count begins to count for all views but one, which can be nil.
func (b *Board) count(ctx context.Context, but View, limit time.Duration) figures {
	f := figures{board: b, done: make(chan struct{}), limit: time.NewTimer(limit)}
	ctx = context.WithoutCancel(ctx) // a figure that is late serves the next page
	go func() {
		defer close(f.done)
		var all sync.WaitGroup
		for _, v := range b.o.Views {
			if v != but {
				all.Go(func() { b.countOne(ctx, v) })
			}
		}
		all.Wait()
	}()
	return f
}

// countOne notes the figure of a view.
func (b *Board) countOne(ctx context.Context, v View) {
	c, ok := v.(Counter)
	if !ok {
		return
	}
	badge := c.Count(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[v.Name()] = badge
}

// get returns the figures, the last known where one is not ready in time.
func (f figures) get(ctx context.Context) map[string]Badge {
	defer f.limit.Stop()
	select {
	case <-f.done:
	case <-f.limit.C:
	case <-ctx.Done():
	}
	f.board.mu.Lock()
	defer f.board.mu.Unlock()
	return maps.Clone(f.board.counts)
}

// show makes the page of a view: what it renders, or what it answers to a form.
type show func(ctx context.Context, r Request) (Page, error)

// render makes the parts of a page. They hold for all sessions that may change as much.
func (b *Board) render(ctx context.Context, v View, r Request) (parts.Screen, error) {
	counting := b.count(ctx, v, liveCount)
	page, err := b.content(ctx, v, v.Render, r)
	if err != nil {
		return parts.Screen{}, err
	}
	b.countOne(ctx, v) // rendering a view is how it learns its figure
	frame, err := b.frame(ctx, v, counting)
	if err != nil {
		return parts.Screen{}, err
	}
	return b.shell.screen(v, page, frame)
}

// begin returns the frame of a page whose content is still being made. Its figures are those of
// now; what the view learns while it renders comes with an update.
func (b *Board) begin(ctx context.Context, v View) (frame, error) {
	but := v
	b.mu.Lock()
	if _, known := b.counts[v.Name()]; known {
		but = nil // it is cheap once the view has been rendered
	}
	b.mu.Unlock()
	return b.frame(ctx, v, b.count(ctx, but, firstCount))
}

// frame returns what is around the content of a page.
func (b *Board) frame(ctx context.Context, v View, counting figures) (frame, error) {
	var summary Summary
	if b.o.Summary != nil {
		summary = b.o.Summary(ctx)
	}
	all := b.navigation(counting.get(ctx), v)
	if err := b.moved(); err != nil {
		return frame{}, err
	}
	return b.shell.frame(v, summary, all)
}

func (b *Board) moved() error {
	if b.o.Moved == nil {
		return nil
	}
	return b.o.Moved()
}

// content makes the content of a page, or the page that reports why there is none. The error is
// that of a context that has ended, or a bug.
func (b *Board) content(ctx context.Context, v View, show show, r Request) (page Page, err error) {
	// A bug in one view must not stop the server or its other pages.
	defer func() {
		if p := recover(); p != nil {
			b.o.Logger.Error("the board failed", "view", v.Name(), "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("render %s: %v", v.Name(), p)
		}
	}()
	r.ReadOnly = r.ReadOnly || b.o.ReadOnly
	page, err = show(ctx, r)
	if ctx.Err() != nil {
		return Page{}, ctx.Err()
	}
	if moved := b.moved(); moved != nil {
		err = moved
	}
	if err != nil {
		return b.problem(v, err), nil
	}
	return page, nil
}

// problem returns the page that replaces one that could not be rendered.
func (b *Board) problem(v View, err error) Page {
	e := failure.Of(err)
	html, err := b.kit.Render(b.shell.templates, "problem", struct{ What, Do string }{e.Message(b.o.Words), e.Hint(b.o.Words)})
	if err != nil {
		b.o.Logger.Error("the board cannot show an error", "error", err)
	}
	return Page{Title: cmp.Or(v.Title(), "Not found"), Sections: []Section{{Key: "problem", Class: "problem", Label: "What went wrong", Head: html}}}
}

// navigation returns the entries of the navigation.
func (b *Board) navigation(counts map[string]Badge, at View) []navigation {
	var all []navigation
	for _, v := range b.o.Views {
		all = append(all, navigation{Name: v.Name(), Title: v.Title(), Badge: counts[v.Name()], Current: v == at})
	}
	return all
}
