// Package verdict determines what blocks a stack of branches: it judges the known facts about each
// branch, and names the first blocker from the bottom and the next step.
//
// Use package gather to read the facts and get a [Status]. [Status.Conclude] judges facts that are
// already known. Unknown facts are absent, or give the reason; they are never good news. The
// package reads and changes nothing, and copse never runs the command of the next step.
package verdict

import (
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
)

// Outcome is the result of a verdict.
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
	// Blocker is the first blocker from the bottom, besides branches of other worktrees that are not below
	// the current one, or the reason why the stack waits, in one sentence. Of a stack that is ready, it
	// says what copse could not check.
	Blocker string `json:"blocker,omitempty"`
	// Next is the next step: a command of the tool that manages the stack. First is what a person has to do
	// before, such as "commit or stash 1 changed file".
	First string `json:"first,omitempty"`
	Next  string `json:"next,omitempty"`
	// Tool is the source of the edge of the branch that Next is about, or of the lowest.
	Tool  string `json:"tool,omitempty"`
	Trunk string `json:"trunk,omitempty"`
	// GitHub describes GitHub's answer.
	GitHub GitHub `json:"github"`
	// Branches are from the bottom up, each parent before the branches on it.
	Branches []Branch `json:"branches"`
	// Conflicts are the known conflicts of the stack's branches, the most important ones first.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// ConflictsUnknown is what copse has not compared: there can be conflicts that Conflicts omits.
	ConflictsUnknown string `json:"conflicts_unknown,omitempty"`
	// MoreConflicts is the number of conflicts that Conflicts omits.
	MoreConflicts int `json:"more_conflicts,omitempty"`
	// ConflictsHint names the tool that returns all conflicts, if Conflicts may not have all of them.
	ConflictsHint string   `json:"conflicts_hint,omitempty"`
	Showing       string   `json:"showing,omitempty"`
	Notes         []string `json:"notes,omitempty"`

	// Total is the number of branches of the stack, including those that Branches omits.
	Total int `json:"-"`

	line foreign.Line // Blocker
}

// Headline returns the verdict and its blocker, with names as an error or a warning shows them.
func (s *Status) Headline() string {
	text := strings.ToUpper(string(s.Verdict)[:1]) + string(s.Verdict)[1:]
	if blocker := s.line.Message(); blocker != "" {
		text += ": " + blocker
	}
	return text
}

