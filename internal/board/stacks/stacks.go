// Package stacks is the view of a board that shows branches as stacks: what each one waits for, who
// works on it, the first blocker of each stack, and conflicts between branches.
package stacks

import (
	"cmp"
	"context"
	"embed"
	"html/template"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

//go:embed stacks.tmpl
var files embed.FS

// Options configure the view.
type Options struct {
	// All returns the stacks of the repository from local data.
	All func(ctx context.Context, q gather.Selection) (gather.Overview, error)
	// Conflicts returns the last report of conflicts, false if there is none yet. It can be nil.
	Conflicts func(ctx context.Context) (conflicts.Report, bool)
	// Pull returns all that GitHub said last of one pull request, which the panel shows; false
	// if that is not known yet. It can be nil.
	Pull func(ctx context.Context, number int) (pullrequest.Status, bool)
	// Clients returns the clients that work in worktrees.
	Clients func(ctx context.Context) []presence.Client
	Now     func() time.Time
}

// perPage is the number of branches on a page.
const perPage = 30

// View is the view. Create it with [New].
type View struct {
	o         Options
	kit       *markup.Kit
	templates *template.Template

	mu      sync.Mutex
	blocked int // stacks, when the first page was last rendered
	looked  bool
}

var (
	_ board.View    = (*View)(nil)
	_ board.Counter = (*View)(nil)
)

// New returns the view.
func New(kit *markup.Kit, o Options) *View {
	return &View{o: o, kit: kit, templates: kit.Parse(files, "stacks.tmpl")}
}

// Section renders a stack for a caller that shows it without the rest of the page. Its links are
// relative to the board.
func (v *View) Section(s verdict.Status) (board.Section, error) {
	if len(s.Branches) == 0 {
		return board.Section{Key: "empty", Label: "Nothing is stacked yet"}, nil
	}
	d := drawing{Renderer: markup.Renderer{Kit: v.kit, Templates: v.templates}, now: v.o.Now(), github: s.GitHub}
	section := d.stack(s)
	return section, d.Err
}

// Name returns the view's part of the address.
func (*View) Name() string { return "stacks" }

// Title returns the view's name in the navigation.
func (*View) Title() string { return "Stacks" }

// Watches returns the sources of the page.
func (*View) Watches() []board.Source {
	return []board.Source{board.Repository, board.Remote, board.Items, board.Agents, board.Conflicts}
}

// Count returns the number of blocked stacks.
func (v *View) Count(ctx context.Context) board.Badge {
	v.mu.Lock()
	looked := v.looked
	v.mu.Unlock()
	if !looked {
		if all, err := v.o.All(ctx, gather.Selection{Limit: perPage}); err == nil {
			v.note(all)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.blocked == 0 {
		return board.Badge{}
	}
	return board.Badge{Text: strconv.Itoa(v.blocked), Tone: markup.Red}
}

// note stores the figure for the navigation.
func (v *View) note(all gather.Overview) {
	blocked := 0
	for _, s := range all.Stacks {
		if s.Verdict == verdict.Blocked {
			blocked++
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.blocked, v.looked = blocked, true
}

// Render returns the page.
func (v *View) Render(ctx context.Context, r board.Request) (board.Page, error) {
	selected := r.Query.Get("branch")
	from, err := strconv.Atoi(cmp.Or(r.Query.Get("from"), "0"))
	if err != nil || from < 0 {
		return board.Page{}, failure.New(failure.Invalid, "The address has no number after from=", "Open the first page of the stacks.")
	}
	reported := v.radar(ctx)
	// What is selected stays where it is, unless it is on another page.
	all, err := v.o.All(ctx, gather.Selection{From: from, Limit: perPage})
	if err == nil && selected != "" && !contains(all, selected) {
		from = 0
		all, err = v.o.All(ctx, gather.Selection{Branch: selected, Limit: perPage})
	}
	if err != nil {
		return board.Page{}, err
	}
	if from == 0 {
		v.note(all)
	}
	d := drawing{
		Renderer: markup.Renderer{Kit: v.kit, Templates: v.templates},
		selected: selected, now: v.o.Now(), agents: v.agents(ctx), github: all.GitHub, trunks: all.Trunks, from: from,
	}
	report := <-reported
	d.collide(report)
	page := board.Page{Title: "Stacks"}
	if all.Branches == 0 {
		page.Sections = []board.Section{{Key: "empty", Label: "Nothing is stacked yet", Head: d.HTML("none", nil)}}
		return page, d.Err
	}
	page.Tools = d.HTML("columns", nil)
	for _, s := range all.Stacks {
		page.Sections = append(page.Sections, d.stack(s))
	}
	if len(all.Loose) > 0 {
		page.Sections = append(page.Sections, d.loose(all))
	}
	page.Over = wires(page.Sections, report)
	if len(report.Conflicts) > 0 {
		page.Sections = append(page.Sections, d.conflicts(report))
	}
	if all.Next > 0 || from > 0 {
		page.Sections = append(page.Sections, board.Section{Key: "more", Class: "plain", Label: "More stacks", Head: d.HTML("more", struct{ From, Next, Shown, Total int }{from, all.Next, cmp.Or(all.Next, all.Total) - from, all.Total})})
	}
	if len(all.Notes) > 0 {
		page.Sections = append(page.Sections, board.Section{Key: "notes", Label: "Notes", Head: d.HTML("notes", all.Notes)})
	}
	if selected != "" {
		if page.Detail = d.detail(ctx, all, v.o.Pull); page.Detail == nil {
			return page, failure.New(failure.NotFound, "There is no branch "+selected+" in a stack", "It may have been renamed or deleted. Choose one from the list.")
		}
	}
	return page, d.Err
}

// radar asks for the last report of the radar, while the page is made.
func (v *View) radar(ctx context.Context) <-chan conflicts.Report {
	out := make(chan conflicts.Report, 1)
	go func() {
		var report conflicts.Report
		if v.o.Conflicts != nil {
			report, _ = v.o.Conflicts(ctx)
		}
		out <- report
	}()
	return out
}

// contains reports whether a branch is among the stacks.
func contains(all gather.Overview, branch string) bool {
	is := func(b verdict.Branch) bool { return b.Branch == branch }
	return slices.ContainsFunc(all.Loose, is) || slices.ContainsFunc(all.Stacks, func(s verdict.Status) bool { return slices.ContainsFunc(s.Branches, is) })
}

// agents returns the clients by worktree.
func (v *View) agents(ctx context.Context) map[string][]presence.Client {
	by := map[string][]presence.Client{}
	if v.o.Clients != nil {
		for _, c := range v.o.Clients(ctx) {
			by[c.Worktree] = append(by[c.Worktree], c)
		}
	}
	return by
}

// issueKey is a Jira key at the beginning of a name.
var issueKey = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]+-[0-9]+[-_]?`)

// titleOf names a stack after its lowest branch, without directories and issue.
func titleOf(branch string) string {
	last := path.Base(branch)
	if short := issueKey.Get().ReplaceAllString(last, ""); short != "" {
		last = short
	}
	last = strings.NewReplacer("-", " ", "_", " ").Replace(last)
	first, size := utf8.DecodeRuneInString(last)
	return string(unicode.ToUpper(first)) + last[size:]
}

// jiraOf returns the issues of branches, each once.
func jiraOf(branches []verdict.Branch) string {
	var found distinct.List[string]
	for _, b := range branches {
		if b.Jira != nil {
			found.Add(b.Jira.Key)
		}
	}
	keys := found.Values()
	if len(keys) > 3 {
		keys = append(keys[:3], "…")
	}
	return strings.Join(keys, ", ")
}
