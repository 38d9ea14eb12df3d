package backlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
)

// StartOptions configure the start of work on an item.
type StartOptions struct {
	// Branch is the name of the branch; "" is the linked branch of the item, or else one derived
	// from its title.
	Branch string
	// NewWorktree requests a separate worktree, .worktrees/<branch> next to the main one.
	NewWorktree bool
}

// Start describes the start of work on an item.
type Start struct {
	ID       item.ID `json:"id"`
	Branch   string  `json:"branch"`
	Worktree string  `json:"worktree,omitempty"`
	// Command is the git command that creates or switches to the branch.
	Command []string `json:"command"`
}

// PlanStart returns the start of work on an item. It changes nothing. The error is an
// [*item.HeldError] if another agent than that of the context holds the item.
func (b *Backlog) PlanStart(ctx context.Context, repo *git.Repo, id item.ID, o StartOptions) (Start, error) {
	it, err := b.backend.Item(ctx, id)
	if err != nil {
		return Start{}, err
	}
	all, err := b.backend.Snapshot(ctx)
	if err != nil {
		return Start{}, err
	}
	if c, held := all.Claim(id); held && !item.AgentOf(ctx).Continues(c.Holder) {
		return Start{}, &item.HeldError{ID: id, Claim: c}
	}
	if _, err := (item.Config{}).Check(item.Patch{Branch: &o.Branch}); err != nil {
		return Start{}, err
	}
	s := Start{ID: it.ID, Branch: cmp.Or(o.Branch, it.Link.Branch)}
	if s.Branch == "" {
		s.Branch = it.BranchName()
	}
	exists, err := repo.HasBranch(ctx, s.Branch)
	if err != nil {
		return Start{}, err
	}
	switch {
	case o.NewWorktree:
		dir := strings.ReplaceAll(strings.TrimPrefix(s.Branch, "tic/"), "/", "-")
		s.Worktree = filepath.Join(cmp.Or(repo.MainRoot(), repo.Root()), ".worktrees", dir)
		s.Command = []string{"git", "worktree", "add", "-b", s.Branch, s.Worktree}
		if exists {
			s.Command = []string{"git", "worktree", "add", s.Worktree, s.Branch}
		}
	case exists:
		s.Command = []string{"git", "switch", s.Branch}
	default:
		s.Command = []string{"git", "switch", "-c", s.Branch}
	}
	return s, nil
}

// inProgress is the status of a started item, in projects that have it.
const inProgress = "in-progress"

// Begin runs the command of a start, links the item with its branch and worktree, and
// sets it in progress if it is in the first status.
func (b *Backlog) Begin(ctx context.Context, repo *git.Repo, s Start) error {
	it, err := b.backend.Item(ctx, s.ID)
	if err != nil {
		return err
	}
	config, err := b.backend.Config(ctx)
	if err != nil {
		return err
	}
	p := item.Patch{Branch: &s.Branch}
	if s.Worktree != "" {
		p.Worktree = &s.Worktree
	}
	if it.Status == config.Statuses[0] && slices.Contains(config.Statuses, inProgress) {
		p.Status = new(inProgress)
	}
	if _, err := config.Check(p); err != nil { // before git changes anything
		return err
	}
	if _, err := repo.Program().Run(ctx, s.Command[1:]...); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(s.Command[:2], " "), err)
	}
	if _, err := b.backend.Update(ctx, it.ID, p); err != nil {
		return errors.Join(fmt.Errorf("the branch %s was created, but the item was not linked", s.Branch), err)
	}
	return nil
}
