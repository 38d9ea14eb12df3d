package stacks

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
	"github.com/copse-dev/copse/internal/workflow/verdict/nextstep"
)

// drawing renders the sections of one page.
type drawing struct {
	markup.Renderer
	selected string
	now      time.Time
	agents   map[string][]presence.Client
	github   verdict.GitHub
	trunks   map[string]gather.Trunk
	collides map[string][]string // branches that conflict, by branch
	report   conflicts.Report
	from     int // the first stack of the page
}

// collide records which branches conflict.
func (d *drawing) collide(r conflicts.Report) {
	d.report, d.collides = r, map[string][]string{}
	for _, c := range r.Conflicts {
		if len(c.Branches) == 2 {
			a, b := c.Branches[0], c.Branches[1]
			d.collides[a] = append(d.collides[a], b)
			d.collides[b] = append(d.collides[b], a)
		}
	}
}

// row is the content of a row.
type row struct {
	verdict.Branch
	Link     string
	Title    string // of the pull request
	Restack  bool
	Conflict []string
	Pull     field
	Review   field
	Checks   checks
	Agents   []agent
}

// field is a word with a tone, and a reason.
type field struct {
	Text string
	Tone markup.Tone
	Why  string
	URL  string
}

// checks are the checks of a pull request.
type checks struct {
	All     []check
	Summary string
	More    int
}

type check struct {
	Name, State string
	Tone        markup.Tone
	URL         string
}

type agent struct {
	Name   string
	At     time.Time
	Silent bool
}

// silent is the time without a call after which the page marks an agent.
const silent = 5 * time.Minute

// maxMarks is the number of checks that a row draws.
const maxMarks = 12

// stack renders the section of a stack: the branches from the top down, and the trunk.
func (d *drawing) stack(s verdict.Status) board.Section {
	bottom := s.Branches[0].Branch
	// The title replaces characters of the name, so nothing recognizes a secret in it.
	title := titleOf(d.Kit.Redacted(bottom))
	class := "stack"
	if tone := toneFor(s.Verdict); tone != markup.Plain {
		class += " is-" + string(tone)
	}
	blocking := s.Blocking()
	out := board.Section{
		Key: "stack " + bottom, Class: class, Label: "Stack " + title,
		Head: d.HTML("stack", struct {
			Title, Source, Jira string
			Count               int
		}{title, sources(s.Branches), jiraOf(s.Branches), len(s.Branches)}),
		Foot: d.HTML("verdict", struct {
			verdict.Status
			Link string
		}{s, d.link(blocking)}),
	}
	g := layout(s)
	for i, b := range slices.Backward(s.Branches) {
		outcome, _ := s.Of(b)
		tone, filled := toneOf(outcome), false
		if b.Branch == blocking && s.Verdict != verdict.Unknown {
			tone, filled = toneFor(s.Verdict), true
		}
		out.Rows = append(out.Rows, board.Row{Key: b.Branch, Selected: b.Branch == d.selected, Graph: g.draw(i, tone, filled, b.Current), HTML: d.HTML("row", d.row(b))})
	}
	trunk := d.trunk(s.Trunk)
	out.Rows = append(out.Rows, board.Row{Key: "the trunk", Class: trunkRow, Graph: g.trunk(trunk.tone(), trunk.Current), HTML: d.HTML("trunk", trunk)})
	return out
}

// trunkRow is the class of the row of a trunk.
const trunkRow = "trunk"

// toneFor returns the color of an outcome. An unknown one has none.
func toneFor(o verdict.Outcome) markup.Tone {
	switch o {
	case verdict.Blocked:
		return markup.Red
	case verdict.Waiting:
		return markup.Amber
	case verdict.Ready:
		return markup.Green
	}
	return markup.Plain
}

// toneOf returns the color of a branch that does not block its stack.
func toneOf(o verdict.Outcome) markup.Tone {
	switch o {
	case verdict.Blocked, verdict.Waiting:
		return markup.Amber
	case verdict.Ready:
		return markup.Green
	}
	return markup.Plain
}

// sources names the tools that recorded the parents.
func sources(branches []verdict.Branch) string {
	var names distinct.List[string]
	for _, b := range branches {
		if b.Source != "" {
			names.Add(b.Source)
		}
	}
	return strings.Join(names.Values(), ", ")
}

// loose renders the section of the branches without a parent.
func (d *drawing) loose(all gather.Overview) board.Section {
	out := board.Section{Key: "loose", Class: "stack", Label: "Branches without a parent", Head: d.HTML("loose", len(all.Loose))}
	for _, b := range all.Loose {
		out.Rows = append(out.Rows, board.Row{Key: b.Branch, Selected: b.Branch == d.selected, Graph: dot(markup.Plain, false, b.Current), HTML: d.HTML("row", d.row(b))})
	}
	return out
}

