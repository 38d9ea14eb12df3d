package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/gitignore"
	"github.com/copse-dev/copse/internal/spread"
)

// Names caches a value for each directory of a project that has files, computed from the names of
// those files. The files are those that [Project.List] lists.
//
// [Names.Get] reads a directory again only if the directory has changed, or its ignore rules.
// Otherwise, it costs one stat of the directory and none of its files. A Names is safe for
// concurrent use.
type Names[T any] struct {
	project *Project
	of      func(dir string, files []string) T
	now     func() time.Time // of the clock of the disk

	mu        sync.Mutex
	directory *directory // that dirs were read from
	fold      bool
	weakest   []*gitignore.Patterns
	tracked   index.Paths // if something is ignored
	dirs      map[string]*named[T]
	files     int
	values    []T // of dirs, in the order of their paths
	warnings  []string
}

// named is a directory that was read.
type named[T any] struct {
	path      string // "." is the project
	signature cachedfile.Signature
	settled   bool // any later change shows in the signature
	files     int
	value     T
	below     []string            // the directories in it, sorted
	patterns  *gitignore.Patterns // its own
	ignored   bool                // the result depends on what git tracks
}

// NewNames returns the names of the files of a project. of computes the value of a directory, whose
// path is relative to the project, "." for the project itself.
func NewNames[T any](p *Project, of func(dir string, files []string) T) *Names[T] {
	return &Names[T]{project: p, of: of, now: time.Now}
}

// Get returns the values of the directories that have files, in the order of their paths, and
// warnings about missing or superfluous files. The caller must not change the slice.
func (n *Names[T]) Get(ctx context.Context) ([]T, []string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f, err := n.project.directory()
	if err != nil {
		return nil, nil, err
	}
	u := &update[T]{Names: n, ctx: ctx, at: n.now()}
	u.filter, u.found = n.project.newFilter(ctx, f)
	if n.directory != f || n.fold != u.filter.fold || !slices.Equal(n.weakest, u.filter.weakest) {
		n.forgetAll()
		n.directory, n.fold, n.weakest = f, u.filter.fold, u.filter.weakest
	}
	if err := u.run(); err != nil {
		n.forgetAll() // incomplete results are not cached
		return nil, nil, err
	}
	return n.values, n.warnings, nil
}

func (n *Names[T]) forgetAll() {
	n.dirs, n.files, n.values, n.tracked = map[string]*named[T]{}, 0, nil, index.Paths{}
}

// update is one call of [Names.Get].
type update[T any] struct {
	*Names[T]
	ctx    context.Context
	at     time.Time
	filter *filter
	found  []string // warnings
	closed int      // directories that could not be read
}

// run updates the directories.
func (u *update[T]) run() error {
	stale := []string{"."}
	if u.dirs["."] != nil {
		stale = u.stale()
	}
	if len(stale) == 0 {
		return nil
	}
	if err := u.read(stale); err != nil {
		return err
	}
	u.values, u.tracked = nil, index.Paths{}
	ignored := false
	for _, name := range slices.Sorted(maps.Keys(u.dirs)) {
		dir := u.dirs[name]
		ignored = ignored || dir.ignored
		if dir.files > 0 {
			u.values = append(u.values, dir.value)
		}
	}
	if ignored {
		u.tracked = u.filter.tracked()
	}
	if u.closed > 0 {
		u.found = append(u.found, cleantext.Count(u.closed, "directory")+" cannot be read")
	}
	if u.files >= maxWalked {
		u.found = append(u.found, fmt.Sprintf("there are more files than %d; copse omits the others", u.files))
	}
	u.warnings = slices.Concat(u.found, u.filter.warnings())
	return nil
}

// stale returns the directories to be read again, sorted.
func (u *update[T]) stale() []string {
	known := slices.Collect(maps.Values(u.dirs))
	ignored := slices.ContainsFunc(known, func(dir *named[T]) bool { return dir.ignored })
	retracked := ignored && !u.tracked.Same(u.filter.tracked())
	const share = 500 // directories per additional goroutine
	stale := spread.Collect(known, share, func(part []*named[T]) []string {
		var found []string
		for _, dir := range part {
			if !dir.settled || retracked && dir.ignored || u.moved(dir) {
				found = append(found, dir.path)
			}
		}
		return found
	})
	for _, dir := range known {
		if dir.patterns != nil && u.filter.own(dir.path) != dir.patterns {
			stale = append(stale, dir.path)
		}
	}
	slices.Sort(stale)
	return slices.Compact(stale)
}

