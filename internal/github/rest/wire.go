package rest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/github/pullrequest"
)

type wireUser struct {
	Login string `json:"login"`
}

// name returns the author to show for a user; GitHub sends null for a deleted account.
func (u *wireUser) name() string {
	if u == nil || u.Login == "" {
		return pullrequest.Ghost
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

// wireStack is a position in a stack. A value in a form other than the documented one reads as
// none: the field is a preview.
type wireStack struct{ position *pullrequest.StackPosition }

func (s *wireStack) UnmarshalJSON(data []byte) error {
	var w struct {
		ID       int64   `json:"id"`
		Position int     `json:"position"`
		Base     wireRef `json:"base"`
	}
	if json.Unmarshal(data, &w) == nil && w.ID != 0 && w.Position > 0 {
		s.position = &pullrequest.StackPosition{ID: w.ID, Position: w.Position, Base: cleantext.Line(w.Base.Ref)}
	}
	return nil
}

// wireLabels are the names of labels. A value in a form other than the documented one reads as
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

func (p wirePull) model(asOf time.Time) pullrequest.PullRequest {
	pr := pullrequest.PullRequest{
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
		MergeState: cleantext.Line(p.MergeableState),
		Stack:      p.Stack.position,

		URL:    cleantext.Line(p.HTMLURL),
		Body:   cleantext.Block(p.Body),
		Labels: p.Labels,

		AuthorAssociation: cleantext.Line(p.Association),
	}
	switch head, base := p.Head.Repo, p.Base.Repo; {
	case head == nil && p.Head.Ref != "":
		pr.Fork = pullrequest.DeletedFork
	case head != nil && base != nil && !strings.EqualFold(head.FullName, base.FullName):
		pr.Fork = cleantext.Line(head.FullName)
	}
	if p.AutoMerge != nil {
		pr.AutoMerge = &pullrequest.AutoMerge{Method: cleantext.Line(p.AutoMerge.Method), EnabledBy: p.AutoMerge.EnabledBy.name()}
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

func (r wireReview) model() pullrequest.Review {
	return pullrequest.Review{Author: r.User.name(), State: cleantext.Line(r.State)}
}

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

func (w wireCheckRuns) model() []pullrequest.Check {
	var checks []pullrequest.Check
	for _, r := range w.CheckRuns {
		c := pullrequest.Check{Name: cleantext.Line(r.Name), Status: cleantext.Line(r.Status), URL: cleantext.Line(r.DetailsURL)}
		if r.Conclusion != nil && *r.Conclusion != "" {
			c.Conclusion = new(cleantext.Line(*r.Conclusion))
		}
		if r.App != nil && r.App.Slug == pullrequest.ActionsApp {
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

func (w wireStatuses) model() []pullrequest.Check {
	var checks []pullrequest.Check
	for _, s := range w.Statuses {
		checks = append(checks, pullrequest.StatusCheck(s.Context, s.State, s.TargetURL))
	}
	return checks
}
