// Package gather reads the facts of a repository's stacks and returns them with their verdicts: it
// combines each branch with its pull request, its distance from its parent and its remote branch,
// its worktree, and its work item and issue.
//
// Use [New] and [Verdicts.Stack], or [Verdicts.All] for every stack. Sources that fail or are
// switched off leave their facts unknown, with the reason. The package changes nothing.
package gather

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/turn"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// Options are the sources of the facts.
type Options struct {
	Branches *stack.Branches
	// Pulls request the pull requests of branches; nil if GitHub is disabled.
	Pulls Pulls
	// Opened updates the list of open pull requests; nil for nothing.
	Opened Opened
	// Turns is where the processes of the user take turns to query GitHub.
	Turns turn.Dir
	// Radar finds conflicts and uncommitted changes; nil for neither.
	Radar Radar
	// Kept are the directories in which all processes of the user store answers about pull
	// requests and conflicts. Watchers look again after a change there.
	Kept []string
	// Services read the issue of a branch.
	Services stack.Services
	// Items are the work items; nil for none.
	Items Items
	Now   func() time.Time
}

// Pulls request the pull requests of branches.
type Pulls interface {
	// Login names the host and the login of the requests without revealing them, "" for none.
	Login(ctx context.Context) string
	// OfBranches returns the pull request of each branch, in their order.
	OfBranches(ctx context.Context, heads []pullrequest.Head) []fact.Fact[pullrequest.Status]
}

// Opened updates the list of open pull requests.
type Opened interface {
	// Refresh requests the list unless it is younger than age, and reports whether it has changed.
	Refresh(ctx context.Context, age time.Duration) (changed bool, err error)
}

// Radar finds conflicts between branches in flight, and uncommitted changes.
type Radar interface {
	Report(ctx context.Context, q conflicts.Request) (conflicts.Report, error)
	// Soon returns what is known or can be found within wait, and a text about the rest, "" if there is none.
	Soon(ctx context.Context, q conflicts.Request, wait time.Duration) (found conflicts.Report, left string)
	// Uncommitted returns the uncommitted changes of worktrees, by root, where they are known.
	Uncommitted(ctx context.Context, roots []string) (map[string]conflicts.Changes, error)
}

// Items are the work items of the repository.
type Items interface {
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Verdicts judges the stacks of one repository. It is safe for concurrent use.
type Verdicts struct {
	o     Options
	known *relation.Known // how the commits of the branches relate
}

// New returns the verdicts. It reads nothing yet.
func New(o Options) *Verdicts {
	return &Verdicts{o: o, known: relation.New()}
}

// Asking defines when to query GitHub.
type Asking int

// When to query GitHub.
const (
	// Recent uses GitHub's last answers if they are less than a minute old, and sends a request
	// otherwise.
	Recent Asking = iota
	// Fresh sends a request in any case.
	Fresh
	// Cached uses the last answers, however old they are, and no network.
	Cached
)
