// Package itemdir reads the items in the files of a directory, one in each, named after its
// number: 3.md.
//
// Use an [Index] for all of them: it caches what it has read, and an update reads only what has
// changed. [ReadFile] reads one. Only regular files are read. The warnings of the snapshot name
// files that are not items, or have a wrong name; these do not affect other items.
package itemdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/spread"
)

// manyNames is the number of changed files from which reading in parallel is faster.
const manyNames = 200

// Index is the content of the files of a directory of items. It is for one goroutine.
//
// If the system can report exactly which files have changed, an update reads those and no others.
// Otherwise, it checks each file and reads those whose stamp has changed or could not show a
// change. Either way, it sees everything that was written before the call, with three exceptions: a
// write through a memory map counts when the file is closed or synced; one through a hard link in
// another directory is seen only without watching; and if there are no change times (Windows), a
// change that keeps size and modification time is not seen.
type Index struct {
	dir         rooted.Dir
	path        string // of dir
	name        string // for warnings
	now         func() time.Time
	directory   fs.FileInfo
	root        *os.Root
	watcher     *watcher // nil if all files must be looked at
	watching    bool     // a watcher is still to be tried
	files       map[string]*file
	problematic map[string]bool // files with problems
	snapshot    *item.Snapshot
	space       Space
	total       int64        // the size of the files that are in the snapshot
	reading     atomic.Int64 // total, and the files that are being read
	noSpace     int          // the number of files that do not fit
	changed     bool         // the last update has changed something
	// unfinished is set while the snapshot has no warnings yet.
	unfinished bool
}

// Options says how an [Index] reads its directory.
type Options struct {
	// Name is what warnings call the directory.
	Name string
	// Watching lets the system report changed files.
	Watching bool
	// Cache is the path of a file of [CacheFile] that stores the content of a large directory for
	// the next process; empty is none.
	Cache string
	// Space is what all files together can take. Files with larger numbers that do not fit are not
	// read, and a warning names each.
	Space Space
	// Now returns the time of the system that the files are on; nil is [time.Now].
	Now func() time.Time
}

// Open reads all files of a directory.
func Open(dir rooted.Dir, o Options) (*Index, error) {
	x := &Index{
		dir: dir, path: dir.Path(), name: o.Name, watching: o.Watching, now: o.Now,
		files: map[string]*file{}, problematic: map[string]bool{}, snapshot: new(item.Snapshot), space: o.Space,
	}
	if x.now == nil {
		x.now = time.Now
	}
	err := x.open()
	if err == nil {
		before := openCache(o.Cache)
		err = x.scan(before) // of what is at the path; the caller makes sure that it is this directory
		before.close()
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	x.keep(o.Cache)
	return x, nil
}

func (x *Index) open() error {
	root, err := x.dir.Open()
	if err != nil {
		return err
	}
	x.root = root
	x.directory, err = root.Stat(".")
	return err
}

// Close releases the system resources of the index.
func (x *Index) Close() {
	if x.watcher != nil {
		_ = x.watcher.close()
	}
	if x.root != nil {
		_ = x.root.Close()
	}
}

// Current reports whether the directory at the path is still the one of the index.
func (x *Index) Current() bool {
	info, err := os.Lstat(x.path)
	return err == nil && os.SameFile(info, x.directory)
}

// Update updates the index; ok is false if it must be opened again.
func (x *Index) Update() (ok bool, err error) {
	if !x.Current() {
		return false, nil
	}
	x.changed = false
	if x.watcher == nil {
		x.watch()
		current := x.Current() // before the scan: the directory can be replaced meanwhile
		err := x.scan(nil)
		return current && !x.unsettled(), err
	}
	names, ok := x.watcher.changed()
	if !ok {
		return false, nil
	}
	if len(names) > manyNames {
		err := x.scan(nil)
		return !x.unsettled(), err
	}
	x.reading.Store(x.total)
	changes := map[string]*file{}
	var buf bytes.Buffer
	for _, name := range names {
		if _, done := changes[name]; done || !strings.HasSuffix(name, extension) {
			continue
		}
		changes[name] = x.look(name, &buf)
	}
	x.apply(changes)
	return !x.unsettled(), nil
}

// unsettled reports whether other files may have the space now than if all were read again.
func (x *Index) unsettled() bool { return x.changed && x.noSpace > 0 }

// watch starts watching, if that was not tried yet. It does not start immediately, because a
// program with a single query is faster without it.
func (x *Index) watch() {
	if x.watching {
		x.watching = false
		x.watcher = watch(x.path)
	}
}

// look reads a file that may have changed in any way; nil if there is none.
func (x *Index) look(name string, buf *bytes.Buffer) *file {
	info, err := x.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = CheckRegular(info.Mode())
	}
	if err != nil {
		return broken(name, err)
	}
	return x.read(name, buf)
}

