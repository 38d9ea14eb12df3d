// Package here is what the branches, github and jira toolsets know about the
// place where their server stands: the repository, the branch that is checked
// out and what is linked to it, the repository on GitHub. Its errors are in the
// envelope's form, worded once for all tools.
package here

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workspace"
)

// Here is the place of one server.
type Here struct {
	// Program is the name that messages give the server.
	Program string
	// Init is the command that makes a state, as messages name it.
	Init string
	// Workspace is the worktree that the server answers for.
	Workspace *workspace.Workspace
	// GitHubHost is the host that $GH_HOST names, "" for none.
	GitHubHost string
}

// Repo is the repository.
func (h *Here) Repo(ctx context.Context) (*git.Repo, error) {
	repo, err := h.Workspace.Repo(ctx)
	return repo, h.Explain(err)
}

// State is the branch state of the repository.
func (h *Here) State(ctx context.Context) (*twig.State, error) {
	state, err := h.Workspace.State(ctx)
	return state, h.Explain(err)
}

// Head is what is checked out.
func (h *Here) Head(ctx context.Context) (git.Head, error) {
	repo, err := h.Repo(ctx)
	if err != nil {
		return git.Head{}, err
	}
	head, err := repo.Head(ctx)
	if head.Branch != "" && errors.Is(err, refstore.ErrBroken) {
		// The file of the ref is damaged; which branch it is, is known.
		return head, nil
	}
	return head, h.Explain(err)
}

// Branches are the local branches, sorted by bytes.
func (h *Here) Branches(ctx context.Context) ([]string, error) {
	repo, err := h.Repo(ctx)
	if err != nil {
		return nil, err
	}
	names, err := repo.LocalBranches(ctx)
	return names, h.Explain(err)
}

// Explain gives an error of the repository or its state the envelope's form.
func (h *Here) Explain(err error) error {
	if err == nil {
		return nil
	}
	runHint := fmt.Sprintf("Run %s from within a git repository, or pass `--repo <path>`.", h.Program)
	var bad *twig.BadStateError
	switch {
	case errors.Is(err, twig.ErrNoState), errors.As(err, &bad):
		return &envelope.Error{
			Code:    envelope.NoTwigState,
			Message: "Failed to load twig state: " + err.Error(),
			Hint:    fmt.Sprintf("Run `%s` in this repository first.", h.Init),
			Err:     err,
		}
	case errors.Is(err, git.ErrNotRepository):
		return &envelope.Error{
			Code: envelope.NoRepo, Message: h.Program + " was started outside a git repository", Hint: runHint, Err: err,
		}
	}
	if broken, ok := errors.AsType[*git.BrokenError](err); ok {
		return &envelope.Error{
			Code:    envelope.NoRepo,
			Message: fmt.Sprintf("The git repository cannot be used: %q %s", broken.Path, broken.Problem),
			Hint:    "Remedy: " + broken.Remedy + ".",
			Err:     err,
		}
	}
	// What is left is a fault of the repository's files, or of the git program.
	return &envelope.Error{
		Code:    envelope.Internal,
		Message: "The git repository cannot be read: " + cleantext.Line(err.Error()),
		Hint:    "Check that `git status` works in it.",
		Err:     err,
	}
}

// linked is the metadata of the branch that is checked out. The argument and
// what it stands for are for messages.
func (h *Here) linked(ctx context.Context, argument string) (twig.Metadata, error) {
	head, err := h.Head(ctx)
	if err != nil {
		return twig.Metadata{}, err
	}
	if head.Detached {
		return twig.Metadata{}, &envelope.Error{
			Code:    envelope.InvalidParams,
			Message: fmt.Sprintf("No %s provided and could not detect current branch", argument),
			Hint:    provide(argument),
		}
	}
	state, err := h.State(ctx)
	if err != nil {
		return twig.Metadata{}, err
	}
	return state.Metadata(head.Branch), nil
}

// LinkedPullRequest is the number of the pull request that is linked to the
// branch checked out.
func (h *Here) LinkedPullRequest(ctx context.Context) (int, error) {
	meta, err := h.linked(ctx, "pr_number")
	if err != nil {
		return 0, err
	}
	if meta.PRNumber == 0 {
		return 0, &envelope.Error{
			Code:    envelope.NotFound,
			Message: fmt.Sprintf("Branch '%s' has no linked GitHub PR", meta.Branch),
			Hint:    provide("pr_number"),
		}
	}
	return int(meta.PRNumber), nil
}

// LinkedIssue is the key of the Jira issue that is linked to the branch checked
// out.
func (h *Here) LinkedIssue(ctx context.Context) (string, error) {
	meta, err := h.linked(ctx, "issue_key")
	if err != nil {
		return "", err
	}
	if meta.JiraIssue == "" {
		return "", &envelope.Error{
			Code:    envelope.NotFound,
			Message: fmt.Sprintf("Branch '%s' has no linked Jira issue", meta.Branch),
			Hint:    provide("issue_key"),
		}
	}
	return meta.JiraIssue, nil
}

func provide(argument string) string {
	return fmt.Sprintf("Provide an explicit %s parameter.", argument)
}

// GitHubRepository is the repository on GitHub that origin names.
func (h *Here) GitHubRepository(ctx context.Context) (github.Repo, error) {
	repo, err := h.Repo(ctx)
	if err != nil {
		return github.Repo{}, err
	}
	url, err := repo.RemoteURL(ctx, "origin")
	if errors.Is(err, git.ErrNoRemote) {
		return github.Repo{}, &envelope.Error{
			Code: envelope.NotFound, Message: "No 'origin' remote found", Hint: "Add a GitHub remote named 'origin'.",
		}
	}
	if err != nil {
		return github.Repo{}, h.Explain(err)
	}
	named, err := github.ParseRemote(url, func(host string) bool { return host == h.GitHubHost })
	if err != nil {
		return github.Repo{}, &envelope.Error{
			Code:    envelope.NotFound,
			Message: "Could not extract GitHub repo from remote URL: " + err.Error(),
			Hint:    "Ensure the 'origin' remote points to a GitHub repository.",
		}
	}
	return named, nil
}

// NamedRepository is the repository "owner/name" on the host of origin, or,
// where there is no GitHub origin, on the host of $GH_HOST, else on github.com.
func (h *Here) NamedRepository(ctx context.Context, name string) (github.Repo, error) {
	owner, repo, err := github.ParseFullName(name)
	if err != nil {
		return github.Repo{}, &toolset.ArgumentError{
			Name: "repository", Message: `Argument "repository" must be owner/name, such as "cli/cli"`,
		}
	}
	named := github.Repo{Host: "github.com", Owner: owner, Name: repo}
	if h.GitHubHost != "" {
		named.Host = h.GitHubHost
	}
	// Any failure means that there is no origin to take the host from.
	if origin, err := h.GitHubRepository(ctx); err == nil {
		named.Host = origin.Host
	}
	return named, nil
}
