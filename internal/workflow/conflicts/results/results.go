// Package results stores what surveys of conflicts learned about commits: the results of trial merges, and
// which commits contain which.
//
// [Open] returns the cache of a repository, which all processes of the user share. A survey begins with
// [Cache.Load], collects what it uses and learns in a [Results] from [New], and ends with [Cache.Save]. A
// result belongs to commits, so it stays right whatever happens to the branches. Unreadable results
// are missing, and nothing fails because they cannot be stored.
package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/wholefile"
)

const (
	// maxCache is the size of the largest file that is read.
	maxCache = 32 << 20
	// maxMerges is the number of stored results that the last survey did not use.
	maxMerges = 4000
	// version changes when the stored data changes its meaning.
	version = 6
)

// Results is the data between surveys. It is immutable after it is read or written.
type Results struct {
	Version   int                           `json:"version"`
	Worktrees map[string]*uncommitted.State `json:"worktrees"` // by root
	Merges    map[string]Merge              `json:"merges"`
}

// Merge is the result of one merge, or of the question whether one commit contains another, or which
// commit is their merge base.
type Merge struct {
	Files     []trial.File `json:"files,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Contained bool         `json:"contained,omitempty"`
	Base      string       `json:"base,omitempty"`
	// Ground is the answer to the question whether the trunk has the changes of a commit.
	Ground history.Ground `json:"ground,omitempty"`
	// Used is the day of the last use, since 1970.
	Used int64 `json:"used,omitempty"`
}

// Definite reports whether git has answered. Another reason, such as a full disk, can pass.
func (m Merge) Definite() bool { return m.Reason == "" || m.Reason == Unrelated }

// New returns empty results.
func New() *Results {
	return &Results{Version: version, Worktrees: make(map[string]*uncommitted.State), Merges: make(map[string]Merge)}
}

// Cache stores results in a file, which all processes of the user share. Without a file, it stores
// them in memory.
type Cache struct {
	path string // "" for none
	now  func() time.Time
	file *cachedfile.File[*Results]
	own  atomic.Pointer[Results] // the last results of this process
}

// Open returns the cache of a repository.
func Open(dir, commonDir string, now func() time.Time) *Cache {
	c := &Cache{now: now}
	c.own.Store(New())
	if dir != "" {
		c.path = filepath.Join(dir, Digest(commonDir)+".json")
		c.file = cachedfile.New(c.path, maxCache, func(data []byte) (*Results, error) {
			k := New()
			if err := json.Unmarshal(data, k); err != nil {
				return nil, err
			}
			if k.Version != version || k.Worktrees == nil || k.Merges == nil {
				return New(), nil
			}
			return k, nil
		})
	}
	return c
}

// Load returns the stored results. Unreadable ones are missing.
func (c *Cache) Load() *Results {
	if c.file != nil {
		if k, err := c.file.Get(); err == nil {
			return k
		}
	}
	return c.own.Load()
}

// Save stores the definite results that a survey used and learned, and some earlier ones. It writes
// nothing if there is nothing new.
func (c *Cache) Save(known, fresh *Results) {
	maps.DeleteFunc(fresh.Merges, func(_ string, m Merge) bool { return !m.Definite() })
	today := c.now().Unix() / int64((24 * time.Hour).Seconds())
	changed := false
	for root, s := range fresh.Worktrees {
		changed = changed || known.Worktrees[root] != s
	}
	for key, m := range fresh.Merges {
		old, ok := known.Merges[key]
		changed = changed || !ok || old.Used != today
		m.Used = today
		fresh.Merges[key] = m
	}
	if !changed {
		return
	}
	others := slices.DeleteFunc(slices.Collect(maps.Keys(known.Merges)), func(key string) bool {
		_, used := fresh.Merges[key]
		return used
	})
	slices.SortFunc(others, func(a, b string) int { return int(known.Merges[b].Used - known.Merges[a].Used) })
	for _, key := range others[:min(len(others), maxMerges)] {
		fresh.Merges[key] = known.Merges[key]
	}
	c.replace(fresh)
}

// SaveWorktrees stores the states of worktrees beside the other known results, if one of them is new.
func (c *Cache) SaveWorktrees(known *Results, states map[string]*uncommitted.State) {
	if !maps.Equal(known.Worktrees, states) {
		c.replace(&Results{Version: version, Worktrees: states, Merges: known.Merges})
	}
}

// replace stores results instead of the earlier ones.
func (c *Cache) replace(k *Results) {
	c.own.Store(k)
	if c.path != "" {
		_ = c.write(k) // it is tried again next time
	}
}

// write replaces the file. Nobody but the user can read it.
func (c *Cache) write(k *Results) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := ownership.MakeAll(filepath.Dir(c.path)); err != nil {
		return err
	}
	// Results lost in a crash are computed again, so they need not be on disk.
	return wholefile.Replace(c.path, ".new-*", wholefile.Bytes(data))
}

// Unrelated is the reason of a pair without a common history, which is not a conflict: a branch of
// documentation, or of work items. In a shallow clone, the common history can be missing.
const Unrelated = "unrelated histories"

// Digest returns a short name of a text.
func Digest(text string) string {
	const digits = 16
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
