package github

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
)

// ghost is the author that GitHub shows for a deleted account.
const ghost = "ghost"

// PullRequest describes a pull request. Times are in GitHub's form, RFC 3339.
type PullRequest struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	State     string `json:"state"` // open or closed; a merged one is closed
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
	// BodyTruncatedBytes is the number of omitted bytes of the body.
	BodyTruncatedBytes int `json:"body_truncated_bytes,omitempty"`

	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string `json:"-"`
	// AsOf is when GitHub confirmed this.
	AsOf time.Time `json:"-"`
	// HeadSHA is the commit whose checks apply.
	HeadSHA string `json:"-"`
	// HeadRepo is the owner/name that Head is a branch of; empty if it was deleted.
	HeadRepo string `json:"-"`
	Merged   bool   `json:"-"`
	// Stack is its position in one of GitHub's own stacks, in lists; nil for none.
	Stack *StackPlace `json:"-"`
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

// StackPlace is a position in one of GitHub's stacks of pull requests.
type StackPlace struct {
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
	// neutral, cancelled, skipped, timed_out, action_required, ...; error for
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

type wireUser struct {
	Login string `json:"login"`
}

// name returns the author to show for a user; GitHub sends null for a deleted account.
func (u *wireUser) name() string {
	if u == nil || u.Login == "" {
		return ghost
	}
	return cleantext.Line(u.Login)
}

type wirePull struct {
	Number         int        `json:"number"`
	Title          string     `json:"title"`
	HTMLURL        string     `json:"html_url"`
	Body           string     `json:"body"`
	State          string     `json:"state"`
	User           *wireUser  `json:"user"`
	Association    string     `json:"author_association"`
	Base           wireRef    `json:"base"`
	Head           wireRef    `json:"head"`
	Draft          bool       `json:"draft"`
	Mergeable      *bool      `json:"mergeable"`
	MergeableState string     `json:"mergeable_state"`
	Merged         bool       `json:"merged"`
	MergedAt       *string    `json:"merged_at"`
	CreatedAt      string     `json:"created_at"`
	UpdatedAt      string     `json:"updated_at"`
	Reviewers      []wireUser `json:"requested_reviewers"`
	Teams          []struct {
		Slug string `json:"slug"`
	} `json:"requested_teams"`
	Labels    wireLabels `json:"labels"`
	AutoMerge *struct {
		EnabledBy *wireUser `json:"enabled_by"`
		Method    string    `json:"merge_method"`
	} `json:"auto_merge"`
	Stack wireStack `json:"stack"`
}

// wireStack is a position in a stack. A value in another form than the documented one reads as
// none: the field is a preview.
type wireStack struct{ place *StackPlace }

func (s *wireStack) UnmarshalJSON(data []byte) error {
	var w struct {
		ID       int64   `json:"id"`
		Position int     `json:"position"`
		Base     wireRef `json:"base"`
	}
	if json.Unmarshal(data, &w) == nil && w.ID != 0 && w.Position > 0 {
		s.place = &StackPlace{ID: w.ID, Position: w.Position, Base: cleantext.Line(w.Base.Ref)}
	}
	return nil
}

// wireLabels are the names of labels. A value in another form than the documented one reads as
// none: labels must not fail a call.
type wireLabels []string

func (l *wireLabels) UnmarshalJSON(data []byte) error {
	var labels []struct {
		Name string `json:"name"`
	}
	json.Unmarshal(data, &labels) //nolint:errcheck // ignore another form
	for _, label := range labels {
		*l = append(*l, cleantext.Line(label.Name))
	}
	return nil
}

type wireRef struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

func (p wirePull) model(asOf time.Time) PullRequest {
	pr := PullRequest{
		Number:     p.Number,
		Title:      cleantext.Line(p.Title),
		State:      cleantext.Line(p.State),
		Author:     p.User.name(),
		Base:       cleantext.Line(p.Base.Ref),
		Head:       cleantext.Line(p.Head.Ref),
		Draft:      p.Draft,
		Mergeable:  p.Mergeable,
		CreatedAt:  cleantext.Line(p.CreatedAt),
		UpdatedAt:  cleantext.Line(p.UpdatedAt),
		AsOf:       asOf,
		HeadSHA:    p.Head.SHA,
		Merged:     p.Merged || p.MergedAt != nil,
		MergeState: p.MergeableState,
		Stack:      p.Stack.place,

		URL:    cleantext.Line(p.HTMLURL),
		Body:   cleantext.Block(p.Body),
		Labels: p.Labels,

		AuthorAssociation: cleantext.Line(p.Association),
	}
	if p.Head.Repo != nil {
		pr.HeadRepo = cleantext.Line(p.Head.Repo.FullName)
	}
	if p.AutoMerge != nil {
		pr.AutoMerge = &AutoMerge{Method: cleantext.Line(p.AutoMerge.Method), EnabledBy: p.AutoMerge.EnabledBy.name()}
	}
	for _, u := range p.Reviewers {
		pr.RequestedReviewers = append(pr.RequestedReviewers, u.name())
	}
	for _, t := range p.Teams {
		pr.RequestedTeams = append(pr.RequestedTeams, cleantext.Line(t.Slug))
	}
	return pr
}

type wireReview struct {
	User  *wireUser `json:"user"`
	State string    `json:"state"`
}

func (r wireReview) model() Review {
	return Review{Author: r.User.name(), State: cleantext.Line(r.State)}
}

// actionsApp is the app whose check runs are jobs of GitHub Actions.
const actionsApp = "github-actions"

type wireCheckRuns struct {
	CheckRuns []struct {
		ID         int64   `json:"id"`
		Name       string  `json:"name"`
		Status     string  `json:"status"`
		Conclusion *string `json:"conclusion"`
		DetailsURL string  `json:"details_url"`
		App        *struct {
			Slug string `json:"slug"`
		} `json:"app"`
	} `json:"check_runs"`
}

func (w wireCheckRuns) model() []Check {
	var checks []Check
	for _, r := range w.CheckRuns {
		c := Check{Name: cleantext.Line(r.Name), Status: cleantext.Line(r.Status), URL: cleantext.Line(r.DetailsURL)}
		if r.Conclusion != nil && *r.Conclusion != "" {
			c.Conclusion = new(cleantext.Line(*r.Conclusion))
		}
		if r.App != nil && r.App.Slug == actionsApp {
			c.Job = r.ID
		}
		checks = append(checks, c)
	}
	return checks
}

type wireStatuses struct {
	Statuses []struct {
		Context   string `json:"context"`
		State     string `json:"state"`
		TargetURL string `json:"target_url"`
	} `json:"statuses"`
}

func (w wireStatuses) model() []Check {
	var checks []Check
	for _, s := range w.Statuses {
		checks = append(checks, statusCheck(s.Context, s.State, s.TargetURL))
	}
	return checks
}

// statusCheck returns a commit status, which has only a state (pending, expected, success, failure,
// error), in the form of a check run.
func statusCheck(context, state, target string) Check {
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
	return "", fmt.Errorf("parse state %q: want open, closed or all", s)
}