// GitHub describes GitHub's answer for a stack.
type GitHub struct {
	// State is known if there is an answer about every branch, absent if origin is not a repository
	// on GitHub, or else unknown or failed.
	State string `json:"state"`
	// AsOf is the time of the oldest answer, and Age its age.
	AsOf   time.Time `json:"as_of,omitzero"`
	Age    string    `json:"age,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Hint   string    `json:"hint,omitempty"`
}

// Conflict is a branch of the stack and another one that cannot be merged without a person.
type Conflict struct {
	Branches [2]string `json:"branches"`
	Files    []string  `json:"files,omitempty"`
	// MoreFiles is the number of files that Files omits.
	MoreFiles int `json:"more_files,omitempty"`
	// Above is the number of branches that contain one of Branches and inherit the conflict, by the name
	// of that one.
	Above map[string]int `json:"above,omitempty"`
}

// Branch is a branch of a stack. Absent fields are unknown.
type Branch struct {
	Branch string `json:"branch"`
	Parent string `json:"parent,omitempty"`
	// Source is the tool that recorded the parent.
	Source string `json:"source,omitempty"`
	// Stale is the parent that Source recorded, if git does not have it. Parent is then the next
	// existing branch below.
	Stale   string `json:"stale,omitempty"`
	Current bool   `json:"current,omitempty"`
	// Missing means that git does not have the branch.
	Missing     bool        `json:"missing,omitempty"`
	PullRequest PullRequest `json:"pull_request"`
	// Merged says how the trunk has the changes of the branch, if git alone shows that it has them.
	Merged string `json:"merged,omitempty"`
	// NeedsRestack reports whether the parent has moved since the branch was stacked on it.
	NeedsRestack *bool `json:"needs_restack,omitempty"`
	// Ahead and Behind count commits against the parent, or the trunk if there is none.
	Ahead  *int `json:"ahead,omitempty"`
	Behind *int `json:"behind,omitempty"`
	// Unpushed and Unpulled count commits against the remote branch; without one, Unpushed counts
	// all commits of the branch. Remote is omitted if space is short.
	Unpushed *int      `json:"unpushed,omitempty"`
	Unpulled int       `json:"unpulled,omitempty"`
	Remote   string    `json:"remote,omitempty"`
	Worktree *Worktree `json:"worktree,omitempty"`
	Items    []Item    `json:"items,omitempty"`
	Jira     *Issue    `json:"jira,omitempty"`

	// StackedOn is the commit of the parent that it was stacked on. A tool recorded it, or the reflogs
	// show that the parent has replaced it since; "" otherwise.
	StackedOn string `json:"-"`
	// AboveMerged means that the trunk has the changes up to StackedOn in other commits.
	AboveMerged bool `json:"-"`
	// OnMerged is set if the parent is merged, and the trunk has moved on.
	OnMerged *OnMerged `json:"-"`
	// Claimed means that an agent in another worktree holds an item of the branch.
	Claimed bool `json:"-"`
	// Here is the current worktree, nil if it is unknown. Git rebases a branch there that no worktree has.
	Here *Worktree `json:"-"`
	// Unborn means that the branch has no commit yet.
	Unborn bool `json:"-"`
	// TrunkConflict is a conflict with the trunk, nil if none is known.
	TrunkConflict *Conflict `json:"-"`
	// Manager is the stack tool that records the same parent, if Source is twig.
	Manager string `json:"-"`
}

// OnMerged describes a branch whose parent is merged.
type OnMerged struct {
	// Holds means that the branch has commits of the parent that the trunk has only as other commits.
	Holds bool
}

// The states of a pull request besides GitHub's open and closed.
const (
	// PullMerged means closed by a merge.
	PullMerged = "merged"
	// PullNone means that the branch has none.
	PullNone = "none"
	// PullUnknown means that no request was sent, and PullFailed that GitHub gave no answer.
	PullUnknown = "unknown"
	PullFailed  = "failed"
	// PullAbsent means that origin is not a repository on GitHub, so that there is none.
	PullAbsent = "absent"
)

// PullRequest contains everything that decides about the merge of a pull request.
type PullRequest struct {
	// State is open, closed, merged, none, unknown, failed, or absent.
	State string `json:"state"`
	// Number can be known even if nothing else is, because tools record it.
	Number int `json:"number,omitempty"`
	// Reason is why the state is unknown or failed, if it differs from that of the whole stack;
	// AsOf is the time of GitHub's answer, likewise.
	Reason string    `json:"reason,omitempty"`
	AsOf   time.Time `json:"as_of,omitzero"`
	Draft  bool      `json:"draft,omitempty"`
	// Base is the branch that it merges into, if it is not the parent.
	Base string `json:"base,omitempty"`
	// ReviewDecision is approved, changes_requested, review_required or none.
	ReviewDecision string `json:"review_decision,omitempty"`
	// UnresolvedThreads is absent if GitHub does not report it.
	UnresolvedThreads *int `json:"unresolved_threads,omitempty"`
	// Checks are failing, pending, passing, none or unknown.
	Checks  string   `json:"checks,omitempty"`
	Failing []string `json:"failing,omitempty"`
	// FailingMore is the number of failing checks that Failing omits.
	FailingMore int `json:"failing_more,omitempty"`
	// Mergeable is absent until GitHub has computed it.
	Mergeable *bool `json:"mergeable,omitempty"`
	// AutoMerge is merge, squash, or rebase if GitHub will merge automatically.
	AutoMerge  string                  `json:"auto_merge,omitempty"`
	MergeQueue *pullrequest.QueueEntry `json:"merge_queue,omitempty"`

	// Found is GitHub's complete answer, nil if there is none.
	Found *pullrequest.Status `json:"-"`

	// Waits means that GitHub does not allow the merge, and Blockers are its reasons.
	Waits    bool     `json:"-"`
	Blockers []string `json:"-"`
}

// Worktree is the worktree that holds a branch.
type Worktree struct {
	Name string `json:"name"`
	// Dirty is the number of files that differ from the last commit, including untracked ones.
	Dirty *int `json:"dirty,omitempty"`
	// Operation is the git command that stopped halfway, such as rebase.
	Operation string `json:"operation,omitempty"`

	// Tracked is the number of changed files that git tracks, and Conflicted that of the files that
	// it could not merge; InConflict is one of these, "" if it is unknown.
	Tracked    int    `json:"-"`
	Conflicted int    `json:"-"`
	InConflict string `json:"-"`

	// Path is its directory, and Current means that the caller is in it.
	Path    string `json:"-"`
	Current bool   `json:"-"`
}

// Item is a work item that is linked to a branch.
type Item struct {
	ID     item.ID `json:"id"`
	Status string  `json:"status"`
}

// Issue is the Jira issue of a branch.
type Issue struct {
	Key string `json:"key"`
	// Status is Jira's last answer; absent if Jira was not queried.
	Status string `json:"status,omitempty"`
}
