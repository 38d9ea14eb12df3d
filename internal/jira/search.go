package jira

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/copse-dev/copse/internal/remote"
)

const (
	// maxPage is Cloud's maximum number of issues with fields in one answer.
	maxPage = 100
	// maxRequests limits one search. Cloud may answer with pages that are shorter than requested,
	// or empty, and still have more.
	maxRequests = 20
	// maxDescription is the number of characters kept of a description: Jira's own limit.
	maxDescription = 32_767
	// maxName is the number of characters kept of a summary or a name. Jira's limit is 255.
	maxName = 300
)

// Page is a part of the results of a search.
type Page struct {
	Issues []Issue
	// Next is the cursor of the issues after Issues; empty if there are none.
	Next string
	// Total is the number of matching issues, nil if it is unknown: Cloud reports none, unless the
	// page is complete.
	Total *int
	// AsOf is when Jira last confirmed this.
	AsOf time.Time
}

// Search returns up to limit issues that match q, from cursor on: the Next of an earlier page of
// the same query, or "" for the beginning. A page may have fewer than limit issues and yet have a
// Next. The error is an [*InvalidError] or a *remote.Error.
func (c *Client) Search(ctx context.Context, q Query, limit int, cursor string) (Page, error) {
	jql, err := q.JQL()
	if err != nil {
		return Page{}, err
	}
	if limit < 1 {
		return Page{}, &InvalidError{Argument: "limit", Message: "must be at least 1"}
	}
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	kind, err := c.product(ctx)
	if err != nil {
		return Page{}, err
	}
	fetch := c.cloudPage
	if kind == dataCenter {
		fetch = c.dataCenterPage
	}
	all := Page{Issues: []Issue{}, Next: cursor}
	seen := map[string]bool{}
	for range maxRequests {
		seen[all.Next] = true
		page, err := fetch(ctx, jql, min(limit-len(all.Issues), maxPage), all.Next)
		if err != nil {
			return Page{}, refusedValue(err, all.Next)
		}
		all.Issues = append(all.Issues, page.Issues...)
		all.Next, all.Total = page.Next, page.Total
		if all.AsOf.IsZero() {
			all.AsOf = page.AsOf // the oldest time applies to all
		}
		if all.Next == "" || len(all.Issues) >= limit {
			break
		}
		if seen[all.Next] {
			return Page{}, c.failed(http.StatusOK, "returned the same page of a search twice")
		}
	}
	if all.Total == nil && all.Next == "" && cursor == "" {
		total := len(all.Issues)
		all.Total = &total
	}
	c.note(ctx, all.Issues...)
	return all, nil
}

// refusedValue explains a 400. The query itself is well-formed, so Jira rejects a project, a
// status, or a user that it does not know, or an old cursor.
func refusedValue(err error, cursor string) error {
	var e *remote.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return err
	}
	if cursor != "" {
		return &InvalidError{Argument: "cursor", Message: "is not from this Jira, or is too old; call again without cursor"}
	}
	e.Kind = remote.NotFound
	return e
}

// cloudPage gets one page of Jira Cloud, whose cursors are tokens.
func (c *Client) cloudPage(ctx context.Context, jql string, limit int, token string) (Page, error) {
	var answer struct {
		Issues        json.RawMessage `json:"issues"`
		NextPageToken string          `json:"nextPageToken"`
		IsLast        bool            `json:"isLast"`
	}
	asOf, err := c.call(ctx, http.MethodPost, cloudSearch, struct {
		JQL           string   `json:"jql"`
		MaxResults    int      `json:"maxResults"`
		Fields        []string `json:"fields"`
		NextPageToken string   `json:"nextPageToken,omitempty"`
	}{jql, limit, fields[:], token}, &answer)
	if err != nil {
		return Page{}, err
	}
	page := Page{AsOf: asOf}
	if !answer.IsLast {
		page.Next = answer.NextPageToken
	}
	page.Issues, err = c.issues(answer.Issues, asOf)
	return page, err
}

// dataCenterPage gets one page of Jira Data Center, whose cursors are numbers of
// issues.
func (c *Client) dataCenterPage(ctx context.Context, jql string, limit int, cursor string) (Page, error) {
	start := 0
	if cursor != "" {
		var err error
		if start, err = strconv.Atoi(cursor); err != nil || start < 0 {
			return Page{}, &InvalidError{Argument: "cursor", Message: "is not from this Jira"}
		}
	}
	var answer struct {
		Issues json.RawMessage `json:"issues"`
		Total  *int            `json:"total"`
	}
	asOf, err := c.call(ctx, http.MethodPost, dataCenterSearch, struct {
		JQL        string   `json:"jql"`
		StartAt    int      `json:"startAt"`
		MaxResults int      `json:"maxResults"`
		Fields     []string `json:"fields"`
	}{jql, start, limit, fields[:]}, &answer)
	if err != nil {
		return Page{}, err
	}
	issues, err := c.issues(answer.Issues, asOf)
	if err != nil {
		return Page{}, err
	}
	page := Page{Issues: issues, Total: answer.Total, AsOf: asOf}
	end := start + len(issues)
	more := len(issues) == limit // if it is missing
	if answer.Total != nil {
		more = len(issues) > 0 && end < *answer.Total
	}
	if more {
		page.Next = strconv.Itoa(end)
	}
	return page, nil
}

// issues decodes the list of an answer to a search.
func (c *Client) issues(raw json.RawMessage, asOf time.Time) ([]Issue, error) {
	var list []wireIssue
	if raw == nil || json.Unmarshal(raw, &list) != nil {
		return nil, c.failed(http.StatusOK, "returned something that is not a list of issues")
	}
	list = list[:min(len(list), maxPage)]
	out := make([]Issue, 0, len(list))
	for _, w := range list {
		issue := w.issue()
		issue.AsOf = asOf
		out = append(out, issue)
	}
	return out, nil
}
