// Package verdict answers what blocks a stack of branches: it joins each branch of the
// stack with its pull request, its distance from its parent and its remote, the worktree
// that holds it, and the work behind it, and names the first blocker from the bottom and
// the next step.
//
// Use [New] and [Verdicts.Stack]. What is not known is absent, or says why; it never counts
// as good news. Nothing is changed, and the next step is a command that copse never runs.
package verdict

import (
	"context"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/dirt"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/turn"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Options say where the facts come from.
type Options struct {
	Branches *stack.Branches
	// Pulls ask for the pull requests of branches; nil if GitHub is switched off.
	Pulls Pulls
	// Opened keeps the list of open pull requests up to date; nil for nothing.
	Opened Opened
	// Turns is where the processes of the user take turns to ask GitHub.
	Turns turn.Dir
	// Radar looks for conflicts; nil for nobody.
	Radar Radar
	// Services know the issue of a branch.
	Services stack.Services
	// Items are the work items; nil for none.
	Items Items
	// Open opens the repository at a worktree.
	Open func(ctx context.Context, dir string) (*git.Repo, error)
	Now  func() time.Time
}

// Pulls ask for the pull requests of branches.
type Pulls interface {
	// OfBranches returns what is known of the pull request of each branch, in their order.
	OfBranches(ctx context.Context, heads []github.Head) []fact.Fact[github.Status]
}

// Opened keeps the list of open pull requests up to date.
type Opened interface {
	// Refresh asks for the list unless it is younger than age, and reports whether it is
	// another one than before.
	Refresh(ctx context.Context, age time.Duration) (changed bool, err error)
}

// Radar looks for conflicts between what is in flight.
type Radar interface {
	Report(ctx context.Context, q conflicts.Request) (conflicts.Report, error)
	// Last returns what the last report found, and when that was.
	Last(ctx context.Context) ([]conflicts.Conflict, time.Time)
}

// Items are the work items of the repository.
type Items interface {
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Verdicts answers for the stacks of one repository. It is safe for concurrent use.
type Verdicts struct {
	o Options

	mu   sync.Mutex
	gaps map[history.Pair]history.Gap // commits never change
	dirt map[string]*dirt.Counter     // by path of the worktree
}

// New returns the verdicts. Nothing is read yet.
func New(o Options) *Verdicts {
	return &Verdicts{o: o, gaps: map[history.Pair]history.Gap{}, dirt: map[string]*dirt.Counter{}}
}

// Asking says how GitHub is asked.
type Asking int

// How GitHub is asked.
const (
	// Recent takes GitHub's last answers if they are less than a minute old, and asks again
	// otherwise.
	Recent Asking = iota
	// Fresh asks in any case.
	Fresh
	// Cached takes the last answers, however old they are, and uses no network.
	Cached
)

// Outcome is what a verdict comes to.
type Outcome string

// The outcomes.
const (
	// Blocked stacks have a branch that somebody has to work on.
	Blocked Outcome = "blocked"
	// Waiting stacks wait for a review, for checks, or for a merge queue.
	Waiting Outcome = "waiting"
	// Ready stacks can be merged.
	Ready Outcome = "ready"
	// Unknown outcomes lack the answers of GitHub.
	Unknown Outcome = "unknown"
)

// Status is a stack with its verdict.
type Status struct {
	Verdict Outcome `json:"verdict"`
	// Blocker is the first blocker from the bottom, or what the stack waits for, in one
	// sentence.
	Blocker string `json:"blocker,omitempty"`
	// Next is the next step: a command of the tool that keeps the stack.
	Next string `json:"next,omitempty"`
	// Tool is the source of the edge of the branch that Next is about, or of the lowest.
	Tool  string `json:"tool,omitempty"`
	Trunk string `json:"trunk,omitempty"`
	// GitHub is how GitHub answered.
	GitHub GitHub `json:"github"`
	// Branches are from the bottom up, a parent before what is stacked on it.
	Branches []Branch `json:"branches"`
	// Conflicts are those of the stack's branches that the radar found within the last
	// minutes. Nobody need have looked.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Showing   string     `json:"showing,omitempty"`
	Notes     []string   `json:"notes,omitempty"`

	line foreign.Line // Blocker
}

// GitHub is how GitHub answered for a stack.
type GitHub struct {
	// State is known if there is an answer about every branch, else unknown or failed.
	State string `json:"state"`
	// AsOf is when the oldest of the answers was given, and Age how long ago that was.
	AsOf   time.Time `json:"as_of,omitzero"`
	Age    string    `json:"age,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Hint   string    `json:"hint,omitempty"`
}

// Conflict is a branch of the stack and another one that cannot be merged without a person.
type Conflict struct {
	Branches [2]string `json:"branches"`
	Files    []string  `json:"files,omitempty"`
	// MoreFiles counts those that Files leaves out.
	MoreFiles int `json:"more_files,omitempty"`
}

// Branch is a branch of a stack. What is absent is not known.
type Branch struct {
	Branch string `json:"branch"`
	Parent string `json:"parent,omitempty"`
	// Source is the tool that recorded the parent.
	Source string `json:"source,omitempty"`
	// Stale is the parent that Source recorded, if git does not have it. Parent is then the
	// next branch below that exists.
	Stale   string `json:"stale,omitempty"`
	Current bool   `json:"current,omitempty"`
	// Missing says that git does not have the branch.
	Missing     bool        `json:"missing,omitempty"`
	PullRequest PullRequest `json:"pull_request"`
	// NeedsRestack reports whether the parent has moved since the branch was stacked on it.
	NeedsRestack *bool `json:"needs_restack,omitempty"`
	// Ahead and Behind count commits against the parent, or the trunk if there is none.
	Ahead  *int `json:"ahead,omitempty"`
	Behind *int `json:"behind,omitempty"`
	// Unpushed and Unpulled count commits against the remote branch; without one, Unpushed
	// is all that the branch has. Remote is left out where space is short.
	Unpushed *int      `json:"unpushed,omitempty"`
	Unpulled int       `json:"unpulled,omitempty"`
	Remote   string    `json:"remote,omitempty"`
	Worktree *Worktree `json:"worktree,omitempty"`
	Items    []Item    `json:"items,omitempty"`
	Jira     *Issue    `json:"jira,omitempty"`

	base string // the commit of the parent that it was stacked on
}

// The states of a pull request besides GitHub's open and closed.
const (
	// PullMerged is closed, with a merge.
	PullMerged = "merged"
	// PullNone means that the branch has none.
	PullNone = "none"
	// PullUnknown means that GitHub has not been asked, and PullFailed that it gave no
	// answer.
	PullUnknown = "unknown"
	PullFailed  = "failed"
)

// PullRequest is what decides about the merge of a pull request.
type PullRequest struct {
	// State is open, closed, merged, none, unknown or failed.
	State string `json:"state"`
	// Number can be known where nothing else is, as tools record it.
	Number int `json:"number,omitempty"`
	// Reason is why the state is unknown or failed, if it is not that of the whole stack;
	// AsOf is when GitHub answered, likewise.
	Reason string    `json:"reason,omitempty"`
	AsOf   time.Time `json:"as_of,omitzero"`
	Draft  bool      `json:"draft,omitempty"`
	// Base is the branch that it is to be merged into, if it is not the parent.
	Base string `json:"base,omitempty"`
	// ReviewDecision is approved, changes_requested, review_required or none.
	ReviewDecision string `json:"review_decision,omitempty"`
	// UnresolvedThreads is absent where GitHub does not tell.
	UnresolvedThreads *int `json:"unresolved_threads,omitempty"`
	// Checks are failing, pending, passing, none or unknown.
	Checks  string   `json:"checks,omitempty"`
	Failing []string `json:"failing,omitempty"`
	// FailingMore counts the failing checks that Failing leaves out.
	FailingMore int `json:"failing_more,omitempty"`
	// Mergeable is absent until GitHub has computed it.
	Mergeable *bool `json:"mergeable,omitempty"`
	// AutoMerge is merge, squash or rebase while GitHub is to merge it by itself.
	AutoMerge  string             `json:"auto_merge,omitempty"`
	MergeQueue *github.QueueEntry `json:"merge_queue,omitempty"`

	// Found is all that GitHub said, nil if that is nothing.
	Found *github.Status `json:"-"`

	blockers []string
	waits    bool // GitHub does not allow the merge
}

// Worktree is the worktree that holds a branch.
type Worktree struct {
	Name string `json:"name"`
	// Dirty counts the files that differ from the last commit, untracked ones included.
	Dirty *int `json:"dirty,omitempty"`
	// Operation is the git command that stopped halfway, such as rebase.
	Operation string `json:"operation,omitempty"`

	path    string
	current bool
}

// Item is a work item that is linked to a branch.
type Item struct {
	ID     item.ID `json:"id"`
	Status string  `json:"status"`
}

// Issue is the Jira issue behind a branch.
type Issue struct {
	Key string `json:"key"`
	// Status is as Jira said last; absent if Jira has not been asked.
	Status string `json:"status,omitempty"`
}
