// Package githubtest is a fake GitHub with given content: a server with the read part of the REST
// API that package github uses, over real HTTP, for tests and demonstrations.
//
// Describe it with a [Fixture], in Go or in JSON ([Load]), and [Start] it. It answers as GitHub
// does: with GitHub's fields, its pages and Link headers, its ETags and "not modified", its
// rate-limit headers, and the bodies of its errors. It requires the given token, records every
// request, and fails according to each [Fault].
package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Fixture is the content of a server.
type Fixture struct {
	// Token is the accepted token; empty accepts every request.
	Token        string       `json:"token"`
	Repositories []Repository `json:"repositories"`
	Faults       []Fault      `json:"faults,omitempty"`
	// RESTOnly disables the GraphQL API.
	RESTOnly bool `json:"rest_only,omitempty"`
	// UnknownFields are fields that its GraphQL schema lacks, like that of an older Enterprise
	// server; ForbiddenFields are those that the token may not see.
	UnknownFields   []string `json:"unknown_fields,omitempty"`
	ForbiddenFields []string `json:"forbidden_fields,omitempty"`
	// NoOrgScope means a token without the scope read:org.
	NoOrgScope bool `json:"no_org_scope,omitempty"`
	// StoreRanges selects the ranges that the store of logs supports: all if empty, "from" (none
	// that count from the end), or "none".
	StoreRanges string `json:"store_ranges,omitempty"`
	// Date, RFC 3339, is the time on the server's clock; empty is the real time.
	Date string `json:"date,omitempty"`
}

// Repository is one repository.
type Repository struct {
	Name string `json:"name"` // owner/name
	// FormerNames are answered with a redirect, as after a rename.
	FormerNames  []string      `json:"former_names,omitempty"`
	PullRequests []PullRequest `json:"pull_requests"`
	// Protection and Rules are requirements for all branches: by branch protection, which GraphQL
	// reports, and by rule sets, which REST reports.
	Protection *Demands `json:"protection,omitempty"`
	Rules      *Demands `json:"rules,omitempty"`
}

// Demands are the conditions for a merge.
type Demands struct {
	Checks         []string `json:"checks,omitempty"`
	Approvals      int      `json:"approvals,omitempty"`
	ResolveThreads bool     `json:"resolve_threads,omitempty"`
	CodeOwners     bool     `json:"code_owners,omitempty"`
	Other          []string `json:"other,omitempty"` // types of further rules
}

// PullRequest is one pull request, with its reviews, threads, and checks. Missing fields are filled
// in; only Number is required.
type PullRequest struct {
	Number             int      `json:"number"`
	Title              string   `json:"title,omitempty"`
	Body               *string  `json:"body,omitempty"`
	State              string   `json:"state,omitempty"`  // open or closed
	Author             string   `json:"author,omitempty"` // empty: the account was deleted, the user is null
	Base               string   `json:"base,omitempty"`
	Head               string   `json:"head,omitempty"`
	HeadRepo           string   `json:"head_repo,omitempty"` // owner/name of a fork; empty: the repository
	SHA                string   `json:"sha,omitempty"`       // of the head commit
	Draft              bool     `json:"draft,omitempty"`
	Mergeable          *bool    `json:"mergeable,omitempty"`
	MergeableState     string   `json:"mergeable_state,omitempty"`
	Merged             bool     `json:"merged,omitempty"`
	CreatedAt          string   `json:"created_at,omitempty"`
	UpdatedAt          string   `json:"updated_at,omitempty"`
	RequestedReviewers []string `json:"requested_reviewers,omitempty"`
	RequestedTeams     []string `json:"requested_teams,omitempty"`

	Labels      []string `json:"labels,omitempty"`
	Association string   `json:"author_association,omitempty"` // empty: CONTRIBUTOR
	// ReviewDecision is GitHub's, in GraphQL: approved, changes_requested, review_required; empty
	// if no rule requires a review.
	ReviewDecision string `json:"review_decision,omitempty"`
	AutoMerge      string `json:"auto_merge,omitempty"`     // merge, squash or rebase
	QueuePosition  int    `json:"queue_position,omitempty"` // 0: not in the merge queue

	Reviews   []Review   `json:"reviews,omitempty"` // the oldest first
	Threads   []Thread   `json:"threads,omitempty"` // the oldest first
	CheckRuns []CheckRun `json:"check_runs,omitempty"`
	Statuses  []Status   `json:"statuses,omitempty"`

	// Override replaces fields of the answer, with null for one.
	Override map[string]any `json:"override,omitempty"`
}

// Review is one review. A PENDING one has no time of submission.
type Review struct {
	Author string `json:"author,omitempty"` // empty: the user is null
	State  string `json:"state"`
	Body   string `json:"body,omitempty"`
}

// Thread is a review thread.
type Thread struct {
	File     string    `json:"file"`
	Line     int       `json:"line,omitempty"` // 0: about the file
	Resolved bool      `json:"resolved,omitempty"`
	Outdated bool      `json:"outdated,omitempty"`
	Comments []Comment `json:"comments"`
}