// conflicts renders the section of conflicts.
func (d *drawing) conflicts(r conflicts.Report) board.Section {
	out := board.Section{Key: "conflicts", Class: "conflicts", Label: "Conflicts ahead", Head: d.HTML("conflicts", len(r.Conflicts))}
	for i, c := range r.Conflicts {
		if i == 20 || len(c.Branches) != 2 {
			break
		}
		uncommitted := map[string]int{}
		for _, h := range c.Holders {
			uncommitted[h.Branch] = h.Uncommitted
		}
		out.Rows = append(out.Rows, board.Row{Key: c.Branches[0] + " " + c.Branches[1], HTML: d.HTML("conflict", struct {
			A, B                       string
			LinkA, LinkB               string
			UncommittedA, UncommittedB int
			Files                      []string
			Count                      int
		}{c.Name(c.Branches[0]), c.Name(c.Branches[1]), d.link(c.Branches[0]), d.link(c.Branches[1]), uncommitted[c.Branches[0]], uncommitted[c.Branches[1]], c.Files, len(c.Files) + c.MoreFiles})})
	}
	return out
}

func (d *drawing) row(b verdict.Branch) row {
	r := row{Branch: b, Link: d.link(b.Branch), Restack: b.NeedsRestack != nil && *b.NeedsRestack, Conflict: d.collides[b.Branch]}
	if f := b.PullRequest.Found; f != nil {
		r.Title = f.PullRequest.Title
	}
	r.Pull, r.Review, r.Checks = d.pull(b.PullRequest), d.review(b.PullRequest), checksOf(b.PullRequest)
	r.Agents = d.agentsOf(b)
	return r
}

// agentsOf returns the agents in the worktree of a branch.
func (d *drawing) agentsOf(b verdict.Branch) []agent {
	if b.Worktree == nil {
		return nil
	}
	var out []agent
	for _, c := range d.agents[b.Worktree.Path] {
		out = append(out, agent{c.Name, c.At, d.now.Sub(c.At) > silent})
	}
	return out
}

// trunk is the content of the row of a trunk.
type trunk struct {
	gather.Trunk
	Name   string
	Agents []agent
}

func (d *drawing) trunk(name string) trunk {
	known := d.trunks[name]
	return trunk{Trunk: known, Name: name, Agents: d.agentsOf(known.Branch)}
}

// tone returns amber for a trunk that differs from its remote branch.
func (t trunk) tone() markup.Tone {
	if t.Remote != "" && (t.Unpulled > 0 || *t.Unpushed > 0) {
		return markup.Amber
	}
	return markup.Green
}

// pull describes the state of a pull request.
func (d *drawing) pull(pr verdict.PullRequest) field {
	f := field{}
	number := ""
	if pr.Number > 0 {
		number = fmt.Sprintf("#%d ", pr.Number)
	}
	if pr.Found != nil {
		f.URL = pr.Found.PullRequest.URL
	}
	switch pr.State {
	case verdict.PullNone:
		return field{Text: "no PR"}
	case verdict.PullAbsent:
		return field{Why: d.github.Reason}
	case verdict.PullUnknown, verdict.PullFailed:
		f.Text, f.Why = number+"unknown", cmp.Or(pr.Reason, d.github.Reason, "copse has not asked GitHub yet")
	case string(pullrequest.Open):
		f.Text, f.Tone = number+"open", markup.Blue
		switch {
		case pr.MergeQueue != nil:
			f.Text, f.Tone = number+"queued", markup.Green
		case pr.Draft:
			f.Text = number + "draft"
		}
	default:
		f.Text = number + pr.State
	}
	return f
}

// review describes the state of the review.
func (d *drawing) review(pr verdict.PullRequest) field {
	if pr.State != string(pullrequest.Open) {
		return field{}
	}
	switch pr.ReviewDecision {
	case pullrequest.ChangesRequested:
		return field{Text: "changes requested", Tone: markup.Red}
	case pullrequest.Approved:
		return field{Text: "approved", Tone: markup.Green}
	}
	if pr.Found != nil && len(pr.Found.PullRequest.RequestedReviewers) > 0 {
		names := pr.Found.PullRequest.RequestedReviewers
		text := "waiting for " + names[0]
		if len(names) > 1 {
			text += fmt.Sprintf(" +%d", len(names)-1)
		}
		return field{Text: text, Tone: markup.Amber, Why: strings.Join(names, ", ")}
	}
	if pr.ReviewDecision == pullrequest.ReviewRequired {
		return field{Text: "waits for review", Tone: markup.Amber}
	}
	return field{Text: "no review yet"}
}

