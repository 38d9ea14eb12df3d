package conflicts

import (
	"context"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/session"
)

// Held is the content of a worktree that exists nowhere else.
type Held struct {
	// Root is the root of the worktree, Head the checked-out commit.
	Root, Head string
	// Changed, Untracked and Conflicted count files that differ from the commit; a file is
	// counted once.
	Changed, Untracked, Conflicted int
	// Files are those that are changed or untracked. Callers must not change them.
	Files []git.Edit
	// Merged means that the trunk has the commit.
	Merged bool
	// Unknown means that the files could not be compared.
	Unknown bool
}

// Worktrees returns the content of the worktrees, and the name of the trunk.
func (r *Radar) Worktrees(ctx context.Context) (trunk string, held []Held, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, err := r.survey(ctx, Request{})
	if err != nil {
		return "", nil, err
	}
	defer func() { g.cache.save(g.known, g.fresh) }()
	if held, err = g.held(ctx); err != nil {
		return "", nil, session.Explain(err)
	}
	return g.trunk.name, held, nil
}

func (g *survey) held(ctx context.Context) ([]Held, error) {
	standard, err := g.o.Branches.Session().View().Default(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := g.repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	// No other branch counts here.
	commits, err := g.repo.CommitsOf(ctx, []string{refstore.BranchPrefix + standard, originPrefix + standard})
	if err != nil {
		return nil, err
	}
	var tips []git.Tip
	for ref, commit := range commits {
		tips = append(tips, git.Tip{Ref: ref, Commit: commit})
	}
	if err := g.findTrunk(ctx, standard, tips); err != nil {
		return nil, err
	}
	if _, err := g.findWorktrees(ctx, listed); err != nil {
		return nil, err
	}
	var held []Held
	for _, s := range g.worktrees {
		h := Held{Root: s.root, Head: s.head, Unknown: s.state == nil}
		if s.state != nil {
			h.Untracked, h.Conflicted, h.Files = s.state.LeftOut, s.state.Edits.Conflicted, s.state.Edits.Files
			for _, e := range s.state.Edits.Files {
				if e.Untracked {
					h.Untracked++
				} else {
					h.Changed++
				}
			}
		}
		if h.Merged, err = g.merged(ctx, s.head); err != nil {
			return nil, err
		}
		held = append(held, h)
	}
	return held, nil
}