// moved reports whether a directory has changed since it was read. It uses the path directly,
// without the checks of package rooted: whatever is there now, its content is only shown after it
// is read with these checks.
func (u *update[T]) moved(dir *named[T]) bool {
	info, err := os.Lstat(filepath.Join(u.project.path, filepath.FromSlash(dir.path)))
	return err != nil || cachedfile.SignatureOf(info) != dir.signature
}

// read reads directories, and new subdirectories. It drops those that no longer exist.
func (u *update[T]) read(paths []string) error {
	next := make([]level, 0, len(paths))
	for _, name := range paths {
		next = append(next, level{real: name})
	}
	for known := true; len(next) > 0 && u.files < maxWalked; known = false {
		directories := next
		next = nil
		for part := range slices.Chunk(directories, ahead) {
			if u.ctx.Err() != nil {
				return context.Cause(u.ctx)
			}
			next = append(next, u.readPart(part, known)...)
		}
	}
	return nil
}

// readPart reads directories and returns their new subdirectories. known means that the directories
// were read before: the levels then carry no ignore rules, and readPart looks them up.
func (u *update[T]) readPart(part []level, known bool) (next []level) {
	before := make([]fs.FileInfo, len(part))
	for i, in := range part {
		before[i], _ = u.directory.Lstat(in.real) // if it no longer exists, reading it reports that, too
	}
	w := walk{ctx: u.ctx, filter: u.filter}
	for i, found := range w.read(part) {
		in := part[i]
		part[i] = level{} // the rules of a large tree are not cached
		switch {
		case known && in.real != "." && u.dirs[in.real] == nil:
			continue // it was dropped with its parent, or is found there again
		case found.err != nil || before[i] == nil || !before[i].IsDir():
			u.forget(in.real)
			if found.err != nil && !errors.Is(found.err, fs.ErrNotExist) {
				u.closed++
			}
			continue
		case known:
			in.rules = u.filter.at(in.real, found.entries)
		default:
			in.rules = u.filter.with(in.rules.below(path.Base(in.real)), in.real, found.entries)
		}
		for _, below := range u.take(in, before[i], found.entries).below {
			if full := join(in.real, below); u.dirs[full] == nil {
				next = append(next, level{real: full, rules: in.rules})
			}
		}
	}
	return next
}

// take stores the content of a directory.
func (u *update[T]) take(in level, info fs.FileInfo, entries []fs.DirEntry) *named[T] {
	signature := cachedfile.SignatureOf(info)
	dir := &named[T]{path: in.real, signature: signature, settled: signature.Settled(u.at)}
	if hasPatterns(entries) {
		dir.patterns = u.filter.own(in.real)
	}
	var files []string
	for _, e := range entries {
		shown, ignored := u.filter.judge(in.rules, in.real, e)
		dir.ignored = dir.ignored || ignored
		if !shown {
			continue
		}
		switch typeOf(e) {
		case Directory:
			dir.below = append(dir.below, e.Name())
		case File, Symlink:
			files = append(files, e.Name())
		case Other:
		}
	}
	if dir.files = len(files); dir.files > 0 {
		dir.value = u.of(in.real, files)
	}
	if before := u.dirs[in.real]; before != nil {
		u.files -= before.files
		for _, name := range before.below {
			// Other patterns here affect everything below.
			if _, still := slices.BinarySearch(dir.below, name); !still || before.patterns != dir.patterns {
				u.forget(join(in.real, name))
			}
		}
	}
	u.dirs[in.real] = dir
	u.files += dir.files
	return dir
}

// forget drops a directory and all below it.
func (u *update[T]) forget(name string) {
	dir := u.dirs[name]
	if dir == nil {
		return
	}
	delete(u.dirs, name)
	u.files -= dir.files
	for _, below := range dir.below {
		u.forget(join(name, below))
	}
}

// hasPatterns reports whether a directory with these entries has a file of patterns.
func hasPatterns(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), ignoreFile) })
}
