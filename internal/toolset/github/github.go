// Package github is the toolset for pull requests: three read-only tools over
// one GitHub client.
//
// Use [New]. What the tools need is in two small interfaces: [Place] knows the
// repository and the pull request of the branch that is checked out, [Clients]
// finds a client for a host. Both return errors in the envelope's form, or
// errors that the envelope knows. Checks happen in this order: arguments,
// repository, remote, number, credentials, network.
package github

import (
	"context"
	"time"

	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// Place is where the server stands.
type Place interface {
	// GitHubRepository is the repository that origin names.
	GitHubRepository(ctx context.Context) (gh.Repo, error)
	// NamedRepository is the repository "owner/name" on the host of origin, or
	// on github.com where there is no such origin.
	NamedRepository(ctx context.Context, name string) (gh.Repo, error)
	// LinkedPullRequest is the number linked to the branch checked out.
	LinkedPullRequest(ctx context.Context) (int, error)
}

// Clients finds credentials, and makes a client of them.
type Clients interface {
	GitHub(ctx context.Context, host string) (Client, error)
}

// Client is what the tools ask of GitHub.
type Client interface {
	PullRequest(ctx context.Context, r gh.Repo, n int) (gh.PullRequest, error)
	PullRequests(ctx context.Context, r gh.Repo, state gh.State, from gh.Cursor, limit int) (gh.Page, error)
	Status(ctx context.Context, r gh.Repo, n int) (gh.Status, error)
}

var _ Client = (*gh.Client)(nil)

// Tools holds the handlers.
type Tools struct {
	place   Place
	clients Clients
}

// New makes the handlers.
func New(place Place, clients Clients) *Tools { return &Tools{place: place, clients: clients} }

// Toolset is the toolset "github".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true}
	return toolset.Toolset{
		Name: "github",
		Tools: []toolset.Tool{
			envelope.Tool(toolset.Spec{
				Name:        "get_pull_request",
				Title:       "Pull request",
				Description: "Get full details for a GitHub pull request. Defaults to the current branch's PR.",
				Hints:       hints,
			}, t.GetPullRequest),
			envelope.Tool(toolset.Spec{
				Name:        "get_pr_status",
				Title:       "Pull request status",
				Description: "Get PR details with reviews, CI check status and what blocks the merge. Defaults to the current branch's PR.",
				Hints:       hints,
			}, t.GetPRStatus),
			envelope.Tool(toolset.Spec{
				Name:        "list_pull_requests",
				Title:       "Pull requests",
				Description: "List pull requests for the current repository, newest first. Defaults to open PRs.",
				Hints:       hints,
			}, t.ListPullRequests),
		},
	}
}

// PullRequestIn selects a pull request.
type PullRequestIn struct {
	PRNumber   uint32 `json:"pr_number,omitempty" min:"1" description:"Defaults to the current branch's PR."`
	Repository string `json:"repository,omitempty" description:"owner/name; defaults to origin."`
}

// PullRequestOut is one pull request.
type PullRequestOut struct {
	gh.PullRequest
	AsOf time.Time `json:"as_of"`
}

// GetPullRequest reads one pull request.
func (t *Tools) GetPullRequest(ctx context.Context, in PullRequestIn) (PullRequestOut, error) {
	client, repo, n, err := t.resolve(ctx, in)
	if err != nil {
		return PullRequestOut{}, err
	}
	pr, err := client.PullRequest(ctx, repo, n)
	if err != nil {
		return PullRequestOut{}, err
	}
	return PullRequestOut{PullRequest: pr, AsOf: pr.AsOf}, nil
}

// resolve finds repository, number and client, in this order.
func (t *Tools) resolve(ctx context.Context, in PullRequestIn) (Client, gh.Repo, int, error) {
	repo, err := t.repository(ctx, in.Repository)
	if err != nil {
		return nil, gh.Repo{}, 0, err
	}
	n := int(in.PRNumber)
	if n == 0 {
		if in.Repository != "" {
			return nil, gh.Repo{}, 0, &toolset.ArgumentError{
				Name: "pr_number", Message: "pr_number is required with repository",
				Hint: "Use list_pull_requests with the same repository to find it.",
			}
		}
		if n, err = t.place.LinkedPullRequest(ctx); err != nil {
			return nil, gh.Repo{}, 0, err
		}
	}
	client, err := t.clients.GitHub(ctx, repo.Host)
	return client, repo, n, err
}

func (t *Tools) repository(ctx context.Context, name string) (gh.Repo, error) {
	if name == "" {
		return t.place.GitHubRepository(ctx)
	}
	return t.place.NamedRepository(ctx, name)
}
