// Package branches is the toolset for the branches of a repository and how they
// are stacked: seven tools, two prompts and three resources, all of them local
// but the resource that joins a branch with its issue and its pull request.
//
// Use [New]. The handlers are methods; what they answer is defined beside them.
package branches

import (
	"context"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/toolset/here"
)

// Place is where the server stands. Its errors are in the envelope's form; those
// of the repository itself are brought into it by Explain.
type Place interface {
	Repo(ctx context.Context) (*git.Repo, error)
	Head(ctx context.Context) (git.Head, error)
	Branches(ctx context.Context) ([]string, error)
	State(ctx context.Context) (*twig.State, error)
	Explain(err error) error
}

var _ Place = (*here.Here)(nil)

// Options are the sources beside the place.
type Options struct {
	// Repositories is the user's list of repositories.
	Repositories *repolist.List
	// PullRequest and Issue ask the services what is linked to a branch; nil
	// where the service is switched off.
	PullRequest func(ctx context.Context, number uint32) fact.Fact[gh.Status]
	Issue       func(ctx context.Context, key string) fact.Fact[jira.Issue]
}

// Tools holds the handlers.
type Tools struct {
	place Place
	opts  Options
}

// New makes the handlers.
func New(place Place, opts Options) *Tools { return &Tools{place: place, opts: opts} }

// Toolset is the toolset "branches".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true, Idempotent: true}
	return toolset.Toolset{
		Name: "branches",
		Tools: []toolset.Tool{
			envelope.Tool(toolset.Spec{
				Name: "get_current_branch", Title: "Current branch", Hints: hints,
				Description: "Get the current git branch name and its linked Jira issue and GitHub PR",
			}, t.GetCurrentBranch),
			envelope.Tool(toolset.Spec{
				Name: "get_branch_metadata", Title: "Branch metadata", Hints: hints,
				Description: "Get metadata for a specific branch (Jira issue, PR number, parent branch)",
			}, t.GetBranchMetadata),
			envelope.Tool(toolset.Spec{
				Name: "get_branch_tree", Title: "Branch tree", Hints: hints,
				Description: "Get the branch dependency tree for the current repository",
			}, t.GetBranchTree),
			envelope.Tool(toolset.Spec{
				Name: "get_branch_stack", Title: "Branch stack", Hints: hints,
				Description: "Get the ancestor chain (stack) from a branch up to its root",
			}, t.GetBranchStack),
			envelope.Tool(toolset.Spec{
				Name: "list_branches", Title: "Tracked branches", Hints: hints,
				Description: "List all twig-tracked branches in the current repository",
			}, t.ListBranches),
			envelope.Tool(toolset.Spec{
				Name: "list_repositories", Title: "Repositories", Hints: hints,
				Description: "List all twig-registered repositories",
			}, t.ListRepositories),
			envelope.Tool(toolset.Spec{
				Name: "get_worktrees", Title: "Worktrees", Hints: hints,
				Description: "Get active worktrees for the current repository",
			}, t.GetWorktrees),
		},
		Prompts:   t.prompts(),
		Resources: t.resources(),
		Templates: t.templates(),
	}
}

// Refs is what git says about the branches. Where HEAD is detached, or cannot be
// read, there is no current branch.
func (t *Tools) Refs(ctx context.Context) (branch.Refs, error) {
	local, err := t.place.Branches(ctx)
	if err != nil {
		return branch.Refs{}, err
	}
	repo, err := t.place.Repo(ctx)
	if err != nil {
		return branch.Refs{}, err
	}
	standard, err := repo.DefaultBranch(ctx)
	if err != nil {
		// A tree without git's opinion is better than none.
		standard = ""
	}
	return branch.NewRefs(local, standard, t.Current(ctx)), nil
}

// Current is the branch that is checked out; empty where there is none.
func (t *Tools) Current(ctx context.Context) string {
	head, err := t.place.Head(ctx)
	if err != nil {
		return ""
	}
	return head.Branch
}