// read reads a file; nil if there is none.
func (x *Index) read(name string, buf *bytes.Buffer) *file {
	at := x.now()
	text, from, err := readFile(x.root, name, buf, func(size int64) bool { return x.reserve(name, size) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNoSpace):
		f := x.withoutSpace(name, from)
		f.settled = from.Settled(at)
		return f
	case err != nil:
		return broken(name, err)
	}
	f := parse(name, text)
	f.stamp, f.settled, f.bytes = from, from.Settled(at), from.Size
	return f
}

// reserve reserves the space for a file, and reports whether there is enough.
func (x *Index) reserve(name string, size int64) bool {
	more := size - x.files[name].held()
	if !x.space.Allows(x.reading.Add(more), more) {
		x.reading.Add(-more)
		return false
	}
	return true
}

// withoutSpace returns a file that was not read, because the others left no space for it.
func (x *Index) withoutSpace(name string, from cachedfile.Signature) *file {
	f := broken(name, fmt.Errorf("is not read: the items together would have more than the %s allowed; shorten or delete the largest ones", x.space.MiB()))
	f.stamp, f.noSpace = from, true
	return f
}

// scan checks all files. It does not read files again that have not changed since before; it can be
// nil.
func (x *Index) scan(before *cacheReader) error {
	directory, err := regular.OpenDir(x.root, ".")
	if err != nil {
		return rooted.WithoutPath(err)
	}
	if directory, err = rooted.WithTypes(directory); err != nil {
		return rooted.WithoutPath(err)
	}
	listed, err := directory.ReadDir(-1)
	_ = directory.Close()
	if err != nil {
		return rooted.WithoutPath(err)
	}
	listed = slices.DeleteFunc(listed, func(d fs.DirEntry) bool { return !strings.HasSuffix(d.Name(), extension) })

	// In the order of their numbers and a part at a time: what was read of one is let go
	// of before the next.
	slices.SortFunc(listed, func(a, b fs.DirEntry) int { return byNumber(a.Name(), b.Name()) })
	present := make(map[string]bool, len(listed))
	const atOnce = 2048
	for part := range slices.Chunk(listed, atOnce) {
		changes := map[string]*file{}
		last, _ := Number(part[len(part)-1].Name())
		x.reading.Store(x.total)
		for i, f := range x.inOrder(part, x.examineAll(part, before.through(last))) {
			name := part[i].Name()
			present[name] = true
			if f != x.files[name] {
				changes[name] = f
			}
		}
		x.take(changes)
	}
	gone := map[string]*file{}
	for name := range x.files {
		if !present[name] {
			gone[name] = nil
		}
	}
	x.apply(gone)
	return nil
}

// examineAll returns listed files. known are those that a cache has.
func (x *Index) examineAll(listed []fs.DirEntry, known map[string]*cached) []*file {
	const worthAnother = 64 // files, to make another goroutine worth it
	return spread.Collect(listed, worthAnother, func(part []fs.DirEntry) []*file {
		var buf bytes.Buffer
		files := make([]*file, len(part))
		for i, d := range part {
			files[i] = x.examine(d, known[d.Name()], &buf)
		}
		return files
	})
}

// inOrder returns listed files, of which those with the smallest numbers have the space: the files
// were read at the same time, and got it in any order.
func (x *Index) inOrder(listed []fs.DirEntry, files []*file) []*file {
	if !slices.ContainsFunc(files, func(f *file) bool { return f != nil && f.noSpace }) {
		return files
	}
	x.reading.Store(x.total)
	var buf bytes.Buffer
	for i, f := range files {
		name := listed[i].Name()
		switch {
		case f == nil, f == x.files[name]:
		case f.noSpace:
			files[i] = x.look(name, &buf)
		case !x.reserve(name, f.held()):
			files[i] = x.withoutSpace(name, f.stamp)
			files[i].settled = f.settled
		}
	}
	return files
}

