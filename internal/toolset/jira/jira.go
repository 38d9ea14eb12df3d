// Package jira is the toolset for Jira issues: two read-only tools.
//
// Use [New]. Package workflow/issue reads issues; this package defines the arguments, the sizes,
// and the form of the answers.
package jira

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/issue"
)

// excerpt is the displayed length of a description in a list, in characters.
const excerpt = 280

// Tools contains the handlers.
type Tools struct {
	form   envelope.Form
	issues *issue.Issues
}

// New returns the handlers.
func New(form envelope.Form, issues *issue.Issues) *Tools { return &Tools{form, issues} }

// Toolset returns the toolset "jira".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true, OpenWorld: true}
	return toolset.Toolset{
		Name: "jira", Instructions: []toolset.Instruction{
			{Say: "get_jira_issue defaults to the issue of the current branch.", Tools: []string{"get_jira_issue"}},
		},
		Tools: []toolset.Tool{
			envelope.Tool(t.form, toolset.Spec{
				Name:        "get_jira_issue",
				Description: "Get details for a Jira issue (ticket): description, parent, links, last comments. Defaults to the current branch's linked issue.",
				Hints:       hints,
			}, t.GetJiraIssue),
			envelope.Tool(t.form, toolset.Spec{
				Name:        "list_jira_issues",
				Description: "List Jira issues (tickets, bugs) in a project, last updated first, with optional status (in progress) and assignee filters.",
				Hints:       hints,
			}, t.ListJiraIssues),
		},
	}
}

// IssueIn selects an issue.
type IssueIn struct {
	IssueKey string `json:"issue_key,omitempty" description:"E.g. PROJ-123. Defaults to the current branch's issue."`
}

// IssueOut is one issue, with its whole description.
type IssueOut struct {
	jira.Issue
	AsOf time.Time `json:"as_of"`
}

// GetJiraIssue reads one issue.
func (t *Tools) GetJiraIssue(ctx context.Context, in IssueIn) (IssueOut, error) {
	found, err := t.issues.Get(ctx, in.IssueKey)
	return IssueOut{Issue: issue.Fit(secret.Of(ctx), found), AsOf: found.AsOf}, argument(err)
}

// ListIn selects issues.
type ListIn struct {
	Project  string `json:"project" description:"Project key, e.g. PROJ."`
	Status   string `json:"status,omitempty" description:"Status name, e.g. In Progress."`
	Assignee string `json:"assignee,omitempty" description:"\"me\" is the current user."`
	Limit    *int   `json:"limit,omitempty" min:"1" max:"100" default:"50"`
	Cursor   string `json:"cursor,omitempty"`
}

// ListOut is a page of issues, their descriptions cut.
type ListOut struct {
	Issues     []jira.Issue `json:"issues"`
	Showing    string       `json:"showing,omitempty"`
	NextCursor string       `json:"next_cursor,omitempty"`
	AsOf       time.Time    `json:"as_of"`
}

var listLimits = page.Limits{Default: 50, Max: 100}

// ListJiraIssues reads a page of a project's issues.
func (t *Tools) ListJiraIssues(ctx context.Context, in ListIn) (ListOut, error) {
	query := jira.Query{Project: in.Project, Status: in.Status, Assignee: in.Assignee}
	jql, err := query.JQL()
	if err != nil {
		return ListOut{}, argument(err)
	}
	window, err := listLimits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, "list_jira_issues\n"+jql)
	if err != nil {
		return ListOut{}, &toolset.ArgumentError{Message: err.Error()}
	}
	position, skip, err := parsePosition(window.After)
	if err != nil {
		return ListOut{}, err
	}
	found, err := t.issues.Search(ctx, query, window.Limit+skip, position)
	if err != nil {
		return ListOut{}, argument(err)
	}
	return t.cut(found, window, position, skip), nil
}

// cut returns a page of the results: the first skip issues were shown before, and those that do not
// fit the budget are left for the next page, which begins at the same position of Jira's.
func (t *Tools) cut(found jira.Page, window page.Window, position string, skip int) ListOut {
	issues := found.Issues[min(skip, len(found.Issues)):]
	for i := range issues {
		issues[i].Description = cleantext.Cut(issues[i].Description, excerpt)
	}
	n := page.Fit(issues, page.Size, page.DefaultBudget)
	out := ListOut{Issues: issues[:n], AsOf: found.AsOf}
	switch {
	case n < len(issues):
		out.NextCursor = window.Cursor(formatPosition(position, skip+n))
	case found.Next != "":
		out.NextCursor = window.Cursor(formatPosition(found.Next, 0))
	default:
		return out
	}
	out.Showing = page.Page[jira.Issue]{Items: out.Issues, Total: found.Total, Next: out.NextCursor}.Showing()
	return out
}

// formatPosition returns a position in the list in the form of a cursor: a position of Jira's, and
// the number of issues to skip from there.
func formatPosition(position string, skip int) string {
	data, err := json.Marshal(offset{position, skip})
	if err != nil { // a string and a number always encode
		return ""
	}
	return string(data)
}

func parsePosition(s string) (position string, skip int, err error) {
	if s == "" {
		return "", 0, nil
	}
	var p offset
	if err := json.Unmarshal([]byte(s), &p); err != nil || p.Skip < 0 || p.Skip > listLimits.Max {
		return "", 0, &toolset.ArgumentError{Name: "cursor", Message: "cursor is damaged; call again without cursor"}
	}
	return p.Position, p.Skip, nil
}

type offset struct {
	Position string `json:"p,omitempty"`
	Skip     int    `json:"s,omitempty"`
}

// argument converts an argument that the client refused to the tools' error.
func argument(err error) error {
	if bad, ok := errors.AsType[*jira.InvalidError](err); ok {
		return &toolset.ArgumentError{Name: bad.Argument, Message: fmt.Sprintf("Argument %q %s", bad.Argument, bad.Message)}
	}
	return err
}
