package jira

import (
	"context"

	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
)

// seenIssues is the name of the list of issues.
const seenIssues = "issues"

// Seen returns the issues in Jira's earlier answers to any request, the latest answer first. It
// sends nothing.
func (c *Client) Seen() []seen.Entry { return c.seen.All(seenIssues) }

// note records issues for [Client.Seen].
func (c *Client) note(ctx context.Context, issues ...Issue) {
	if remote.FromCache(ctx) {
		return
	}
	entries := make([]seen.Entry, 0, len(issues))
	for _, i := range issues {
		entries = append(entries, seen.Entry{Key: i.Key, Title: i.Summary, State: i.Status, Person: i.Assignee, AsOf: i.AsOf})
	}
	c.seen.Add(seenIssues, entries...)
}
