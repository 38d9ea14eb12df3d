// Package worktrees shows who works where: for each worktree of a repository its branch, its
// changes, the distance from its upstream, its position in the stack, its pull request and work
// item, the clients and tasks in it, and whether it can be removed.
//
// Use [New]. The package uses no network: pull requests come from the last answers of GitHub.
package worktrees

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Options are the sources. All but Branches and Radar can be nil.
type Options struct {
	Branches *stack.Branches
	Radar    Radar
	Services stack.Services
	Items    Items
	// Clients returns the clients of all servers of the user. With an error, there can be others.
	Clients func(ctx context.Context) ([]presence.Client, error)
	// Private reports whether a worktree can have work items that are nowhere else: git does not list them.
	Private func(ctx context.Context, root string) bool
	// Ignored returns the files of a worktree that git ignores, without copse's own: "git worktree remove"
	// deletes them without a question.
	Ignored func(ctx context.Context, root string) ([]string, error)
	// Tasks returns the running tasks of all worktrees.
	Tasks func() []running.Task
}

// Radar compares worktrees.
type Radar interface {
	Worktrees(ctx context.Context) (trunk string, held []conflicts.Held, err error)
}

// Items are the work items.
type Items interface {
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Worktree is a worktree with all known data.
type Worktree struct {
	stack.Worktree
	// Current means that the caller is in it.
	Current bool `json:"current,omitempty"`
	// Changed, Untracked and Conflicted count what differs from the last commit as "git status"
	// lists it, each entry once: an untracked directory is one.
	Changed    int `json:"changed,omitempty"`
	Untracked  int `json:"untracked,omitempty"`
	Conflicted int `json:"conflicted,omitempty"`
	// Files are those that are changed or untracked. Callers must not change them.
	Files []git.Edit `json:"-"`
	// Upstream is the branch that Ahead and Behind compare with.
	Upstream     string `json:"upstream,omitempty"`
	UpstreamGone bool   `json:"upstream_gone,omitempty"`
	Ahead        int    `json:"ahead,omitempty"`
	Behind       int    `json:"behind,omitempty"`
	// LastCommit is the time of the last commit.
	LastCommit time.Time `json:"last_commit,omitzero"`
	Parent     string    `json:"parent,omitempty"`
	// StackPosition is 1 for a branch on the trunk, 2 for one on that, and so on.
	StackPosition int          `json:"stack_position,omitempty"`
	PullRequest   *PullRequest `json:"pull_request,omitempty"`
	Item          *Item        `json:"item,omitempty"`
	// Claims are the items that agents in the worktree hold.
	Claims  []Claim  `json:"claims,omitempty"`
	Clients []Client `json:"clients,omitempty"`
	// unwatched says why other clients can work there.
	unwatched error
	// Tasks are the tasks that run there.
	Tasks []string `json:"tasks,omitempty"`
	// Unexamined means that others were used more recently, and that copse knows only the branch
	// and who works there.
	Unexamined bool `json:"-"`
	// Uncompared means that files could not be compared with the last commit.
	Uncompared bool `json:"-"`
	// Merged says how the trunk has the changes of the branch, if it has them in other commits.
	Merged string `json:"merged,omitempty"`
	// SafeToRemove means that removing the worktree loses nothing: it is merged and clean,
	// everything is pushed, no file in it is ignored, and nobody works there. Keep contains the reasons why it is not safe.
	SafeToRemove bool     `json:"safe_to_remove,omitempty"`
	Keep         []string `json:"keep,omitempty"`
	// Note says that the list lacks other worktrees.
	Note string `json:"note,omitempty"`
}

// unlisted is the note about a worktree whose .git leads to a directory that records no owner. That
// directory can be another person's, so its other worktrees are not shown there.
const unlisted = "git's directory does not name this worktree, so copse does not list the others of its repository here"

// PullRequest is the pull request of a branch, from GitHub's last answer. State and Checks are
// empty without one.
type PullRequest struct {
	Number int       `json:"number"`
	State  string    `json:"state,omitempty"`
	Checks string    `json:"checks,omitempty"`
	AsOf   time.Time `json:"as_of,omitzero"`
}

// Item is the work item of a branch.
type Item struct {
	ID    item.ID `json:"id"`
	Title string  `json:"title"`
}

// Claim is an item that an agent holds.
type Claim struct {
	ID      item.ID   `json:"id"`
	Title   string    `json:"title"`
	Agent   string    `json:"agent"`
	Expires time.Time `json:"expires"`
}

// Client is an MCP client that works in the worktree.
type Client struct {
	Name string `json:"name"`
	// Tool is what it called last, At when.
	Tool string    `json:"tool,omitempty"`
	At   time.Time `json:"at"`
}

// Worktrees lists the worktrees of one repository.
type Worktrees struct{ o Options }

// New returns the worktrees of the repository of o.Branches.
func New(o Options) *Worktrees { return &Worktrees{o} }

// List returns the worktrees that git has, the main one first, then those that only the
// state names.
func (w *Worktrees) List(ctx context.Context) ([]Worktree, error) {
	listed, err := w.o.Branches.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := w.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, err
	}
	ctx = remote.WithCachedOnly(ctx)
	trunk, held, err := w.o.Radar.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	contents := make(map[string]conflicts.Held, len(held))
	for _, h := range held {
		contents[h.Root] = h
	}
	all := make([]Worktree, len(listed))
	var branches []string
	for i, l := range listed {
		all[i] = Worktree{Worktree: l, Current: l.Path == repo.Root(), Unexamined: contents[l.Path].Unexamined}
		if !all[i].Unexamined {
			branches = append(branches, l.Branch)
		}
		if all[i].Current && !repo.Owned() {
			all[i].Note = unlisted
		}
	}
	tracking, err := repo.Tracking(ctx, branches)
	if err != nil {
		return nil, session.Explain(err)
	}
	addWork, addUsers := w.work(ctx), w.addUsers(ctx)
	for i := range all {
		one := &all[i]
		if one.Missing {
			continue
		}
		addUsers(one)
		if one.Unexamined {
			one.Keep = []string{"not examined: others were used more recently"}
			continue
		}
		w.stack(ctx, one)
		addWork(one)
		track, known := tracking[one.Branch]
		one.Upstream, one.UpstreamGone, one.Ahead, one.Behind = track.Upstream, track.Gone, track.Ahead, track.Behind
		if known {
			one.LastCommit = track.At.UTC()
		}
		content, known := contents[one.Path]
		if !known {
			one.Keep = []string{"it is the bare repository"}
			continue
		}
		one.Changed, one.Untracked, one.Conflicted = content.Changed, content.Untracked, content.Conflicted
		one.Files, one.Uncompared = content.Files, content.Unknown || content.Partial
		if content.Merged != history.AllCommits {
			one.Merged = content.Merged.In(trunk)
		}
		one.Keep = keep(*one, content, trunk, track, i == 0)
		if len(one.Keep) == 0 {
			one.Keep = w.unlistedFiles(ctx, one.Path)
		}
		one.SafeToRemove = len(one.Keep) == 0
	}
	return all, nil
}

