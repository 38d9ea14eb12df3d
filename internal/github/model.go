package github

import (
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
)

// ghost is the author that GitHub shows in place of a deleted account.
const ghost = "ghost"

// PullRequest is what is told of a pull request. Times are as GitHub writes
// them, RFC 3339.
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

	// AuthorAssociation is what the author is to the repository, in GitHub's
	// words: OWNER, MEMBER, CONTRIBUTOR, NONE...
	AuthorAssociation string `json:"-"`
	// AsOf is when GitHub confirmed this.
	AsOf time.Time `json:"-"`
	// HeadSHA is the commit whose checks count.
	HeadSHA string `json:"-"`
	// HeadRepo is the owner/name that Head is a branch of; empty if it was deleted.
	HeadRepo string `json:"-"`
	Merged   bool   `json:"-"`
	// Requested are the people and teams that were asked for a review and have
	// not given it.
	Requested []string `json:"-"`
	// MergeState is GitHub's mergeable_state: clean, dirty, blocked, behind,
	// unstable, unknown...; empty in lists.
	MergeState string `json:"-"`
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
}

// The wire types name only what is read; null leaves a field at its zero.

type wireUser struct {
	Login string `json:"login"`
}

// name returns the author that a user is shown as; GitHub sends null for a deleted
// account.
func (u *wireUser) name() string {
	if u == nil || u.Login == "" {
		return ghost
	}
	return cleantext.Line(u.Login)
}

type wirePull struct {
	Number         int        `json:"number"`
	Title          string     `json:"title"`
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

		AuthorAssociation: p.Association,
	}
	if p.Head.Repo != nil {
		pr.HeadRepo = cleantext.Line(p.Head.Repo.FullName)
	}
	for _, u := range p.Reviewers {
		pr.Requested = append(pr.Requested, u.name())
	}
	for _, t := range p.Teams {
		pr.Requested = append(pr.Requested, "team "+cleantext.Line(t.Slug))
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

type wireCheckRuns struct {
	CheckRuns []struct {
		Name       string  `json:"name"`
		Status     string  `json:"status"`
		Conclusion *string `json:"conclusion"`
	} `json:"check_runs"`
}

func (w wireCheckRuns) model() []Check {
	var checks []Check
	for _, r := range w.CheckRuns {
		c := Check{Name: cleantext.Line(r.Name), Status: cleantext.Line(r.Status)}
		if r.Conclusion != nil && *r.Conclusion != "" {
			conclusion := cleantext.Line(*r.Conclusion)
			c.Conclusion = &conclusion
		}
		checks = append(checks, c)
	}
	return checks
}

type wireStatuses struct {
	Statuses []struct {
		Context string `json:"context"`
		State   string `json:"state"`
	} `json:"statuses"`
}

// model returns commit statuses, which know only a state (pending, success,
// failure, error), the form of a check run.
func (w wireStatuses) model() []Check {
	var checks []Check
	for _, s := range w.Statuses {
		c := Check{Name: cleantext.Line(s.Context), Status: "pending"}
		if s.State != "pending" {
			conclusion := cleantext.Line(s.State)
			c.Status, c.Conclusion = "completed", &conclusion
		}
		checks = append(checks, c)
	}
	return checks
}

// State selects pull requests of a list.
type State string

// The states that a list can be asked for.
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
