// Package reader reads one directory of work items, without a lock.
//
// [Open] returns a [Reader]. It sees all changes before a call, including those of an editor or of
// git; see [itemdir.Index] for details, and for three exceptions. It caches what it has read in
// memory, so the next call reads only changes. A file that is not an item, or was not merged, is a
// warning of the snapshot and does not affect other items.
package reader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/births"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/rooted"
)

// newerName is the file in which later versions of tic store everything.
const newerName = "tic.db"

// Options say how a directory is read.
type Options struct {
	// Watching lets the system report changes of the directory.
	Watching bool
	// Caches is a directory of the user for caches of large stores, so the next process need not
	// parse all files; "" is none.
	Caches string
	// Space is what the files of all items together can take.
	Space itemdir.Space
	// Done returns the statuses that mean done if the configuration does not; nil is none.
	Done func() ([]string, error)
}

// Reader reads one directory. It is safe for concurrent use.
type Reader struct {
	dir    rooted.Dir
	o      Options
	config *cachedfile.File[configuration]

	mu    sync.Mutex
	index *itemdir.Index // nil before it is needed, and while there is no directory of items
}

// configuration is a configuration file that was read.
type configuration struct {
	values item.Config
	// unmerged is set when the values are those of an unfinished merge.
	unmerged bool
}

// Open returns the reader of a directory. It reads nothing yet.
func Open(dir rooted.Dir, o Options) *Reader {
	return &Reader{dir: dir, o: o, config: cachedfile.NewIn(dir.In(), layout.Config, ticfile.MaxSize, parseConfiguration)}
}

// Close releases the system resources of the reader. Further use acquires them again. Close does not
// wait for a listing: one of a file system that does not answer would keep a server from ending. The
// listing then releases them when it ends.
func (r *Reader) Close() {
	release := func() {
		defer r.mu.Unlock()
		r.drop()
	}
	if r.mu.TryLock() {
		release()
		return
	}
	go func() {
		r.mu.Lock()
		release()
	}()
}

// Dir returns the directory.
func (r *Reader) Dir() rooted.Dir { return r.dir }

// Root opens the directory. The caller closes it.
func (r *Reader) Root() (*os.Root, error) {
	root, err := r.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", rooted.WithoutPath(err))
	}
	return root, nil
}

func (r *Reader) drop() {
	if r.index != nil {
		r.index.Close()
		r.index = nil
	}
}

// parseConfiguration reads a configuration for reading items. For that, it finishes an unfinished
// merge in memory.
func parseConfiguration(data []byte) (configuration, error) {
	text := string(data)
	c, err := ticfile.ParseConfig(text)
	unmerged := errors.Is(err, ticfile.ErrConflict)
	if unmerged {
		if c, err = ticfile.MergeConfig(text); err != nil {
			err = ticfile.ErrConflict
		}
	}
	if err != nil {
		return configuration{}, ConfigError(err)
	}
	values := c.Values()
	if unmerged {
		values.Warnings = append(values.Warnings, item.Warning{File: layout.Config, Reason: ticfile.ErrConflict.Error()})
	}
	for _, problem := range c.Problems() {
		values.Warnings = append(values.Warnings, item.Warning{File: layout.Config, Reason: problem})
	}
	return configuration{values: values, unmerged: unmerged}, nil
}

// ConfigError returns the error of a configuration that cannot be used.
func ConfigError(err error) error {
	return &storage.ConfigError{File: layout.Config, Reason: err.Error()}
}

// Config returns the values of the configuration. The error can be a [*storage.ConfigError].
func (r *Reader) Config() (item.Config, error) {
	c, err := r.config.Get()
	if err != nil {
		return item.Config{}, r.Explain(err)
	}
	if len(c.values.DoneStatuses) == 0 && r.o.Done != nil {
		if c.values.DoneStatuses, err = r.o.Done(); err != nil {
			return item.Config{}, ConfigError(fmt.Errorf("leaves the done statuses to your settings: %w", err))
		}
	}
	return c.values, nil
}

// Explain returns a [*storage.ConfigError] for an error of reading the configuration.
func (r *Reader) Explain(err error) error {
	if _, ok := errors.AsType[*storage.ConfigError](err); ok {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return ConfigError(fmt.Errorf("cannot be used: %w", err))
	}
	if _, err := os.Lstat(filepath.Join(r.dir.Path(), newerName)); err == nil {
		return ConfigError(errors.New("is missing: this store is in " + newerName + " by a newer tic, which copse cannot read"))
	}
	return ConfigError(errors.New("is missing; restore it, or initialize the project again"))
}

// Snapshot returns all items as they are now.
func (r *Reader) Snapshot() (*item.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.refresh(); err != nil {
		return nil, err
	}
	if r.index == nil {
		return new(item.Snapshot), nil
	}
	snapshot := r.index.Snapshot()
	if warnings := r.outdated(snapshot); len(warnings) > 0 {
		snapshot = snapshot.With(nil, append(warnings, snapshot.Warnings...))
	}
	return snapshot, nil
}

// outdated returns a warning if the configuration has an older state than the items.
func (r *Reader) outdated(all *item.Snapshot) []item.Warning {
	config, err := r.Config()
	if err != nil || config.NextID == 0 || config.NextID > all.Largest() {
		return nil
	}
	born, err := r.Births()
	if err != nil {
		return nil // only a help for finding damage
	}
	return born.Outdated(all, config.NextID)
}

// Births returns which number was given out when.
func (r *Reader) Births() (births.Born, error) {
	root, err := r.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return births.Read(root)
}