// keep returns the reasons to keep a worktree, nil if there are none.
func keep(w Worktree, h conflicts.Held, trunk string, t git.Tracking, main bool) []string {
	var why []string
	add := func(is bool, format string, args ...any) {
		if is {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	add(main, "it is the main worktree")
	add(w.Locked, "it is locked")
	add(w.Unseen != nil, "it cannot be seen (%v)", w.Unseen)
	add(h.Head == "" && w.Unseen == nil, "it has no commit")
	add(h.Unknown && w.Unseen == nil, "its files could not be compared")
	add(h.Partial, "git cannot open some of its directories")
	n := h.Changed + h.Untracked + h.Conflicted
	add(n > 0, "%s", cleantext.Count(n, "uncommitted file"))
	// "git worktree remove" refuses, too.
	add(h.Submodules > 0, "%s, whose files are not compared", cleantext.Count(h.Submodules, "submodule"))
	add(h.Submodules == 0 && h.Modules, "git has repositories of submodules for it")
	if w.Operation != nil {
		add(true, "git is %s", w.Operation)
	}
	contained := h.Merged != history.NotContained
	merged := contained || w.PullRequest != nil && w.PullRequest.State == "merged"
	add(h.Head != "" && !merged, "not merged into %s", cmp.Or(trunk, "a trunk"))
	add(!contained && t.Ahead > 0, "%s", cleantext.Count(t.Ahead, "unpushed commit"))
	add(h.Head != "" && !merged && t.Upstream == "", "never pushed")
	for _, c := range w.Claims {
		add(true, "%s holds #%d", c.Agent, c.ID)
	}
	for _, c := range w.Clients {
		add(true, "%s works there", c.Name)
	}
	add(w.unwatched != nil, "who works there is unknown (%v)", w.unwatched)
	for _, task := range w.Tasks {
		add(true, "the task %s runs there", task)
	}
	return why
}

// maxNamed is the maximum number of ignored files that a reason names.
const maxNamed = 3

// unlistedFiles returns the reasons to keep a worktree that are in files that "git status" does not list.
func (w *Worktrees) unlistedFiles(ctx context.Context, root string) (why []string) {
	if w.o.Private != nil && w.o.Private(ctx, root) {
		why = append(why, "it has private work items, which are nowhere else")
	}
	if w.o.Ignored == nil {
		return why
	}
	files, err := w.o.Ignored(ctx, root)
	switch n := len(files); {
	case err != nil:
		why = append(why, "git did not list its ignored files")
	case n > 0:
		names := files[:min(n, maxNamed)]
		for i, name := range names {
			names[i] = cleantext.Line(name)
		}
		more := ""
		if n > maxNamed {
			more = fmt.Sprintf(", and %d more", n-maxNamed)
		}
		why = append(why, fmt.Sprintf("git would delete %s: %s%s", cleantext.Count(n, "ignored file"), strings.Join(names, ", "), more))
	}
	return why
}

// stack adds the position of the branch in its stack, and its pull request.
func (w *Worktrees) stack(ctx context.Context, one *Worktree) {
	entries, err := w.o.Branches.Stack(ctx, one.Branch)
	if err != nil || len(entries) == 0 {
		return // without a state there are no stacks
	}
	one.Parent, one.StackPosition = entries[0].ParentBranch, len(entries)-1
	number := entries[0].PRNumber
	if number == 0 {
		return
	}
	one.PullRequest = &PullRequest{Number: int(number)}
	if w.o.Services.PullRequest == nil {
		return
	}
	found := w.o.Services.PullRequest(ctx, one.Branch, number)
	if status, known := found.Get(); known {
		one.PullRequest.State, one.PullRequest.Checks = status.PullRequest.State, status.Summary.Checks
		if status.PullRequest.Merged {
			one.PullRequest.State = "merged"
		}
		one.PullRequest.AsOf = found.AsOf.UTC()
	}
}

// work returns a function that adds the item of a worktree, by its branch or its directory, and the
// claims of the agents in it. The items are read once.
func (w *Worktrees) work(ctx context.Context) func(*Worktree) {
	none := func(*Worktree) {}
	if w.o.Items == nil {
		return none
	}
	snapshot, err := w.o.Items.Snapshot(ctx)
	if err != nil {
		return none
	}
	links, _ := w.o.Items.Links(ctx) // without them, the claims are still known
	return func(one *Worktree) {
		for id, link := range links {
			if link.Branch != one.Branch && (link.Worktree == "" || filepath.Clean(link.Worktree) != one.Path) {
				continue
			}
			found, err := snapshot.Find(id)
			if err == nil && (one.Item == nil || id < one.Item.ID) {
				one.Item = &Item{ID: id, Title: found.Title}
			}
		}
		for _, it := range snapshot.Claims() {
			if c, _ := snapshot.Claim(it.ID); c.Holder.Worktree != "" && filepath.Clean(c.Holder.Worktree) == one.Path {
				one.Claims = append(one.Claims, Claim{ID: it.ID, Title: it.Title, Agent: cleantext.Line(c.Holder.Name), Expires: c.End().UTC()})
			}
		}
	}
}

// addUsers returns a function that adds the clients and the tasks of a worktree.
func (w *Worktrees) addUsers(ctx context.Context) func(*Worktree) {
	var clients []presence.Client
	var unwatched error
	if w.o.Clients != nil {
		clients, unwatched = w.o.Clients(ctx)
	}
	var tasks []running.Task
	if w.o.Tasks != nil {
		tasks = w.o.Tasks()
	}
	return func(one *Worktree) {
		one.unwatched = unwatched
		for _, c := range clients {
			if c.Worktree == one.Path {
				one.Clients = append(one.Clients, Client{Name: c.Name, Tool: c.Tool, At: c.At})
			}
		}
		for _, t := range tasks {
			if t.Root == one.Path {
				one.Tasks = append(one.Tasks, t.Name)
			}
		}
	}
}
