// Package uncommitted finds which files of worktrees differ from the commit that is checked out,
// and caches the result while nothing changes.
//
// A [State] can be stored anywhere, also between processes: it has the fingerprint of the files
// from which it was read. [Finder.State] returns the earlier state if the fingerprint is the same,
// and runs git otherwise. In a long-running program, [Trees] report that nothing happened in a
// worktree, and nothing reads its files again.
package uncommitted

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/fingerprint"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/regular"
)

// maxUntracked is the maximum number of compared untracked files of a worktree.
const maxUntracked = 1000

// State is the known state of a worktree's files.
type State struct {
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
	// Untracked is the number of untracked files and directories, as "git status" lists them: a
	// directory without tracked files is one.
	Untracked int `json:"untracked,omitempty"`
}

// Count returns the number of changes that "git status" lists.
func (s *State) Count() int { return s.Edits.Changed + s.Untracked + s.Edits.Conflicted }

// State returns the state of a worktree with a commit checked out: the one that is known while nothing changed,
// else what git says.
func (f *Finder) State(ctx context.Context, repo *git.Repo, head string, known *State) (*State, error) {
	if known != nil && known.Print.Settled {
		files, err := filesOf(ctx, repo, head, known)
		if err == nil && f.unchanged(ctx, files, known.Print.Sum) {
			return known, nil
		}
	}
	began := time.Now()
	edits, err := repo.Edits(ctx)
	if err != nil {
		return nil, err
	}
	found := &State{Edits: edits}
	if err := lineEnds(ctx, repo, &found.Edits); err != nil {
		return nil, err
	}
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	untracked := found.Edits.Untracked()
	found.Untracked = entries(tracked, slices.Concat(untracked, found.Edits.Repositories))
	if len(untracked) > maxUntracked {
		found.Edits.Files = slices.DeleteFunc(found.Edits.Files, func(e git.Edit) bool { return e.Untracked })
		found.LeftOut = len(untracked)
		return found, nil // files that are made are not seen otherwise
	}
	if edits.Partial {
		return found, nil // nothing shows when git can look there
	}
	if found.Beside, err = beside(ctx, repo); err != nil {
		found.Edits.Partial = regular.Unseen(err)
		return found, nil // git is asked each time
	}
	files, err := filesOf(ctx, repo, head, found)
	if err != nil {
		return found, nil //nolint:nilerr // as above
	}
	files.At = began
	if p, err := fingerprint.Of(ctx, files); err == nil {
		found.Print = p
	}
	return found, nil
}

// entries returns how many of the untracked files and directories "git status" lists: those below a
// directory without tracked files are one.
func entries(tracked index.Paths, untracked []string) int {
	listed := make(map[string]bool, len(untracked))
	for _, name := range untracked {
		for at := 0; ; {
			slash := strings.IndexByte(name[at:], '/')
			if slash < 0 {
				listed[name] = true
				break
			}
			at += slash
			if directory := name[:at]; !tracked.HasBelow(directory) {
				listed[directory] = true
				break
			}
			at++
		}
	}
	return len(listed)
}

// filesOf returns what a worktree's state depends on.
func filesOf(ctx context.Context, repo *git.Repo, head string, in *State) (fingerprint.Files, error) {
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return fingerprint.Files{}, err
	}
	return fingerprint.Files{
		Root: repo.Root(), Tracked: tracked.All(), Untracked: in.Edits.Untracked(), Beside: in.Beside,
		Others: others(ctx, repo), State: head, At: time.Now(),
	}, nil
}

// others returns the files that decide which files a worktree tracks and ignores.
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
