package claim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/xec/family"
)

// HolderCheck finds holders on the machine of an agent that are gone: their process has ended, or,
// for the claim of a person at the command line, the worktree was removed. It looks at each
// process and worktree once.
type HolderCheck struct {
	By  Agent
	Now time.Time
	// Worktrees returns the only worktrees to look at; nil is any. The claims of others name any path, and
	// the note would tell them whether it exists.
	Worktrees func() []string

	ended   map[family.Process]bool
	removed map[string]bool // by worktree
}

// Mark returns a claim with a note that its holder is gone, if it is.
func (c *HolderCheck) Mark(claim Claim) Claim {
	if claim.Gone.IsZero() && claim.Holder.Host == c.By.Host && c.gone(claim.Holder) {
		claim.Gone = c.Now
	}
	return claim
}

func (c *HolderCheck) gone(a Agent) bool {
	if a.Process.PID == 0 {
		return remembered(&c.removed, a.Worktree, c.lost)
	}
	return remembered(&c.ended, a.Process, family.Process.Gone)
}

// remembered returns the answer for a key, which it computes once.
func remembered[K comparable](answers *map[K]bool, key K, compute func(K) bool) bool {
	answer, known := (*answers)[key]
	if !known {
		answer = compute(key)
		if *answers == nil {
			*answers = map[K]bool{}
		}
		(*answers)[key] = answer
	}
	return answer
}

// lost reports whether a worktree that may be looked at no longer exists.
func (c *HolderCheck) lost(worktree string) bool {
	return (c.Worktrees == nil || slices.Contains(c.Worktrees(), worktree)) && removed(worktree)
}

// removed reports whether a worktree no longer exists. It is false if the parent directory does not
// exist either, because a disk can be absent for a while.
func removed(worktree string) bool {
	if !filepath.IsAbs(worktree) {
		return false
	}
	if _, err := os.Lstat(worktree); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	parent, err := os.Stat(filepath.Dir(worktree))
	return err == nil && parent.IsDir()
}
