package conflicts

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
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
	// renewal is after how long a report that says the same is written again.
	renewal = 30 * time.Second
	// version changes when the stored data changes its meaning.
	version = 5
)

// kept is the data between surveys. It is immutable after it is read or written.
type kept struct {
	Version   int                           `json:"version"`
	Worktrees map[string]*uncommitted.State `json:"worktrees"` // by root
	Merges    map[string]merge              `json:"merges"`
	// Last is the result of the last complete report.
	Last *lastReport `json:"last,omitempty"`
}

// lastReport is the result of a complete report.
type lastReport struct {
	At        time.Time  `json:"at"`
	Conflicts []Conflict `json:"conflicts"`
}

// merge is the result of one merge, or of the question whether one commit contains another.
type merge struct {
	Files     []trial.File `json:"files,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Contained bool         `json:"contained,omitempty"`
	// Used is the day of the last use, since 1970.
	Used int64 `json:"used,omitempty"`
}

// definite reports whether git has answered. Another reason, such as a full disk, can pass.
func (m merge) definite() bool { return m.Reason == "" || m.Reason == unrelated }

func newKept() *kept {
	return &kept{Version: version, Worktrees: make(map[string]*uncommitted.State), Merges: make(map[string]merge)}
}

// cache stores results in a file, which all processes of the user share. Without a file, it stores
// them in memory.
type cache struct {
	path string // "" for none
	now  func() time.Time
	file *cachedfile.File[*kept]
	own  *kept
}

// openCache returns the cache of a repository.
func openCache(dir, commonDir string, now func() time.Time) *cache {
	c := &cache{now: now, own: newKept()}
	if dir != "" {
		c.path = filepath.Join(dir, digest(commonDir)+".json")
		c.file = cachedfile.New(c.path, maxCache, func(data []byte) (*kept, error) {
			k := newKept()
			if err := json.Unmarshal(data, k); err != nil {
				return nil, err
			}
			if k.Version != version || k.Worktrees == nil || k.Merges == nil {
				return newKept(), nil
			}
			return k, nil
		})
	}
	return c
}

// load returns the stored results. Unreadable ones are missing.
func (c *cache) load() *kept {
	if c.file != nil {
		if k, err := c.file.Get(); err == nil {
			return k
		}
	}
	return c.own
}

// save stores the definite results that a survey used and learned, and some earlier ones. It writes
// nothing if there is nothing new.
func (c *cache) save(known, fresh *kept) {
	maps.DeleteFunc(fresh.Merges, func(_ string, m merge) bool { return !m.definite() })
	today := c.now().Unix() / int64((24 * time.Hour).Seconds())
	// Those who only read the last report believe it for some minutes.
	changed := fresh.Last != nil && (known.Last == nil || fresh.Last.At.Sub(known.Last.At) > renewal ||
		!reflect.DeepEqual(fresh.Last.Conflicts, known.Last.Conflicts))
	if fresh.Last == nil {
		fresh.Last = known.Last
	}
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

// saveWorktrees stores the states of worktrees beside the other known results, if one of them is new.
func (c *cache) saveWorktrees(known *kept, states map[string]*uncommitted.State) {
	if !maps.Equal(known.Worktrees, states) {
		c.replace(&kept{Version: version, Worktrees: states, Merges: known.Merges, Last: known.Last})
	}
}

// replace stores results instead of the earlier ones.
func (c *cache) replace(k *kept) {
	c.own = k
	if c.path != "" {
		_ = c.write(k) // it is tried again next time
	}
}

// write replaces the file. Nobody but the user can read it.
func (c *cache) write(k *kept) error {
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
