// Package jira reads issues from Jira Cloud and from Jira Data Center.
//
// Use [ParseHost] for the address that a user gave, [New] for a [Client] with their
// credentials, and [Client.Issue] and [Client.Search] for the issues. The
// client detects which of the two products it uses.
//
// It guarantees that
//
//   - [Host.Allow] allows its requests, and nothing else: give it to
//     the transport (see package remote), and the client can only read;
//   - a caller's text in a query is data: it is quoted, or refused with an
//     [*InvalidError] before anything is sent;
//   - all text that it returns is clean (see package cleantext), rich text as
//     Markdown;
//   - an answer that Jira gave to an anonymous visitor, because it did not accept
//     the credentials, is an error and not an empty result;
//   - a failure of Jira is a *remote.Error. Only a request that was never sent
//     remains remote.ErrNotCached or remote.ErrNotAllowed.
package jira

import "time"

// service is Jira's name in errors.
const service = "Jira"

// Issue is the content of an issue for a reader. Text that is empty or null in Jira is "".
type Issue struct {
	Key     string `json:"key"`
	Summary string `json:"summary"`
	// Description is Markdown from Jira Cloud, and unchanged wiki text from Data Center. It is cut
	// where Jira's own limit is.
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	// Assignee is the display name of the user.
	Assignee string `json:"assignee,omitempty"`

	// The rest is known only for an issue that was requested by its key, not for one in a list.

	Type     string `json:"type,omitempty"`
	Priority string `json:"priority,omitempty"`
	// Parent is the epic, or the issue that a subtask belongs to.
	Parent *Ref `json:"parent,omitempty"`
	// Links lead to other issues.
	Links []Link `json:"links,omitempty"`
	// Comments are the last ones, the latest first.
	Comments []Comment `json:"comments,omitempty"`
	// TotalComments is the total number, if Comments are not all.
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
	// Relation is how this issue relates to the other one: "blocks", "is blocked by".
	Relation string `json:"relation"`
	Ref
}

// Comment is a comment.
type Comment struct {
	Author    string `json:"author,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
	// Text is Markdown or wiki text, like the description.
	Text           string `json:"text"`
	TruncatedBytes int    `json:"truncated_bytes,omitempty"`
}

// InvalidError is an argument that was refused before anything was sent.
type InvalidError struct {
	// Argument is the name that users know, for example "issue_key".
	Argument string
	// Message states what is wrong, and what is allowed.
	Message string
}

func (e *InvalidError) Error() string { return e.Argument + ": " + e.Message }
