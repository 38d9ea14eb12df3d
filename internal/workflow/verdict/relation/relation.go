// Package relation compares the commits of branches: their distance from their parents and remote
// branches, the commits on which they were stacked, and which of them a trunk has already.
//
// Use [Read] for the commits of branches, and [Known.Compare] to fill in how they relate. Commits never
// change: a [Known] caches what it compared, and uses it for every later call. Whether a branch is
// merged stays unknown if git cannot compare it. The package changes nothing in the repository.
package relation

import (
	"context"
	"maps"
	"sync"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/history"
)

// maxKnown is the number of cached facts of each kind.
const maxKnown = 10_000

// Known caches how the commits of one repository relate. It is safe for concurrent use.
type Known struct {
	mu   sync.Mutex
	gaps map[history.Pair]history.Gap // commits never change
	// trees are those of commits.
	trees map[string]string
	// pasts are the relations of branches to their trunks.
	pasts map[origin]past
}

// New returns an empty cache. It reads nothing yet.
func New() *Known {
	return &Known{gaps: map[history.Pair]history.Gap{}, trees: map[string]string{}, pasts: map[origin]past{}}
}

// gapsOf returns distances, and caches them.
func (k *Known) gapsOf(ctx context.Context, repo *git.Repo, pairs []history.Pair) (map[history.Pair]history.Gap, error) {
	return remember(k, k.gaps, pairs, func(missing []history.Pair) (map[history.Pair]history.Gap, error) {
		return history.Gaps(ctx, repo.Program(), missing)
	})
}

// treesOf returns the trees of commits, and caches them.
func (k *Known) treesOf(ctx context.Context, repo *git.Repo, commits []string) (map[string]string, error) {
	return remember(k, k.trees, commits, func(missing []string) (map[string]string, error) {
		trees, err := history.Trees(ctx, repo.Program(), missing)
		for _, commit := range missing {
			if err == nil && trees[commit] == "" {
				trees[commit] = "" // it is not asked for again
			}
		}
		return trees, err
	})
}

// remember returns what find returns for keys, and caches it in known.
func remember[K comparable, V any](k *Known, known map[K]V, keys []K, find func(missing []K) (map[K]V, error)) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	var missing []K
	k.mu.Lock()
	for _, key := range keys {
		if value, ok := known[key]; ok {
			found[key] = value
		} else {
			missing = append(missing, key)
		}
	}
	k.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	more, err := find(missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(found, more)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(known)+len(more) > maxKnown {
		clear(known)
	}
	maps.Copy(known, more)
	return found, nil
}
