// Package health is the view of a board that shows the health of copse: the doctor's findings, the
// servers with their ports, and the log.
package health

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/workflow/doctor"
)

//go:embed health.tmpl
var files embed.FS

// Server is a server and its state.
type Server struct {
	// Path is its worktree, "" for the server of all worktrees.
	Path, Branch string
	Port         int
	Clients      int
	Tools        int
	Running      bool
	Problem      string
}

// Options configure the view.
type Options struct {
	// Examine runs the doctor's checks.
	Examine func(context.Context) []doctor.Finding
	Servers func() []Server
	// Log is the path of the log, "" for none.
	Log string
	Now func() time.Time
}

// examined is the maximum age of the doctor's findings. Some of the checks start programs.
const examined = 30 * time.Second

// View is the view. Create it with [New].
type View struct {
	o         Options
	kit       *markup.Kit
	templates *template.Template

	mu    sync.Mutex
	found []doctor.Finding
	at    time.Time
}

var (
	_ board.View    = (*View)(nil)
	_ board.Counter = (*View)(nil)
)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "health.tmpl")}
}

// Name returns the view's part of the address.
func (*View) Name() string { return "health" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Health" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source { return []board.Source{board.Servers, board.Agents} }

// Count returns a figure if a check is known to fail: the checks take too long to run for each
// page.
func (v *View) Count(context.Context) board.Badge {
	v.mu.Lock()
	defer v.mu.Unlock()
	failed := 0
	for _, f := range v.found {
		if f.Verdict == doctor.Failed {
			failed++
		}
	}
	for _, s := range v.o.Servers() {
		if !s.Running {
			failed++
		}
	}
	switch {
	case failed > 0:
		return board.Badge{Text: fmt.Sprint(failed), Tone: markup.Red}
	case v.found == nil:
		return board.Badge{}
	}
	return board.Badge{Text: "ok"}
}

// findings returns the doctor's findings, which are cached for a while.
func (v *View) findings(ctx context.Context) ([]doctor.Finding, time.Time) {
	v.mu.Lock()
	found, at := v.found, v.at
	v.mu.Unlock()
	if found != nil && v.o.Now().Sub(at) < examined {
		return found, at
	}
	found, at = v.o.Examine(ctx), v.o.Now()
	if ctx.Err() == nil {
		v.mu.Lock()
		v.found, v.at = found, at
		v.mu.Unlock()
	}
	return found, at
}

// Render returns the page.
func (v *View) Render(ctx context.Context, _ board.Request) (board.Page, error) {
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	found, at := v.findings(ctx)
	page := board.Page{Title: "Health"}
	checks := board.Section{Key: "checks", Class: "health", Label: "Checks"}
	failed := 0
	for _, f := range found {
		if f.Verdict == doctor.Failed {
			failed++
		}
		checks.Rows = append(checks.Rows, board.Row{Key: f.Check, HTML: draw.HTML("finding", f)})
	}
	checks.Head = draw.HTML("checks", struct {
		Failed int
		At     time.Time
	}{failed, at})
	servers := board.Section{Key: "servers", Class: "health", Label: "Servers"}
	list := v.o.Servers()
	for _, s := range list {
		servers.Rows = append(servers.Rows, board.Row{Key: s.Path, HTML: draw.HTML("server", s)})
	}
	servers.Head = draw.HTML("servers", len(list))
	log := board.Section{Key: "log", Label: "Log", Head: draw.HTML("log", struct {
		Path  string
		Lines []string
	}{v.o.Log, v.log()})}
	page.Sections = []board.Section{checks, servers, log}
	return page, draw.Err
}

const (
	maxLog   = 16 << 20 // a log of that size is read in full
	logLines = 40
)

// log returns the last lines of the log.
func (v *View) log() []string {
	if v.o.Log == "" {
		return nil
	}
	data, err := regular.Read(v.o.Log, maxLog)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(cleantext.Block(string(data)), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	return lines[max(0, len(lines)-logLines):]
}
