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
	// AsOf is when Jira last confirmed this.
	AsOf time.Time `json:"-"`
}

// InvalidError is an argument that was refused before anything was sent.
type InvalidError struct {
	// Argument is the name users know it by, e.g. "issue_key".
	Argument string
	// Message says what is wrong, and what is allowed.
	Message string
}

func (e *InvalidError) Error() string { return e.Argument + ": " + e.Message }
