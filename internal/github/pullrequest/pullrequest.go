// Package pullrequest describes a pull request with its reviews, checks, and review threads, and
// explains what keeps it from being merged.
//
// Use [Summarize] for the explanation. It adds nothing to GitHub's own verdict, and treats unknown
// facts as unknown. All text is one clean line, or a clean block.
package pullrequest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
)

// Ghost is the author that GitHub shows for a deleted account.
const Ghost = "ghost"

// DeletedFork is the fork of a pull request whose fork was deleted.
const DeletedFork = "(deleted)"

// PullRequest describes a pull request. Times are in GitHub's form, RFC 3339.
type PullRequest struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	State     string `json:"state"` // open or closed; a merged one is closed
	Merged    bool   `json:"merged,omitempty"`
	Author    string `json:"author"`
	Base      string `json:"base"`
	Head      string `json:"head"`
	Draft     bool   `json:"draft"`
	Mergeable *bool  `json:"mergeable"` // null in lists, and until GitHub has computed it
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`

	// URL is the page of the pull request.
	URL string `json:"url,omitempty"`
	// AuthorAssociation is the author's relation to the repository, in GitHub's
	// words: OWNER, MEMBER, CONTRIBUTOR, NONE...
	AuthorAssociation string `json:"author_association,omitempty"`
	// RequestedReviewers are the logins of requested reviewers who have not given their review;
	// RequestedTeams are the slugs of teams.
	RequestedReviewers []string `json:"requested_reviewers,omitempty"`
	RequestedTeams     []string `json:"requested_teams,omitempty"`
	Labels             []string `json:"labels,omitempty"`
	// AutoMerge is set if GitHub will merge the pull request as soon as its rules are met.
	AutoMerge *AutoMerge `json:"auto_merge,omitempty"`
	// MergeQueue is its position in the queue of its base, if it is in one.
	MergeQueue *QueueEntry `json:"merge_queue,omitempty"`
	// Body is Markdown; lists omit it.
	Body string `json:"body,omitempty"`
	// Fork is the owner/name of the fork that Head is a branch of, or DeletedFork; empty if Head is
	// in the repository itself.
	Fork string `json:"fork,omitempty"`
	// BodyTruncatedBytes is the number of omitted bytes of the body.
	BodyTruncatedBytes int `json:"body_truncated_bytes,omitempty"`

	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string `json:"-"`
	// AsOf is when GitHub confirmed this.
	AsOf time.Time `json:"-"`
	// HeadSHA is the commit whose checks apply.
	HeadSHA string `json:"-"`
	// Stack is its position in one of GitHub's own stacks, in lists; nil for none.
	Stack *StackPosition `json:"-"`
	// MergeState is GitHub's verdict: clean, has_hooks, unstable, behind, blocked,
	// dirty, draft or unknown; empty in lists.
	MergeState string `json:"-"`

	// Decision is GitHub's review decision, in its words. If it is empty, Decided means that no
	// rule requires a review; without Decided, it is unknown.
	Decision string `json:"-"`
	Decided  bool   `json:"-"`
	// Rules are the requirements of the base.
	Rules Rules `json:"-"`
}

// StackPosition is a position in one of GitHub's stacks of pull requests.
type StackPosition struct {
	ID int64
	// Position is 1 at the bottom. Base is the branch that the stack merges into.
	Position int
	Base     string
}

// AutoMerge is a merge that GitHub makes automatically.
type AutoMerge struct {
	Method    string `json:"method"` // merge, squash or rebase
	EnabledBy string `json:"enabled_by,omitempty"`
	EnabledAt string `json:"enabled_at,omitempty"`
}

// QueueEntry is a place in a merge queue.
type QueueEntry struct {
	State    string `json:"state"` // queued, awaiting_checks, mergeable, unmergeable or locked
	Position int    `json:"position"`
}

// Thread is an unresolved review thread.
type Thread struct {
	File string `json:"file"`
	// Line is 0 for a thread about the whole file. If the thread is outdated, it refers to the file
	// at the time when the thread began.
	Line              int    `json:"line,omitempty"`
	Author            string `json:"author"`
	AuthorAssociation string `json:"author_association,omitempty"`
	// Text is the comment that opens the thread.
	Text           string `json:"text"`
	TruncatedBytes int    `json:"truncated_bytes,omitempty"`
	Replies        int    `json:"replies,omitempty"`
	Outdated       bool   `json:"outdated,omitempty"`
	// UpdatedAt is the time of its last comment.
	UpdatedAt string `json:"updated_at,omitempty"`
	URL       string `json:"url,omitempty"`
}

// Review is one review of a pull request.
type Review struct {
	Author string `json:"author"`
	// State is APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING.
	State string `json:"state"`
}

// Check is a check run, or a commit status in the form of one.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // queued, in_progress, completed, ...
	// Conclusion is null until the status is completed: success, failure,
	// neutral, canceled (with two l), skipped, timed_out, action_required, ...; error for
	// a commit status.
	Conclusion *string `json:"conclusion"`
	// Required means that a rule of the base requires it. Only GraphQL reports this.
	Required bool `json:"required,omitempty"`
	// URL leads to the details.
	URL string `json:"url,omitempty"`
	// Log is the end of the failing step's log, if it was requested.
	Log *Log `json:"log,omitempty"`

	// Job is the number of the job of GitHub Actions, 0 for other checks.
	Job int64 `json:"-"`
}

// Log is the end of a log.
type Log struct {
	// Step is the name of the failing step; empty if GitHub does not report it.
	Step string `json:"step,omitempty"`
	Text string `json:"text"`
	// TruncatedBytes is the number of bytes cut from the start.
	TruncatedBytes int `json:"truncated_bytes,omitempty"`
}

// The wire types contain only the fields that are read; null leaves a field at its zero value.

// ActionsApp is the app whose check runs are jobs of GitHub Actions.
const ActionsApp = "github-actions"

// StatusCheck returns a commit status, which has only a state (pending, expected, success, failure,
// error), in the form of a check run.
func StatusCheck(context, state, target string) Check {
	c := Check{Name: cleantext.Line(context), Status: "pending", URL: cleantext.Line(target)}
	if state != "pending" && state != "expected" {
		c.Status, c.Conclusion = "completed", new(cleantext.Line(state))
	}
	return c
}

// State filters a list of pull requests.
type State string

// The possible states of the filter.
const (
	Open   State = "open"
	Closed State = "closed"
	All    State = "all"
)

// ParseState reads a state; empty is Open.
func ParseState(s string) (State, error) {
	switch state := State(s); state {
	case "":
		return Open, nil
	case Open, Closed, All:
		return state, nil
	}
	return "", fmt.Errorf("parse state %q: use open, closed, or all", s)
}

// Head is a branch whose pull request is wanted.
type Head struct {
	// Branch is its name at GitHub.
	Branch string
	// Number is the number of its pull request, 0 if it is unknown.
	Number int
	// Commit is the tip of the branch. A pull request that was found by name, and is merged or
	// closed, is used only if it ended with this commit: people reuse names.
	Commit string
}

// Rules are the known requirements of a pull request's base.
type Rules struct {
	Checks    []string // names of checks that must pass
	Approvals int      // reviews that must approve
	// CodeOwners means that owners of the changed files must approve.
	CodeOwners bool
	Resolve    bool     // review threads must be resolved
	Other      []string // further requirements, in words
}

// With returns the requirements of both.
func (r Rules) With(other Rules) Rules {
	r.Checks = distinct.Of(append(slices.Clip(r.Checks), other.Checks...)...).Values()
	r.Approvals = max(r.Approvals, other.Approvals)
	r.CodeOwners = r.CodeOwners || other.CodeOwners
	r.Resolve = r.Resolve || other.Resolve
	r.Other = append(slices.Clip(r.Other), other.Other...)
	return r
}

// Status is a pull request with its reviews and the checks of its head commit.
type Status struct {
	PullRequest PullRequest `json:"pull_request"`
	// Reviews has the effective review of each author first, the latest first, and then the others
	// in the same order. The effective review is an author's last approval, request for changes, or
	// dismissed review, and without any of these, the last review.
	Reviews []Review `json:"reviews"`
	// Checks has failing checks first, then those without a verdict, then the rest; each by name.
	Checks  []Check `json:"checks"`
	Summary Summary `json:"summary"`
	// UnresolvedThreads are the unresolved review threads, the one with the latest comment first.
	// It is nil if they are unknown.
	UnresolvedThreads []Thread `json:"unresolved_threads,omitzero"`
	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string `json:"notes,omitempty"`
	// AsOf is when GitHub confirmed this: the earliest of its parts.
	AsOf time.Time `json:"-"`
}

// EffectiveFirst orders reviews, which GitHub returns oldest first, as Status promises.
func EffectiveFirst(reviews []Review) []Review {
	counts := make([]bool, len(reviews))
	out := make([]Review, 0, len(reviews))
	for _, i := range countingReviews(reviews) {
		out = append(out, reviews[i])
		counts[i] = true
	}
	for i, review := range slices.Backward(reviews) {
		if !counts[i] {
			out = append(out, review)
		}
	}
	return out
}

// CompareChecks orders checks as [Status] promises.
func CompareChecks(a, b Check) int {
	if c := int(a.verdict()) - int(b.verdict()); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
