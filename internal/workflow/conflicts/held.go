package conflicts

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/session"
)

// Held is the content of a worktree that exists nowhere else.
type Held struct {
	// Root is the root of the worktree, Head the checked-out commit, "" before the first one.
	Root, Head string
	// Changed, Untracked and Conflicted count what differs from the commit as "git status" lists
	// it, each entry once.
	Changed, Untracked, Conflicted int
	// Submodules is the number of submodules that are checked out there. Their files do not count.
	Submodules int
	// Modules means that git has, or can have, repositories of submodules for the worktree alone, also
	// of those that are not checked out. They go with the worktree.
	Modules bool
	// Files are those that are changed or untracked. Callers must not change them.
	Files []git.Edit
	// Merged means that the trunk has the commit.
	Merged bool
	// Unknown means that the files could not be compared, Partial that some of them could not.
	Unknown, Partial bool
	// Unexamined means that others were used more recently, and nothing but Root is known.
	Unexamined bool
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
	listed = g.examined(listed)
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
	var unborn []*side
	for _, w := range listed {
		if w.Head == "" && !w.Bare && !w.Prunable {
			unborn = append(unborn, &side{name: w.Branch, root: w.Path})
		}
	}
	if err := g.readFiles(ctx, unborn); err != nil {
		return nil, err
	}
	var held []Held
	for _, s := range slices.Concat(g.worktrees, unborn) {
		h := Held{Root: s.root, Head: s.head, Unknown: s.state == nil}
		if s.state != nil {
			h.Changed, h.Untracked, h.Conflicted = s.state.Edits.Changed, s.state.Untracked, s.state.Edits.Conflicted
			h.Files, h.Partial = s.state.Edits.Files, s.state.Edits.Partial
		}
		if repo, err := g.open(ctx, s.root); err == nil {
			h.Submodules = len(repo.Submodules())
			h.Modules = !empty(filepath.Join(repo.GitDir(), "modules"))
		}
		if s.head != "" {
			if h.Merged, err = g.merged(ctx, s.head); err != nil {
				return nil, err
			}
		}
		held = append(held, h)
	}
	for _, root := range g.unexamined {
		held = append(held, Held{Root: root, Unexamined: true})
	}
	return held, nil
}

// Uncommitted returns the number of uncommitted changes of some worktrees, by root, as "git status" lists
// them. It omits worktrees whose files could not all be compared. It does not wait for a report.
func (r *Radar) Uncommitted(ctx context.Context, roots []string) (map[string]int, error) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	listed, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, session.Explain(err)
	}
	known := r.reader(repo.CommonDir()).load()
	g := &survey{Radar: r, repo: repo, known: known, fresh: newKept()}
	var sides []*side
	for _, w := range listed {
		if slices.Contains(roots, w.Path) {
			sides = append(sides, &side{name: w.Branch, root: w.Path, head: w.Head})
		} else if state := known.Worktrees[w.Path]; state != nil {
			g.fresh.Worktrees[w.Path] = state
		}
	}
	if err := g.readFiles(ctx, sides); err != nil {
		return nil, err
	}
	if r.mu.TryLock() { // a report stores what it has found itself
		r.reader(repo.CommonDir()).saveWorktrees(known, g.fresh.Worktrees)
		r.mu.Unlock()
	}
	changes := make(map[string]int, len(sides))
	for _, s := range sides {
		if s.state != nil && !s.state.Edits.Partial {
			changes[s.root] = s.changes()
		}
	}
	return changes, nil
}

// empty reports whether a directory is missing, or certainly has no entry.
func empty(path string) bool {
	dir, err := os.OpenFile(path, regular.Flags, 0) // does not wait for a named pipe
	if err != nil {
		return regular.Absent(err)
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
