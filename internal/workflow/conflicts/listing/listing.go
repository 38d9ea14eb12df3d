// Package listing lists the worktrees of a repository and the tips of its branches. A [Lister] runs git for
// the tips only if a ref has a new commit since the last time, and is safe for concurrent use.
package listing

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// OriginPrefix begins the full names of the branches of the remote origin.
const OriginPrefix = "refs/remotes/origin/"

// Lister lists one repository. The zero value is ready to use.
type Lister struct {
	mu      sync.Mutex
	commits map[string]string // of the refs, by full name, when git listed the tips
	tips    []git.Tip
}

// List returns the worktrees and the tips of all branches, with that of the trunk's remote branch.
func (l *Lister) List(ctx context.Context, repo *git.Repo, trunk string) (listed []git.Worktree, tips []git.Tip, err error) {
	both, asking := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		listed, err = repo.Worktrees(asking)
		return err
	})
	both.Go(func() (err error) {
		tips, err = l.list(asking, repo, trunk)
		return err
	})
	err = both.Wait() // before the results are read
	return listed, tips, err
}

// list returns the tips.
func (l *Lister) list(ctx context.Context, repo *git.Repo, trunk string) ([]git.Tip, error) {
	names, err := repo.LocalBranches(ctx)
	if err != nil {
		return nil, err
	}
	remote := OriginPrefix + trunk
	refs := []string{remote}
	for _, name := range names {
		refs = append(refs, refstore.BranchPrefix+name)
	}
	commits, err := repo.CommitsOf(ctx, refs)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	known, knownTips := l.commits, l.tips
	l.mu.Unlock()
	read := !slices.ContainsFunc(refs[1:], func(ref string) bool { return commits[ref] == "" })
	if known != nil && read && maps.Equal(known, commits) {
		return knownTips, nil
	}
	tips, err := repo.Tips(ctx, remote)
	if err == nil {
		l.mu.Lock()
		l.commits, l.tips = commits, tips
		l.mu.Unlock()
	}
	return tips, err
}

// Alone reports whether there is nothing to compare: only one branch and one worktree. That is
// known without git's program.
func Alone(ctx context.Context, repo *git.Repo, trunk string) (bool, error) {
	names, err := repo.LocalBranches(ctx)
	if err != nil || len(names) > 1 {
		return false, err
	}
	listed, err := repo.Worktrees(ctx)
	if err != nil || len(listed) > 1 {
		return false, err
	}
	remote, err := repo.CommitsOf(ctx, []string{OriginPrefix + trunk})
	return len(remote) == 0, err
}

// Find returns the first tip for which is returns true, and otherwise none.
func Find(tips []git.Tip, is func(git.Tip) bool) git.Tip {
	if i := slices.IndexFunc(tips, is); i >= 0 {
		return tips[i]
	}
	return git.Tip{}
}
