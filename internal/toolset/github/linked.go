package github

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/fact"
	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// Linked is what GitHub says of pull request n of the repository here, for
// views that join several sources. A failure is a fact too.
func (t *Tools) Linked(ctx context.Context, n uint32) fact.Fact[gh.Status] {
	client, repo, number, err := t.resolve(ctx, PullRequestIn{PRNumber: n})
	if err == nil {
		var s gh.Status
		if s, err = client.Status(ctx, repo, number); err == nil {
			return fact.Known(fit(s), "GitHub", s.AsOf)
		}
	}
	if errors.Is(err, remote.ErrNotCached) {
		return fact.Unavailable[gh.Status](fact.NotFetched, "")
	}
	e := envelope.Of(err)
	return fact.Unavailable[gh.Status](e.Message, e.Hint)
}
