package jira

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// Linked is what Jira says of an issue, for views that join several sources. A
// failure is a fact too.
func (t *Tools) Linked(ctx context.Context, key string) fact.Fact[jira.Issue] {
	client, err := t.clients.Jira(ctx)
	if err == nil {
		var issue jira.Issue
		if issue, err = client.Issue(ctx, key); err == nil {
			return fact.Known(issue, "Jira", issue.AsOf)
		}
	}
	if errors.Is(err, remote.ErrNotCached) {
		return fact.Unavailable[jira.Issue](fact.NotFetched, "")
	}
	e := envelope.Of(argument(err))
	return fact.Unavailable[jira.Issue](e.Message, e.Hint)
}