// Comment is a comment in a thread.
type Comment struct {
	Author      string `json:"author,omitempty"` // empty: the account was deleted
	Association string `json:"association,omitempty"`
	Body        string `json:"body"`
	CreatedAt   string `json:"created_at,omitempty"`
}

// Step is a step of a job of GitHub Actions.
type Step struct {
	Name       string `json:"name"`
	Conclusion string `json:"conclusion,omitempty"` // empty: success
	Log        string `json:"log,omitempty"`
}

// CheckRun is one check run. With steps or a log it is a job of GitHub Actions.
type CheckRun struct {
	Name       string `json:"name"`
	Status     string `json:"status,omitempty"`     // empty: completed
	Conclusion string `json:"conclusion,omitempty"` // empty: null
	URL        string `json:"url,omitempty"`        // of the details
	Steps      []Step `json:"steps,omitempty"`
	// Log replaces the logs of the steps.
	Log string `json:"log,omitempty"`
}

// Status is one commit status.
type Status struct {
	Context string `json:"context"`
	State   string `json:"state"` // pending, success, failure, error
	URL     string `json:"url,omitempty"`
}

// Fault makes the server misbehave.
type Fault struct {
	Kind Kind `json:"kind"`
	// Path is a part of the path and query of the affected requests; empty affects all.
	Path string `json:"path,omitempty"`
	// Times is the number of affected requests; 0 is all.
	Times int `json:"times,omitempty"`
	// Location is the target of Redirect.
	Location string `json:"location,omitempty"`
}

// Kind is the kind of failure.
type Kind string

// The kinds of faults.
const (
	Unauthorized       Kind = "unauthorized"         // 401, bad credentials
	Forbidden          Kind = "forbidden"            // 403, the token may not
	NotFound           Kind = "not_found"            // 404
	Unprocessable      Kind = "unprocessable"        // 422
	RateLimit          Kind = "rate_limit"           // 403, the primary limit, with X-RateLimit headers
	SecondaryLimit     Kind = "secondary_limit"      // 403 with Retry-After
	SecondaryLimitBare Kind = "secondary_limit_bare" // 403 that only the text distinguishes from Forbidden
	TooMany            Kind = "too_many"             // 429 with Retry-After
	ServerError        Kind = "server_error"         // 500
	BadGateway         Kind = "bad_gateway"          // 502 with a web page
	WebPage            Kind = "web_page"             // 200 with a web page
	Garbage            Kind = "garbage"              // 200 with something that is not JSON
	EmptyObject        Kind = "empty_object"         // 200 with {}
	Hang               Kind = "hang"                 // no answer
	HangBody           Kind = "hang_body"            // half an answer, then silence
	Truncate           Kind = "truncate"             // half an answer, and the connection closed
	Reset              Kind = "reset"                // the connection closed without an answer
	Redirect           Kind = "redirect"             // 302 to Location
	Echo               Kind = "echo"                 // 422 with the credentials of the request in its message
)

var kinds = [...]Kind{
	Unauthorized, Forbidden, NotFound, Unprocessable, RateLimit, SecondaryLimit, SecondaryLimitBare, TooMany,
	ServerError, BadGateway, WebPage, Garbage, EmptyObject, Hang, HangBody, Truncate, Reset, Redirect, Echo,
}

// Load reads a fixture from JSON.
func Load(r io.Reader) (Fixture, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var f Fixture
	if err := d.Decode(&f); err != nil {
		return Fixture{}, fmt.Errorf("read fixture: %w", err)
	}
	return f, f.check()
}

func (f Fixture) check() error {
	if _, err := time.Parse(time.RFC3339, f.Date); f.Date != "" && err != nil {
		return fmt.Errorf("check fixture: date: %w", err)
	}
	for _, r := range f.Repositories {
		if strings.Count(r.Name, "/") != 1 {
			return fmt.Errorf("check fixture: repository %q: want owner/name", r.Name)
		}
		for _, p := range r.PullRequests {
			if p.Number <= 0 {
				return fmt.Errorf("check fixture: repository %q: pull request without a number", r.Name)
			}
		}
	}
	for _, fault := range f.Faults {
		known := false
		for _, k := range kinds {
			known = known || k == fault.Kind
		}
		if !known {
			return fmt.Errorf("check fixture: no fault %q; there are %q", fault.Kind, kinds)
		}
	}
	return nil
}

// filled returns p with its missing fields filled in.
func (p PullRequest) filled() PullRequest {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(p.Number) * time.Hour).Format(time.RFC3339)
	p.Title = cmp.Or(p.Title, fmt.Sprintf("Pull request %d", p.Number))
	p.State = cmp.Or(p.State, "open")
	p.Base = cmp.Or(p.Base, "main")
	p.Head = cmp.Or(p.Head, fmt.Sprintf("branch-%d", p.Number))
	p.SHA = cmp.Or(p.SHA, fmt.Sprintf("%040x", p.Number))
	p.MergeableState = cmp.Or(p.MergeableState, "unknown")
	p.CreatedAt = cmp.Or(p.CreatedAt, made)
	p.UpdatedAt = cmp.Or(p.UpdatedAt, p.CreatedAt)
	return p
}
