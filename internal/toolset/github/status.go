package github

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// StatusIn selects a pull request and the parts to read.
type StatusIn struct {
	PRNumber   uint32 `json:"pr_number,omitempty" min:"1"`
	Repository string `json:"repository,omitempty"`
	Logs       bool   `json:"logs,omitempty" description:"Add the end of failing jobs' logs."`
}

// StatusOut is a pull request with everything that decides about its merge.
type StatusOut struct {
	pullrequest.Status
	AsOf time.Time `json:"as_of"`
}

// GetPRStatus reads a pull request with its reviews, checks and unresolved threads.
func (t *Tools) GetPRStatus(ctx context.Context, in StatusIn) (StatusOut, error) {
	ref, err := PullRequestIn{PRNumber: in.PRNumber, Repository: in.Repository}.ref()
	if err != nil {
		return StatusOut{}, err
	}
	s, err := t.requests.Status(ctx, ref, in.Logs)
	return StatusOut{Status: pull.Fit(secret.Of(ctx), s), AsOf: s.AsOf}, err
}
