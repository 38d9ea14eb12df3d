package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
)

// What is in the directory of a store. The private one has what only this package uses, and ignores
// itself in git.
const (
	configName    = "config.yml"
	itemsFolder   = "items"
	trashFolder   = "trash"
	privateFolder = ".copse"
	lockName      = privateFolder + "/lock"
	ignoreName    = privateFolder + "/.gitignore"
	ignoreText    = "*\n"
	newerName     = "tic.db" // where later versions of tic keep all
)

// lockWait is how long a change waits for others to finish theirs.
const lockWait = 10 * time.Second

// syncWait is how long an exchange with a remote waits for another one to end.
const syncWait = 5 * time.Minute

// directory is one .tic directory. It is safe for concurrent use.
type folder struct {
	dir      rooted.Dir
	watching bool
	caches   string // the directory of caches; empty if there is none
	now      func() time.Time
	done     func() ([]string, error) // nil: nobody says
	config   *cachedfile.File[configuration]
	locked   *lockedstore.Store
	claims   *claimBook
	history  string // the directory of the histories

	mu    sync.Mutex
	index *itemfolder.Index // nil before it is needed, and while there is no directory of items
	repo  *gitmerge.Repo    // nil before it is needed, and outside of git
}

// configuration is a configuration file that was read.
type configuration struct {
	values item.Config
	// unmerged is set when the values are those of an unfinished merge.
	unmerged bool
}

func openFolder(dir rooted.Dir, watching bool, now func() time.Time, place Location) *folder {
	return &folder{
		dir:      dir,
		caches:   place.Caches,
		done:     place.Done,
		watching: watching,
		now:      now,
		config:   cachedfile.NewIn(dir.In(), configName, ticfile.MaxSize, parseConfiguration),
		locked:   lockedstore.NewIn(dir, lockName, lockWait),
		claims:   newClaimBook(dir, place),
		history:  historyFolder(dir.Path(), place),
	}
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop()
}

func (f *folder) drop() {
	if f.index != nil {
		f.index.Close()
		f.index = nil
	}
}

// parseConfiguration reads a configuration for looking at items. For that, an
// unfinished merge is finished in memory.
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
		return configuration{}, configError(err)
	}
	values := c.Values()
	if unmerged {
		values.Warnings = append(values.Warnings, item.Warning{File: configName, Reason: ticfile.ErrConflict.Error()})
	}
	for _, problem := range c.Problems() {
		values.Warnings = append(values.Warnings, item.Warning{File: configName, Reason: problem})
	}
	return configuration{values: values, unmerged: unmerged}, nil
}

func configError(err error) error { return &item.ConfigError{File: configName, Reason: err.Error()} }

// readConfig returns the values of the configuration.
func (f *folder) readConfig() (item.Config, error) {
	c, err := f.config.Get()
	if err != nil {
		return item.Config{}, f.explain(err)
	}
	if len(c.values.DoneStatuses) == 0 && f.done != nil {
		if c.values.DoneStatuses, err = f.done(); err != nil {
			return item.Config{}, configError(fmt.Errorf("leaves the done statuses to your settings: %w", err))
		}
	}
	return c.values, nil
}

// explain makes a *item.ConfigError of what reading the configuration gave.
func (f *folder) explain(err error) error {
	if _, ok := errors.AsType[*item.ConfigError](err); ok {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return configError(fmt.Errorf("cannot be used: %w", err))
	}
	if _, err := os.Lstat(filepath.Join(f.dir.Path(), newerName)); err == nil {
		return configError(errors.New("is missing: this store is kept in " + newerName + " by a newer tic, which is not read here"))
	}
	return configError(errors.New("is missing; restore it, or initialize the project again"))
}

// snapshot returns all items as they are now.
func (f *folder) snapshot() (*item.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return nil, err
	}
	if f.index == nil {
		return new(item.Snapshot), nil
	}
	snapshot := f.index.Snapshot()
	if warnings := f.outdated(snapshot); len(warnings) > 0 {
		snapshot = snapshot.With(nil, append(warnings, snapshot.Warnings...))
	}
	return snapshot, nil
}