// refresh brings the index up to date. The caller holds r.mu.
func (r *Reader) refresh() error {
	// The directory can be replaced while it is opened.
	const attempts = 3
	for range attempts {
		if r.index != nil {
			ok, err := r.index.Update()
			if ok && err == nil {
				return nil
			}
			r.drop()
		}
		items := r.dir.Sub(layout.Items)
		path := items.Path()
		switch info, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("inspect directory %q: %w", layout.Items, rooted.WithoutPath(err))
		case !info.IsDir():
			return fmt.Errorf("%q in the store is not a directory", layout.Items)
		}
		index, err := itemdir.Open(items, itemdir.Options{Name: layout.Items, Watching: r.o.Watching, Space: r.o.Space, Cache: itemdir.CacheFile(r.o.Caches, path)})
		if err != nil {
			return fmt.Errorf("read directory %q: %w", layout.Items, err)
		}
		r.index = index
		if index.Current() {
			return nil
		}
	}
	return fmt.Errorf("read directory %q: another program keeps replacing it", layout.Items)
}

// Lookup implements [relation.Lookup], including broken items.
func (r *Reader) Lookup(id item.ID) (*item.Summary, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.refresh(); err != nil {
		return nil, err
	}
	if r.index == nil {
		return nil, &item.NotFoundError{ID: id}
	}
	return r.index.Find(id)
}

// Loaded reports whether the items are in memory, so that using all of them is cheap.
func (r *Reader) Loaded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index != nil
}

// Space returns what the files of all items together can take.
func (r *Reader) Space() itemdir.Space { return r.o.Space }

// Used returns what they take; ok is false if the items do not all fit, or if that takes more than a
// look at the files that have changed.
func (r *Reader) Used() (total int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil || !r.index.Watches() || r.refresh() != nil || r.index == nil {
		return 0, false
	}
	return r.index.Total()
}

// Known returns the items that are in memory; false if they were not read yet. What changed
// since they were read is not in them.
func (r *Reader) Known() (*item.Snapshot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return nil, false
	}
	return r.index.Snapshot(), true
}

// Find finds an item in the directory that root is. It looks at a single file unless all
// items are in memory.
func (r *Reader) Find(root *os.Root, id item.ID) (*item.Summary, error) {
	if r.Loaded() {
		return r.Lookup(id)
	}
	_, it, err := layout.Open(root, layout.Items, id)
	return &it.Summary, err
}

// Largest returns the largest number of a file of an item in the directory that root is.
func (r *Reader) Largest(root *os.Root) (item.ID, error) {
	if r.Loaded() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := r.refresh(); err != nil || r.index == nil {
			return 0, err
		}
		return r.index.Largest(), nil
	}
	names, err := layout.Names(root, layout.Items)
	var largest item.ID
	for _, name := range names {
		if id, err := itemdir.Number(name); err == nil {
			largest = max(largest, id)
		}
	}
	return largest, err
}

// FilesWithProblems returns the names of the files of items that a snapshot warns about.
func (r *Reader) FilesWithProblems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return nil
	}
	return r.index.FilesWithProblems()
}

// Item reads one item. The error can be an [*item.NotFoundError] or a [*storage.BrokenError].
func (r *Reader) Item(id item.ID) (item.Item, error) {
	root, err := r.Root()
	if err != nil {
		return item.Item{}, err
	}
	defer root.Close()
	_, it, err := layout.Open(root, layout.Items, id)
	if err != nil {
		return it, err
	}
	it.Link = layout.ReadLink(root, it.Created)
	records, err := layout.Renumberings(root)
	for _, r := range renumbered.Of(records, id, it.Created) {
		it.Former = append(it.Former, item.Former{ID: r.From, On: r.On})
	}
	return it, err
}

// Anywhere reads an item that may be deleted.
func Anywhere(root *os.Root, id item.ID) (it item.Item, deleted bool, err error) {
	_, it, err = layout.Open(root, layout.Items, id)
	if item.IsNotFound(err) {
		if _, it, err = layout.Open(root, layout.Trash, id); err == nil {
			deleted = true
		}
	}
	if err == nil {
		it.Link = layout.ReadLink(root, it.Created)
	}
	return it, deleted, err
}

// Unmerged returns both versions of an item whose file could not be read because git could not
// merge it; ok is false if err has another reason.
func (r *Reader) Unmerged(err error) (it item.Item, ok bool) {
	broken, isBroken := errors.AsType[*storage.BrokenError](err)
	if !isBroken || broken.Reason != ticfile.ErrConflict.Error() {
		return item.Item{}, false
	}
	root, err := r.Root()
	if err != nil {
		return item.Item{}, false
	}
	defer root.Close()
	text, err := itemdir.ReadFile(root, broken.File)
	if err != nil {
		return item.Item{}, false
	}
	if it, ok = itemdir.Unmerged(broken.ID, text); ok {
		it.Link = layout.ReadLink(root, it.Created)
	}
	return it, ok
}

// Links returns the links of all items that have one.
func (r *Reader) Links() (map[item.ID]item.Link, error) {
	root, err := r.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := layout.Names(root, layout.Links)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	linked := make(map[string]bool, len(names))
	for _, name := range names {
		linked[layout.Links+"/"+name] = true
	}
	snapshot, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	links := map[item.ID]item.Link{}
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		if name, ok := layout.LinkName(it.Created); ok && linked[name] {
			links[it.ID] = layout.ReadLink(root, it.Created)
		}
	}
	return links, nil
}
