package github

import (
	"context"
	"time"

	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// StatusOut is a pull request with everything that decides about its merge.
type StatusOut struct {
	gh.Status
	AsOf time.Time `json:"as_of"`
}

// GetPRStatus reads a pull request with its reviews and checks.
func (t *Tools) GetPRStatus(ctx context.Context, in PullRequestIn) (StatusOut, error) {
	ref, err := in.ref()
	if err != nil {
		return StatusOut{}, err
	}
	s, err := t.requests.Status(ctx, ref)
	return StatusOut{Status: pull.Fit(s), AsOf: s.AsOf}, err
}
