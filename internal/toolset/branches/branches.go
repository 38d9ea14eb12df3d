// Package branches is the toolset for the branches of a repository and their stacks: seven tools,
// two prompts, and three resources. All of them are local, except the resource that combines a
// branch with its issue and its pull request.
//
// Use [New]. The handlers are methods; their answers are defined next to them.
package branches

import (
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Options are the sources besides the branches.
type Options struct {
	// Form is the form of the results.
	Form envelope.Form
	// Repositories is the user's list of repositories.
	Repositories *repolist.List
	// Services read the linked issues and pull requests.
	Services stack.Services
}

// Tools contains the handlers.
type Tools struct {
	branches *stack.Branches
	opts     Options
}

// New returns the handlers.
func New(b *stack.Branches, opts Options) *Tools { return &Tools{branches: b, opts: opts} }

// Toolset returns the toolset "branches".
func (t *Tools) Toolset() toolset.Toolset {
	form := t.opts.Form
	hints := toolset.Hints{ReadOnly: true, Idempotent: true}
	return toolset.Toolset{
		Name: "branches", Located: true,
		Tools: []toolset.Tool{
			envelope.Tool(form, toolset.Spec{
				Name: "get_current_branch", Hints: hints,
				Description: "Get the current git branch name (which branch am I on) and its linked Jira issue and GitHub PR",
			}, t.GetCurrentBranch),
			envelope.Tool(form, toolset.Spec{
				Name: "get_branch_metadata", Hints: hints,
				Description: "Get metadata for a specific branch (Jira issue, PR number, parent branch)",
			}, t.GetBranchMetadata),
			envelope.Tool(form, toolset.Spec{
				Name: "get_branch_tree", Hints: hints,
				Description: "Get the branch dependency tree for the current repository: how stacked branches depend on each other",
			}, t.GetBranchTree),
			envelope.Tool(form, toolset.Spec{
				Name: "get_branch_stack", Hints: hints,
				Description: "Get the ancestor chain (stack) from a branch up to its root: what it is stacked on",
			}, t.GetBranchStack),
			envelope.Tool(form, toolset.Spec{
				Name: "list_branches", Title: "Tracked branches", Hints: hints,
				Description: "List all twig-tracked branches in the current repository",
			}, t.ListBranches),
			envelope.Tool(form, toolset.Spec{
				Name: "list_repositories", Anywhere: true, Hints: hints,
				Description: "List all twig-registered repositories",
			}, t.ListRepositories),
			envelope.Tool(form, toolset.Spec{
				Name: "get_worktrees", Hints: hints,
				Description: "Get active worktrees (checkouts) for the current repository",
			}, t.GetWorktrees),
		},
		Instructions: []toolset.Instruction{
			{
				Say:   "The cheapest first call is get_current_branch: the branch, its Jira issue and its pull request. get_branch_stack adds the branches that it builds on.",
				Tools: []string{"get_current_branch", "get_branch_stack"}, First: true,
			},
			{
				Say:   "get_stack_status returns what blocks a stack and the next step, get_conflicts the branches and worktrees that will conflict.",
				Tools: []string{"get_stack_status", "get_conflicts"},
			},
		},
		Prompts:   t.prompts(),
		Resources: t.resources(),
		Templates: t.templates(),
	}
}
