package graphql

import (
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/github/pullrequest"
)

// The types below are GraphQL's answers; null leaves a field at its zero value.

// Actor is a user or an app.
type Actor struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
	Slug  string `json:"slug"`
}

// name returns the author in REST's spelling, which marks apps.
func (a *Actor) name() string {
	if a == nil || a.Login == "" {
		return pullrequest.Ghost
	}
	login := cleantext.Line(a.Login)
	if a.Type == "Bot" && !strings.HasSuffix(login, "[bot]") {
		return login + "[bot]"
	}
	return login
}

// List is a page of a list.
type List[T any] struct {
	Total int `json:"totalCount"`
	Page  struct {
		HasPrevious bool   `json:"hasPreviousPage"`
		Start       string `json:"startCursor"`
		HasNext     bool   `json:"hasNextPage"`
		End         string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []*T `json:"nodes"`
}

// Before returns the cursor toward the beginning of the list, nil at the beginning.
func (l List[T]) Before() *string {
	if !l.Page.HasPrevious || l.Page.Start == "" {
		return nil
	}
	return &l.Page.Start
}

// After returns the cursor toward the end of the list, nil at the end.
func (l List[T]) After() *string {
	if !l.Page.HasNext || l.Page.End == "" {
		return nil
	}
	return &l.Page.End
}

// PullRequest is a pull request.
type PullRequest struct {
	Number      int    `json:"number"`
	Title       string `json:"title"`
	URL         string `json:"url"`
	Body        string `json:"body"`
	State       string `json:"state"`
	IsDraft     bool   `json:"isDraft"`
	CreatedAt   string `json:"createdAt"`
	UpdatedAt   string `json:"updatedAt"`
	Author      *Actor `json:"author"`
	Association string `json:"authorAssociation"`
	BaseRefName string `json:"baseRefName"`
	HeadRefName string `json:"headRefName"`
	HeadRefOID  string `json:"headRefOid"`
	// Cross means that the head and the base are in different repositories. Names do not show this: a
	// repository that was renamed answers to its old name, too.
	Cross    bool `json:"isCrossRepository"`
	HeadRepo *struct {
		Name string `json:"nameWithOwner"`
	} `json:"headRepository"`
	Mergeable  string  `json:"mergeable"`
	MergeState string  `json:"mergeStateStatus"`
	Decision   *string `json:"reviewDecision"`
	Labels     List[struct {
		Name string `json:"name"`
	}] `json:"labels"`
	AutoMerge *struct {
		EnabledAt string `json:"enabledAt"`
		Method    string `json:"mergeMethod"`
		EnabledBy *Actor `json:"enabledBy"`
	} `json:"autoMergeRequest"`
	BaseRef *struct {
		Rule *struct {
			Approvals    *int      `json:"requiredApprovingReviewCount"`
			Checks       []*string `json:"requiredStatusCheckContexts"`
			Conversation bool      `json:"requiresConversationResolution"`
			CodeOwners   bool      `json:"requiresCodeOwnerReviews"`
		} `json:"refUpdateRule"`
	} `json:"baseRef"`
	Requests List[struct {
		Reviewer *Actor `json:"requestedReviewer"`
	}] `json:"reviewRequests"`
	Queue *struct {
		State    string `json:"state"`
		Position int    `json:"position"`
	} `json:"mergeQueueEntry"`

	Reviews List[Review] `json:"reviews"`
	Threads List[Thread] `json:"reviewThreads"`
	Rollup  *Rollup      `json:"statusCheckRollup"`
}

// Rollup is the list of checks of a commit, with GitHub's verdict on all of them.
type Rollup struct {
	State    string      `json:"state"`
	Contexts List[Check] `json:"contexts"`
}

// Model returns the verdict as a value of [pullrequest.Summary], "" for an unknown one.
func (r *Rollup) Model() string {
	switch r.State {
	case "SUCCESS":
		return pullrequest.ChecksPassing
	case "FAILURE", "ERROR":
		return pullrequest.ChecksFailing
	case "PENDING", "EXPECTED":
		return pullrequest.ChecksPending
	}
	return ""
}

// Model returns the pull request without its lists, as of a time.
func (p *PullRequest) Model(asOf time.Time) pullrequest.PullRequest {
	pr := pullrequest.PullRequest{
		Number: p.Number, Title: cleantext.Line(p.Title), URL: cleantext.Line(p.URL), Body: cleantext.Block(p.Body),
		State: "open", Draft: p.IsDraft, Author: p.Author.name(), AuthorAssociation: cleantext.Line(p.Association),
		Base: cleantext.Line(p.BaseRefName), Head: cleantext.Line(p.HeadRefName), HeadSHA: p.HeadRefOID,
		CreatedAt: cleantext.Line(p.CreatedAt), UpdatedAt: cleantext.Line(p.UpdatedAt), AsOf: asOf,
		MergeState: lower(p.MergeState), Decided: true,
	}
	switch p.State {
	case "CLOSED":
		pr.State = string(pullrequest.Closed)
	case "MERGED":
		pr.State, pr.Merged = string(pullrequest.Closed), true
	}
	switch p.Mergeable {
	case "MERGEABLE":
		pr.Mergeable = new(true)
	case "CONFLICTING":
		pr.Mergeable = new(false)
	}
	switch {
	case p.Cross && p.HeadRepo != nil:
		pr.Fork = cleantext.Line(p.HeadRepo.Name)
	case p.Cross:
		pr.Fork = pullrequest.DeletedFork
	}
	if p.Decision != nil {
		pr.Decision = cleantext.Line(*p.Decision)
	}
	for _, l := range p.Labels.Nodes {
		if l != nil {
			pr.Labels = append(pr.Labels, cleantext.Line(l.Name))
		}
	}
	if a := p.AutoMerge; a != nil {
		pr.AutoMerge = &pullrequest.AutoMerge{Method: lower(a.Method), EnabledBy: a.EnabledBy.name(), EnabledAt: cleantext.Line(a.EnabledAt)}
	}
	if q := p.Queue; q != nil {
		pr.MergeQueue = &pullrequest.QueueEntry{State: lower(q.State), Position: q.Position}
	}
	if p.BaseRef != nil && p.BaseRef.Rule != nil {
		rule := p.BaseRef.Rule
		pr.Rules = pullrequest.Rules{Resolve: rule.Conversation, CodeOwners: rule.CodeOwners}
		if rule.Approvals != nil {
			pr.Rules.Approvals = *rule.Approvals
		}
		for _, name := range rule.Checks {
			if name != nil {
				pr.Rules.Checks = append(pr.Rules.Checks, cleantext.Line(*name))
			}
		}
	}
	p.requested(&pr)
	return pr
}

// requested adds the reviewers and teams who are asked for a review.
func (p *PullRequest) requested(pr *pullrequest.PullRequest) {
	for _, r := range p.Requests.Nodes {
		switch {
		case r == nil || r.Reviewer == nil:
		case r.Reviewer.Type == "Team":
			if r.Reviewer.Slug == "" {
				pr.Notes = append(pr.Notes, "a team was requested for review; reading its name requires a token with the scope read:org")
				continue
			}
			pr.RequestedTeams = append(pr.RequestedTeams, cleantext.Line(r.Reviewer.Slug))
		default:
			pr.RequestedReviewers = append(pr.RequestedReviewers, r.Reviewer.name())
		}
	}
	pr.Notes = slices.Compact(pr.Notes)
}

// lower returns one of GraphQL's constants in REST's spelling.
func lower(constant string) string { return strings.ToLower(cleantext.Line(constant)) }

// Review is a review.
type Review struct {
	Author *Actor `json:"author"`
	State  string `json:"state"`
}

// Model returns the review.
func (r Review) Model() pullrequest.Review {
	return pullrequest.Review{Author: r.Author.name(), State: cleantext.Line(r.State)}
}

// Thread is a review thread.
type Thread struct {
	Resolved     bool   `json:"isResolved"`
	Outdated     bool   `json:"isOutdated"`
	Path         string `json:"path"`
	Line         *int   `json:"line"`
	OriginalLine *int   `json:"originalLine"`
	Opening      List[struct {
		Author      *Actor `json:"author"`
		Association string `json:"authorAssociation"`
		Body        string `json:"body"`
		URL         string `json:"url"`
		CreatedAt   string `json:"createdAt"`
	}] `json:"opening"`
	Latest List[struct {
		CreatedAt string `json:"createdAt"`
	}] `json:"latest"`
}

// Model returns the thread.
func (t Thread) Model() pullrequest.Thread {
	out := pullrequest.Thread{File: cleantext.Line(t.Path), Outdated: t.Outdated, Author: pullrequest.Ghost}
	switch {
	case t.Line != nil:
		out.Line = *t.Line
	case t.OriginalLine != nil:
		out.Line = *t.OriginalLine
	}
	if len(t.Opening.Nodes) > 0 && t.Opening.Nodes[0] != nil {
		c := t.Opening.Nodes[0]
		out.Author, out.AuthorAssociation = c.Author.name(), cleantext.Line(c.Association)
		out.Text, out.URL = strings.TrimSpace(cleantext.Block(c.Body)), cleantext.Line(c.URL)
		out.UpdatedAt = cleantext.Line(c.CreatedAt)
		out.Replies = max(t.Opening.Total-1, 0)
	}
	if len(t.Latest.Nodes) > 0 && t.Latest.Nodes[0] != nil {
		out.UpdatedAt = cleantext.Line(t.Latest.Nodes[0].CreatedAt)
	}
	return out
}

// Check is a check run, or a commit status.
type Check struct {
	Type       string  `json:"__typename"`
	ID         int64   `json:"databaseId"`
	Name       string  `json:"name"`
	Status     string  `json:"status"`
	Conclusion *string `json:"conclusion"`
	DetailsURL string  `json:"detailsUrl"`
	Context    string  `json:"context"`
	State      string  `json:"state"`
	TargetURL  string  `json:"targetUrl"`
	Required   bool    `json:"isRequired"`
	Suite      *struct {
		App *struct {
			Slug string `json:"slug"`
		} `json:"app"`
	} `json:"checkSuite"`
}

// Model returns the check.
func (n Check) Model() pullrequest.Check {
	if n.Type == "StatusContext" {
		c := pullrequest.StatusCheck(n.Context, lower(n.State), n.TargetURL)
		c.Required = n.Required
		return c
	}
	c := pullrequest.Check{Name: cleantext.Line(n.Name), Status: lower(n.Status), URL: cleantext.Line(n.DetailsURL), Required: n.Required}
	if n.Conclusion != nil && *n.Conclusion != "" {
		c.Conclusion = new(lower(*n.Conclusion))
	}
	if n.Suite != nil && n.Suite.App != nil && n.Suite.App.Slug == pullrequest.ActionsApp {
		c.Job = n.ID
	}
	return c
}