// examine returns a listed file: the known one or the cached one, if it has not changed.
func (x *Index) examine(d fs.DirEntry, before *cached, buf *bytes.Buffer) *file {
	known := x.files[d.Name()]
	if known == nil && before != nil {
		if info, err := x.root.Lstat(d.Name()); err == nil && info.Mode().IsRegular() {
			known = before.file(cachedfile.SignatureOf(info))
		}
		if known != nil && !x.reserve(d.Name(), known.held()) {
			return x.withoutSpace(d.Name(), known.stamp)
		}
		if known != nil {
			return known
		}
	}
	if known == nil && d.Type().IsRegular() {
		return x.read(d.Name(), buf)
	}
	if known == nil || !known.settled {
		return x.look(d.Name(), buf)
	}
	info, err := x.root.Lstat(d.Name())
	if err == nil && info.Mode().IsRegular() && cachedfile.SignatureOf(info) == known.stamp {
		return known
	}
	return x.look(d.Name(), buf)
}

// apply puts files in place of those with the same names; nil is none.
func (x *Index) apply(changes map[string]*file) {
	x.take(changes)
	if x.unfinished {
		x.snapshot = x.snapshot.With(nil, x.warnings())
		x.unfinished = false
	}
}

// take does what apply does, and leaves a snapshot without warnings.
func (x *Index) take(changes map[string]*file) {
	if len(changes) == 0 {
		return
	}
	x.changed = true
	entries := map[item.ID]*item.Entry{}
	for name, f := range changes {
		if old := x.files[name]; old != nil {
			x.total -= old.held()
			x.noSpace -= old.without()
			if old.id != 0 {
				entries[old.id] = nil
			}
		}
		if f == nil {
			delete(x.files, name)
			delete(x.problematic, name)
			continue
		}
		x.files[name] = f
		x.total += f.held()
		x.noSpace += f.without()
		if f.id != 0 {
			entries[f.id] = f.entry
			f.entry = nil
		}
		delete(x.problematic, name)
		if len(f.problems) > 0 || f.misnamed() {
			x.problematic[name] = true
		}
	}
	x.snapshot = x.snapshot.With(entries, nil)
	x.unfinished = true
}

// Snapshot returns all items as they were at the last update.
func (x *Index) Snapshot() *item.Snapshot { return x.snapshot }

// FilesWithProblems returns the names of the files with problems, sorted by number.
func (x *Index) FilesWithProblems() []string {
	return slices.SortedFunc(maps.Keys(x.problematic), byNumber)
}

// warnings describes the problems of files, by their names.
func (x *Index) warnings() []item.Warning {
	var list []item.Warning
	for _, name := range x.FilesWithProblems() {
		f := x.files[name]
		problems := f.problems
		if f.misnamed() {
			problems = append(slices.Clip(problems), x.misnamed(f))
		}
		for _, problem := range problems {
			list = append(list, item.Warning{File: x.name + "/" + name, Reason: problem})
		}
	}
	return list
}

// misnamed describes the problem of a file whose id differs from its name.
func (x *Index) misnamed(f *file) string {
	also := ""
	if other := FileName(f.inner); x.files[other] != nil {
		also = fmt.Sprintf(", like %s/%s", x.name, other)
	}
	used := "copse ignores it"
	if f.id != 0 {
		used = fmt.Sprintf("copse uses it as #%d, by its name", f.id)
	}
	return fmt.Sprintf("contains the ID %d%s; %s. Assign a free number, in the name and in the content", f.inner, also, used)
}

// byNumber orders names so that 2.md comes before 10.md.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// Find implements [relation.Lookup]. It distinguishes a broken item from one that does not exist.
func (x *Index) Find(id item.ID) (*item.Summary, error) {
	if f := x.files[FileName(id)]; f != nil && !f.whole {
		return nil, Broken(x.name, id, errors.New(f.problems[0]))
	}
	return x.snapshot.Find(id)
}

// Largest returns the largest number that a file has.
func (x *Index) Largest() item.ID {
	largest := x.snapshot.Largest()
	for name := range x.problematic {
		largest = max(largest, x.files[name].id)
	}
	return largest
}