// refresh brings the index up to date. The caller holds f.mu.
func (f *folder) refresh() error {
	// The directory can be replaced while it is opened.
	const attempts = 3
	for range attempts {
		if f.index != nil {
			ok, err := f.index.Update()
			if ok && err == nil {
				return nil
			}
			f.drop()
		}
		items := f.dir.Sub(itemsFolder)
		path := items.Path()
		switch info, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("inspect directory %q: %w", itemsFolder, lockedstore.WithoutPath(err))
		case !info.IsDir():
			return fmt.Errorf("%q in the store is not a directory", itemsFolder)
		}
		index, err := itemfolder.Open(items, itemfolder.Options{Name: itemsFolder, Watching: f.watching, Cache: itemfolder.CacheFile(f.caches, path)})
		if err != nil {
			return fmt.Errorf("read directory %q: %w", itemsFolder, err)
		}
		f.index = index
		if index.Current() {
			return nil
		}
	}
	return fmt.Errorf("read directory %q: another program keeps replacing it", itemsFolder)
}

// lookup returns an [item.Lookup] that knows broken items, too.
func (f *folder) lookup(id item.ID) (*item.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return nil, err
	}
	if f.index == nil {
		return nil, &item.NotFoundError{ID: id}
	}
	return f.index.Find(id)
}

// loaded reports whether the index is in memory, so that using it is cheap.
func (f *folder) loaded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.index != nil
}

// open reads the file of an item in a directory of the store.
func (f *folder) open(root *os.Root, folder string, id item.ID) (*ticfile.File, item.Item, error) {
	name := folder + "/" + itemfolder.FileName(id)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, item.Item{}, &item.NotFoundError{ID: id}
	}
	if err == nil {
		err = itemfolder.CheckRegular(info.Mode())
	} else {
		err = itemfolder.Unreadable(err)
	}
	var content *ticfile.File
	var it item.Item
	if err == nil {
		content, it, err = readItem(root, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, item.Item{}, &item.NotFoundError{ID: id}
	case err != nil:
		return nil, item.Item{}, &item.BrokenError{ID: id, File: name, Reason: err.Error()}
	}
	it.ID = id
	return content, it, nil
}

func readItem(root *os.Root, name string) (*ticfile.File, item.Item, error) {
	text, err := itemfolder.ReadFile(root, name)
	if err != nil {
		return nil, item.Item{}, err
	}
	content, err := ticfile.Parse(text)
	if err != nil {
		return nil, item.Item{}, err
	}
	it, _, err := content.Item()
	return content, it, err
}

// item reads one item.
func (f *folder) item(id item.ID) (item.Item, error) {
	root, err := f.dir.Open()
	if err != nil {
		return item.Item{}, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	_, it, err := f.open(root, itemsFolder, id)
	if err != nil {
		return it, err
	}
	it.Link = readLink(root, it.Created)
	records, err := itemfolder.ReadFile(root, renumbered.Name)
	if err != nil {
		return it, nil
	}
	for _, r := range renumbered.Of(renumbered.Parse(records), id, it.Created) {
		it.Former = append(it.Former, item.Former{ID: r.From, On: r.On})
	}
	return it, nil
}

// unmerged returns both versions of an item that could not be read for the reason of
// err; ok is false if that is not that git could not merge it.
func (f *folder) unmerged(err error) (it item.Item, ok bool) {
	broken, isBroken := errors.AsType[*item.BrokenError](err)
	if !isBroken || broken.Reason != ticfile.ErrConflict.Error() {
		return item.Item{}, false
	}
	root, err := f.dir.Open()
	if err != nil {
		return item.Item{}, false
	}
	defer root.Close()
	text, err := itemfolder.ReadFile(root, broken.File)
	if err != nil {
		return item.Item{}, false
	}
	if it, ok = itemfolder.Unmerged(broken.ID, text); ok {
		it.Link = readLink(root, it.Created)
	}
	return it, ok
}

// change calls do while nobody else changes the store, after what a process that
// was killed has left unfinished.
func (f *folder) change(ctx context.Context, do func(*writer) error) error {
	err := f.locked.Change(ctx, func(tx *lockedstore.Tx) error {
		w := &writer{folder: f, tx: tx, by: item.AgentOf(ctx)}
		if err := w.prepare(); err != nil {
			return err
		}
		return do(w)
	})
	if err == nil || isRule(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("change the items in %s: %w", folderName, err)
}

// isRule reports whether an error is for the user as it is.
func isRule(err error) bool {
	_, invalid := errors.AsType[*item.InvalidError](err)
	_, changed := errors.AsType[*item.ChangedError](err)
	_, broken := errors.AsType[*item.BrokenError](err)
	_, config := errors.AsType[*item.ConfigError](err)
	_, held := errors.AsType[*item.HeldError](err)
	_, nothing := errors.AsType[*item.NothingToClaimError](err)
	_, undo := errors.AsType[*item.UndoError](err)
	_, store := errors.AsType[*item.StoreError](err)
	return store || invalid || changed || broken || config || held || nothing || undo || item.IsNotFound(err)
}