// checksOf returns the checks of a pull request, the failing ones first.
func checksOf(pr verdict.PullRequest) checks {
	if pr.Found == nil || pr.State != string(pullrequest.Open) {
		return checks{}
	}
	var out checks
	count := map[string]int{}
	for _, c := range pr.Found.Checks {
		one := check{Name: c.Name, State: "unknown", URL: c.URL}
		switch {
		case c.Failing():
			one.State, one.Tone = "failed", markup.Red
		case c.Passed():
			one.State, one.Tone = "passed", markup.Green
		case c.Status != "completed":
			one.State, one.Tone = "running", markup.Amber
		}
		count[one.State]++
		if len(out.All) == maxMarks {
			out.More++
			continue
		}
		out.All = append(out.All, one)
	}
	var parts []string
	for _, state := range []string{"failed", "running", "unknown", "passed"} {
		if n := count[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if n := pr.Found.Summary.UnreadChecks; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not read, all together %s", n, pr.Checks))
		out.More += n
	}
	out.Summary = strings.Join(parts, ", ")
	return out
}

// detail returns the panel of the selected branch, nil if it is not on the page.
func (d *drawing) detail(ctx context.Context, all gather.Overview, pull func(context.Context, int) (pullrequest.Status, bool)) *board.Detail {
	for _, b := range all.Loose {
		if b.Branch == d.selected {
			return d.panel(ctx, verdict.Status{Branches: []verdict.Branch{b}}, b, pull)
		}
	}
	for _, s := range all.Stacks {
		for _, b := range s.Branches {
			if b.Branch == d.selected {
				return d.panel(ctx, s, b, pull)
			}
		}
	}
	return nil
}

// full completes what the answer about all branches says of a pull request: it only counts
// the threads, and names the checks.
func full(ctx context.Context, pr verdict.PullRequest, pull func(context.Context, int) (pullrequest.Status, bool)) verdict.PullRequest {
	if pr.Found == nil || pull == nil || pr.State != string(pullrequest.Open) {
		return pr
	}
	if found, ok := pull(ctx, pr.Number); ok {
		both := *pr.Found
		both.Checks, both.UnresolvedThreads = found.Checks, found.UnresolvedThreads
		pr.Found = &both
	}
	return pr
}

// threads are the unresolved threads of a pull request.
type threads struct {
	Count int
	Known []pullrequest.Thread
}

// maxThreads is how many threads the panel shows.
const maxThreads = 10

func threadsOf(pr verdict.PullRequest) threads {
	t := threads{Count: len(pr.Found.UnresolvedThreads)}
	for _, one := range pr.Found.UnresolvedThreads {
		if one.Text != "" && len(t.Known) < maxThreads {
			t.Known = append(t.Known, one)
		}
	}
	return t
}

func (d *drawing) panel(ctx context.Context, s verdict.Status, b verdict.Branch, pull func(context.Context, int) (pullrequest.Status, bool)) *board.Detail {
	b.PullRequest = full(ctx, b.PullRequest, pull)
	r := d.row(b)
	out := &board.Detail{Title: b.Branch, Mono: true, Sub: d.HTML("sub", r), Close: d.address("")}
	add := func(key string, data any) {
		if html := d.HTML("detail-"+key, data); strings.TrimSpace(string(html)) != "" {
			out.Blocks = append(out.Blocks, board.Row{Key: key, HTML: html})
		}
	}
	outcome, why := s.Of(b)
	first, next := "", ""
	if s.Blocking() == b.Branch {
		first, next = s.First, s.Next
	}
	add("verdict", struct {
		Outcome verdict.Outcome
		Tone    markup.Tone
		Why     string
	}{outcome, toneFor(outcome), why})
	if b.PullRequest.Found != nil {
		add("threads", threadsOf(b.PullRequest))
	}
	add("checks", r.Checks)
	add("conflicts", d.conflictsOf(b.Branch))
	add("branch", struct {
		row
		Stack verdict.Status
		AsOf  time.Time
	}{r, s, cmpTime(b.PullRequest.AsOf, d.github.AsOf)})
	add("next", struct{ First, Next, Switch, URL string }{first, next, checkout(b, s.Trunk, next), r.Pull.URL})
	return out
}

// checkout returns the command that begins work on a branch, "" if the page is about its worktree,
// if git does not have the branch, or if that command is the next step.
func checkout(b verdict.Branch, trunk, next string) string {
	if b.Missing || b.Worktree != nil && b.Worktree.Current {
		return ""
	}
	if command := b.Next(nextstep.Work, trunk); command != next {
		return command
	}
	return ""
}

// meeting is a conflict as the panel of one of its branches shows it.
type meeting struct {
	With, Link string
	Files      []string
	More       int
}

// maxFiles is how many files of a conflict the panel shows.
const maxFiles = 10

// conflictsOf returns what a branch conflicts with.
func (d *drawing) conflictsOf(branch string) []meeting {
	var all []meeting
	for _, c := range d.report.Conflicts {
		with, ok := c.With(branch)
		if !ok {
			continue
		}
		files := c.Files[:min(len(c.Files), maxFiles)]
		all = append(all, meeting{With: with, Link: d.link(with), Files: files, More: c.MoreFiles + len(c.Files) - len(files)})
	}
	return all
}

// link returns the address of the page with a branch in the panel.
func (d *drawing) link(branch string) string { return d.address(branch) }

func (d *drawing) address(branch string) string {
	q := url.Values{}
	if branch != "" {
		q.Set("branch", branch)
	}
	if d.from > 0 {
		q.Set("from", strconv.Itoa(d.from))
	}
	if len(q) == 0 {
		return "stacks"
	}
	return "stacks?" + q.Encode()
}

func cmpTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}
