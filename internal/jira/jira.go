// Package jira reads issues from Jira Cloud and from Jira Data Center.
//
// Use [ParseHost] for the address a user gave, [New] for a [Client] with their
// credentials, and [Client.Issue] and [Client.Search] for the issues. The
// client finds out which of the two products it talks to.
//
// It guarantees that
//
//   - what it asks is let out by [Host.Allow], and nothing else is: give that to
//     the transport (see package remote), and the client can only read;
//   - a caller's text in a query is data: it is quoted, or refused with an
//     [*InvalidError] before anything is sent;
//   - all text it returns is clean (see package cleantext), rich text as
//     Markdown;
//   - an answer that Jira gave to an anonymous visitor, because it did not take
//     the credentials, is an error and not an empty result;
//   - what went wrong with Jira is a *remote.Error. Only what never left, by
//     remote.ErrNotCached or remote.ErrNotAllowed, stays that.
package jira

import "time"

// service is Jira's name in errors.
const service = "Jira"

// Issue is what a reader wants to know of an issue. Text that Jira leaves empty
// or null is "".
type Issue struct {
	Key     string `json:"key"`
	Summary string `json:"summary"`
	// Description is Markdown from Jira Cloud, and wiki text as it was written
	// from Data Center. It is never cut.
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	// Assignee is the name shown for the user.
	Assignee string `json:"assignee,omitempty"`

	// The rest is known of an issue that was asked for by its key, not of one in a list.

	Type     string `json:"type,omitempty"`
	Priority string `json:"priority,omitempty"`
	// Parent is the epic, or the issue that a subtask belongs to.
	Parent *Ref `json:"parent,omitempty"`
	// Links lead to other issues.
	Links []Link `json:"links,omitempty"`
	// Comments are the last ones, the latest first.
	Comments []Comment `json:"comments,omitempty"`
	// TotalComments is how many there are, where Comments are not all.
	TotalComments int `json:"total_comments,omitempty"`
	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string `json:"notes,omitempty"`

	// AsOf is when Jira last confirmed this.
	AsOf time.Time `json:"-"`
}

// Ref names another issue.
type Ref struct {
	Key     string `json:"key"`
	Summary string `json:"summary,omitempty"`
	Status  string `json:"status,omitempty"`
}

// Link is a link to another issue.
type Link struct {
	// Relation says how this issue relates to the other one: "blocks", "is blocked by".
	Relation string `json:"relation"`
	Ref
}

// Comment is a comment.
type Comment struct {
	Author    string `json:"author,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
	// Text is Markdown or wiki text, as the description is.
	Text           string `json:"text"`
	TruncatedBytes int    `json:"truncated_bytes,omitempty"`
}

// InvalidError is an argument that was refused before anything was sent.
type InvalidError struct {
	// Argument is the name users know it by, e.g. "issue_key".
	Argument string
	// Message says what is wrong, and what is allowed.
	Message string
}

func (e *InvalidError) Error() string { return e.Argument + ": " + e.Message }
