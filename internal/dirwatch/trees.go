package dirwatch

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// idle is how long nobody must ask before the watches are given back to the system.
const idle = 10 * time.Minute

// Trees counts the changes below roots, for any number of callers. A caller notes the count
// before it looks at the files; while [Trees.Count] returns the same, they are as it saw
// them. It is safe for concurrent use. Watches that nobody asks about for ten minutes are
// given back.
type Trees struct {
	mu      sync.Mutex
	watch   *Watch           // nil while nothing is watched
	trees   map[string]*tree // by root
	of      map[Dir][]*tree  // the trees that have a directory
	maximum int              // how many directories are watched at most; 0 if that is not known yet
	last    uint64           // the last count that was given
	timer   *time.Timer
}

// tree is a root with the directories below it that are watched.
type tree struct {
	dirs    []string // as the caller named them
	watched []Dir
	count   uint64
	renew   bool // a directory appeared that may be one of dirs
}

// NewTrees returns trees without a root.
func NewTrees() *Trees { return &Trees{} }

// none stands for no directory that is watched at most.
const none = -1

// Follow watches directories below a root, which are named with slashes, each after its
// parent. Directories that do not exist count from the moment they appear, if their parents
// are named. It returns the count, and false if the directories cannot be watched.
func (t *Trees) Follow(root string, dirs []string) (count uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drain()
	if known := t.trees[root]; known != nil && !known.renew && slices.Equal(known.dirs, dirs) {
		return known.count, true
	}
	t.drop(root)
	if !t.begin() || len(t.of)+len(dirs) > t.maximum {
		return 0, false
	}
	one := &tree{dirs: slices.Clone(dirs), count: t.next()}
	t.trees[root] = one
	for _, dir := range dirs {
		id, err := t.watch.Add(filepath.Join(root, filepath.FromSlash(dir)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.drop(root)
			if errors.Is(err, ErrFull) {
				t.maximum = cmp.Or(len(t.of), none) // leave the remaining watches to other programs
			}
			return 0, false
		}
		one.watched = append(one.watched, id)
		if !slices.Contains(t.of[id], one) {
			t.of[id] = append(t.of[id], one)
		}
	}
	return one.count, true
}

// Count returns the count of a root, and false if it is not watched.
func (t *Trees) Count(root string) (count uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drain()
	known := t.trees[root]
	if known == nil {
		return 0, false
	}
	return known.count, true
}

// Close releases all watches. Trees can be used again.
func (t *Trees) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reset()
}

// begin makes sure that there is a queue.
func (t *Trees) begin() bool {
	if t.watch != nil || t.maximum == none {
		return t.watch != nil
	}
	watch, err := Open()
	if err != nil {
		t.maximum = none // it is not tried again
		return false
	}
	if t.maximum == 0 {
		t.maximum = cmp.Or(limit(), none)
	}
	t.watch, t.trees, t.of = watch, make(map[string]*tree), make(map[Dir][]*tree)
	if t.timer == nil {
		t.timer = time.AfterFunc(idle, t.Close)
	}
	t.timer.Reset(idle)
	return true
}

// drain takes what happened into the counts. Where that is not known, nothing is watched afterward.
func (t *Trees) drain() {
	if t.watch == nil {
		return
	}
	t.timer.Reset(idle)
	var ended []*tree
	err := t.watch.Changed(func(c Change) {
		for _, one := range t.of[c.Dir] {
			one.count = t.next()
			one.renew = one.renew || c.Made
			if c.Ended {
				ended = append(ended, one)
			}
		}
	})
	if err != nil {
		t.reset()
		return
	}
	for root, one := range t.trees {
		if slices.Contains(ended, one) {
			t.drop(root)
		}
	}
}

// next returns a count that no tree had.
func (t *Trees) next() uint64 {
	t.last++
	return t.last
}

// drop ends the watch of a root.
func (t *Trees) drop(root string) {
	one := t.trees[root]
	if one == nil {
		return
	}
	delete(t.trees, root)
	for _, id := range one.watched {
		others := slices.DeleteFunc(t.of[id], func(other *tree) bool { return other == one })
		if len(others) > 0 {
			t.of[id] = others
			continue
		}
		delete(t.of, id)
		t.watch.Remove(id)
	}
}

// reset ends everything.
func (t *Trees) reset() {
	if t.watch == nil {
		return
	}
	t.timer.Stop()
	_ = t.watch.Close()
	t.watch, t.trees, t.of = nil, nil, nil
}
