// Package github is the toolset for pull requests: three read-only tools.
//
// Use [New]. Package workflow/pull reads pull requests, and decides what blocks their merge; this
// package defines the arguments, the sizes, and the form of the answers.
package github

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// Tools contains the handlers.
type Tools struct {
	form     envelope.Form
	requests *pull.Requests
}

// New returns the handlers.
func New(form envelope.Form, requests *pull.Requests) *Tools { return &Tools{form, requests} }

// Toolset returns the toolset "github".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true, OpenWorld: true}
	return toolset.Toolset{
		Name: "github", Instructions: []toolset.Instruction{
			{Say: "get_pr_status says why a pull request cannot be merged yet; it defaults to that of the current branch.", Tools: []string{"get_pr_status"}},
		}, Located: true,
		Tools: []toolset.Tool{
			envelope.Tool(t.form, toolset.Spec{
				Name:        "get_pull_request",
				Description: "Get full details for a GitHub pull request: description, reviewers, labels. Defaults to the current branch's PR.",
				Hints:       hints,
			}, t.GetPullRequest),
			envelope.Tool(t.form, toolset.Spec{
				Name:        "get_pr_status",
				Description: "Get PR details with reviews, unresolved review threads (comments), CI checks, logs of failing ones, and why a pull request cannot be merged. Defaults to the current branch's PR.",
				Hints:       hints,
			}, t.GetPRStatus),
			envelope.Tool(t.form, toolset.Spec{
				Name:        "list_pull_requests",
				Description: "List pull requests (PRs) for the current repository, open (the default), closed, or merged, newest first.",
				Hints:       hints,
			}, t.ListPullRequests),
		},
	}
}

// PullRequestIn selects a pull request.
type PullRequestIn struct {
	PRNumber   uint32 `json:"pr_number,omitempty" min:"1"`
	Repository string `json:"repository,omitempty" description:"owner/name; defaults to origin."`
}

// PullRequestOut is one pull request.
type PullRequestOut struct {
	pullrequest.PullRequest
	// Notes name the facts that this answer lacks, each with the reason.
	Notes []string  `json:"notes,omitempty"`
	AsOf  time.Time `json:"as_of"`
}

// GetPullRequest reads one pull request.
func (t *Tools) GetPullRequest(ctx context.Context, in PullRequestIn) (PullRequestOut, error) {
	ref, err := in.ref()
	if err != nil {
		return PullRequestOut{}, err
	}
	pr, err := t.requests.Get(ctx, ref)
	pr = pull.FitOne(secret.Of(ctx), pr)
	return PullRequestOut{PullRequest: pr, Notes: pr.Notes, AsOf: pr.AsOf}, err
}

// ref returns the requested pull request. In another repository, there is no current branch to take
// the number from.
func (in PullRequestIn) ref() (pull.Ref, error) {
	if in.Repository != "" && in.PRNumber == 0 {
		return pull.Ref{}, &toolset.ArgumentError{
			Name: "pr_number", Message: "pr_number is required with repository",
			Hint: "Use list_pull_requests with the same repository to find it.",
		}
	}
	return pull.Ref{Number: int(in.PRNumber), Repository: in.Repository}, nil
}
