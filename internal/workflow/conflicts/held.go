package conflicts

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts/listing"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
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
	// Merged is the ground on which the trunk has the commit, or the changes of the checked-out branch.
	Merged history.Ground
	// Unknown means that the files could not be compared, Partial that some of them could not.
	Unknown, Partial bool
	// Unexamined means that others were used more recently, and nothing but Root is known.
	Unexamined bool
}

// Worktrees returns the content of the worktrees, and the name of the trunk.
func (r *Radar) Worktrees(ctx context.Context) (trunk string, held []Held, err error) {
	if !r.begin(ctx) {
		return "", nil, ctx.Err()
	}
	defer r.end()
	g, err := r.survey(ctx, Request{}, true)
	if err != nil {
		return "", nil, err
	}
	defer g.save()
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
	commits, err := g.repo.CommitsOf(ctx, []string{refstore.BranchPrefix + standard, listing.OriginPrefix + standard})
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
			if h.Merged, err = g.ground(ctx, s); err != nil {
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

// ground returns the ground on which the trunk has what is checked out in a worktree. Without a branch,
// which keeps the steps, only the commits themselves count.
func (g *survey) ground(ctx context.Context, s *side) (history.Ground, error) {
	if merged, err := g.merged(ctx, s.head); err != nil || merged {
		return history.AllCommits, err
	}
	if g.trunk.head == "" || !s.branch {
		return history.NotContained, nil
	}
	key := s.head + " changed in " + g.trunk.head + g.shallow
	if m, ok := g.result(key); ok {
		return m.Ground, nil
	}
	ground, err := history.Contained(ctx, g.repo.Program(), s.head, g.trunk.head)
	if err != nil {
		return history.NotContained, ctx.Err() // what cannot be compared is not known to be merged
	}
	g.fresh.Merges[key] = results.Merge{Ground: ground}
	return ground, nil
}

// Changes contains the numbers of uncommitted changes of a worktree, as "git status" lists them.
type Changes struct {
	All int
	// Tracked are those of tracked files without a conflict, and Conflicted files that git could not
	// merge. InConflict is the first of these, "" if it is unknown.
	Tracked, Conflicted int
	InConflict          string
}

// Uncommitted returns the uncommitted changes of some worktrees, by root. It omits worktrees whose files could
// not all be compared. It does not wait for a report.
func (r *Radar) Uncommitted(ctx context.Context, roots []string) (map[string]Changes, error) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	listed, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, session.Explain(err)
	}
	stored := r.opened(repo.CommonDir())
	known := stored.Load()
	g := &survey{Radar: r, repo: repo, known: known, fresh: results.New()}
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
	select {
	case r.turn <- struct{}{}:
		stored.SaveWorktrees(known, g.fresh.Worktrees)
		r.end()
	default: // a report stores what it has found itself
	}
	changes := make(map[string]Changes, len(sides))
	for _, s := range sides {
		if s.state != nil && !s.state.Edits.Partial {
			edits := s.state.Edits
			changes[s.root] = Changes{All: s.changes(), Tracked: edits.Changed, Conflicted: edits.Conflicted, InConflict: edits.InConflict}
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
