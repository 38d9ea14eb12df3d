package conflicts

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/fingerprint"
	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// maxUntracked is the maximum number of compared untracked files of a worktree.
const maxUntracked = 1000

// state is the known state of a worktree's files.
type state struct {
	Print fingerprint.Print `json:"print"`
	// Edits are the files that differ from the checked-out commit.
	Edits git.Edits `json:"edits"`
	// Beside are directories in which files can appear that git does not ignore, and that
	// have none yet.
	Beside []string `json:"beside,omitempty"`
	// Commit is the last commit created from the files, "" if there is none.
	Commit string `json:"commit,omitempty"`
	// LeftOut is the number of untracked files that are not compared.
	LeftOut int `json:"left_out,omitempty"`
}

// readFiles finds the changed files of worktrees. It compares an unreadable worktree by its commit.
func (g *survey) readFiles(ctx context.Context, sides []*side) error {
	var reading errgroup.Group
	reading.SetLimit(runtime.GOMAXPROCS(0))
	failed := make([]error, len(sides))
	for i, s := range sides {
		reading.Go(func() error {
			s.state, failed[i] = g.readState(ctx, s)
			return ctx.Err()
		})
	}
	if err := reading.Wait(); err != nil {
		return err
	}
	for i, s := range sides {
		if failed[i] != nil {
			g.notes = append(g.notes, fmt.Sprintf("the uncommitted changes of %s are not compared: %v", s.name, failed[i]))
			continue
		}
		g.fresh.Worktrees[s.root] = s.state
		switch {
		case s.state.Edits.Conflicted > 0:
			g.notes = append(g.notes, fmt.Sprintf("the uncommitted changes of %s are not compared: %d files have unresolved conflicts", s.name, s.state.Edits.Conflicted))
			continue
		case s.state.LeftOut > 0:
			g.notes = append(g.notes, fmt.Sprintf("%d untracked files of %s are not compared", s.state.LeftOut, s.name))
		}
		if s.uncommitted = len(s.state.Edits.Files); s.uncommitted > 0 {
			s.commit = s.state.Commit
		}
	}
	return nil
}

// readState returns the state of a worktree: the known one while nothing has changed, or else git's
// answer.
func (g *survey) readState(ctx context.Context, s *side) (*state, error) {
	repo, err := g.open(ctx, s.root)
	if err != nil {
		return nil, err
	}
	if known := g.known.Worktrees[s.root]; known != nil && known.Print.Settled {
		files, err := filesOf(ctx, repo, s, known)
		if err == nil && g.seen.unchanged(ctx, files, known.Print.Sum) {
			return known, nil
		}
	}
	began := time.Now()
	found := &state{}
	if found.Edits, err = repo.Edits(ctx); err != nil {
		return nil, err
	}
	if err := lineEnds(ctx, repo, &found.Edits); err != nil {
		return nil, err
	}
	untracked := 0
	for _, e := range found.Edits.Files {
		if e.Untracked {
			untracked++
		}
	}
	if untracked > maxUntracked {
		kept := found.Edits.Files[:0:0]
		for _, e := range found.Edits.Files {
			if !e.Untracked {
				kept = append(kept, e)
			}
		}
		found.Edits.Files, found.LeftOut = kept, untracked
		return found, nil // otherwise, new files would not be seen
	}
	if found.Beside, err = beside(ctx, repo); err != nil {
		return found, nil //nolint:nilerr // git is asked each time
	}
	files, err := filesOf(ctx, repo, s, found)
	if err != nil {
		return found, nil //nolint:nilerr // as above
	}
	files.At = began
	if p, err := fingerprint.Of(ctx, files); err == nil {
		found.Print = p
	}
	return found, nil
}

// filesOf returns what a worktree's state depends on.
func filesOf(ctx context.Context, repo *git.Repo, s *side, in *state) (fingerprint.Files, error) {
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return fingerprint.Files{}, err
	}
	var untracked []string
	for _, e := range in.Edits.Files {
		if e.Untracked {
			untracked = append(untracked, e.Path)
		}
	}
	return fingerprint.Files{
		Root: s.root, Tracked: tracked.All(), Untracked: untracked, Beside: in.Beside,
		Others: others(ctx, repo), State: s.head, At: time.Now(),
	}, nil
}

// open returns the repository as seen from a worktree.
func (r *Radar) open(ctx context.Context, root string) (*git.Repo, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if known := r.repos[root]; known != nil {
		if _, err := known.Head(ctx); err == nil {
			return known, nil
		}
	}
	repo, err := git.Discover(ctx, root, r.o.Git)
	if err != nil {
		return nil, err
	}
	r.repos[root] = repo
	return repo, nil
}

// others returns the files that decide what is tracked and ignored in a worktree.
func others(ctx context.Context, repo *git.Repo) []string {
	files := []string{filepath.Join(repo.GitDir(), "index")}
	for _, dir := range repo.Submodules() {
		for _, name := range []string{"HEAD", "index", "logs/HEAD"} { // one of them changes with each commit there
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	if excludes, err := repo.Excludes(ctx); err == nil {
		files = append(files, excludes.Files...)
	}
	return files
}

const (
	// maxAttributes is the size of the largest file of attributes that counts, and
	// maxAttributeFiles how many files do.
	maxAttributes     = 256 << 10
	maxAttributeFiles = 100
)

// attributes returns the attributes that say how git merges.
func (g *survey) attributes(ctx context.Context) string {
	files := map[string]string{}
	if root := g.repo.Root(); root != "" {
		tracked, _ := g.repo.Tracked(ctx) // without it there are none
		for _, name := range tracked.All() {
			if path.Base(name) != trial.AttributesFile || len(files) == maxAttributeFiles {
				continue
			}
			if text, err := rooted.Folder(root).Read(name, maxAttributes); err == nil {
				files[path.Dir(name)] = string(text)
			}
		}
	}
	own, _ := regular.Read(filepath.Join(g.repo.CommonDir(), "info", "attributes"), maxAttributes)
	return trial.Attributes(files) + trial.Attributes(map[string]string{".": string(own)})
}
