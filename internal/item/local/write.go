package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// writer changes a store, under its lock. It is for one goroutine.
type writer struct {
	*folder
	tx *lockedstore.Tx
	// entering says that items come from another store, also to one that they had left.
	entering bool
	by       item.Agent // who changes it
	// undoes is the ID of the change that is being undone.
	undoes string
	// elsewhere returns a number, not less than one, that no other branch or worktree
	// has given out; nil if nobody can tell.
	elsewhere func(least item.ID) item.ID
}

// prepare makes what the private directory needs, and finishes what was begun.
func (w *writer) prepare() error {
	if !w.entering {
		if err := w.checkMoved(); err != nil {
			return err
		}
	}
	if _, err := w.tx.Root().Lstat(ignoreName); errors.Is(err, fs.ErrNotExist) {
		if err := w.tx.Write(lockedstore.File{Name: ignoreName, Data: []byte(ignoreText)}); err != nil {
			return err
		}
	}
	if err := w.finishExchange(); err != nil {
		return fmt.Errorf("finish what was begun: %w", err)
	}
	return w.finish()
}

// timestamp returns the time of a change, as tic writes it.
func (w *writer) timestamp() string { return timestamp(w.now()) }

func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// lastYear is the last year that a timestamp can name.
const lastYear = 9999

// after returns the time of a change to an item that was last updated at a time. It is
// later than that, even if the clock is not: git sees a change and a deletion as a conflict
// only if both change the line of that time.
func (w *writer) after(updated string) string {
	at := w.now()
	last, err := time.Parse(time.RFC3339, updated)
	next := last.UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	if err == nil && at.Before(next) && next.Year() <= lastYear {
		at = next
	}
	return timestamp(at)
}

// configuration reads the configuration afresh, to be changed.
func (w *writer) configuration() (*ticfile.Config, error) {
	text, err := itemfolder.ReadFile(w.tx.Root(), configName)
	if err != nil {
		return nil, w.explain(err)
	}
	config, err := ticfile.ParseConfig(text)
	if errors.Is(err, ticfile.ErrConflict) {
		// An open merge keeps nobody from working: what either version has is there.
		if merged, mergeErr := ticfile.MergeConfig(text); mergeErr == nil {
			return merged, nil
		}
	}
	if err != nil {
		return nil, configError(err)
	}
	return config, nil
}

// find returns an [item.Lookup]. It looks at single files unless all are known.
func (w *writer) find(id item.ID) (*item.Summary, error) {
	if w.loaded() {
		return w.lookup(id)
	}
	_, it, err := w.open(w.tx.Root(), itemsFolder, id)
	return &it.Summary, err
}

// nextID returns a number that no item has or had, here or, as far as it is known, elsewhere.
func (w *writer) nextID(config *ticfile.Config) (item.ID, error) {
	largest, err := w.largest()
	if err != nil {
		return 0, err
	}
	id, err := w.firstFree(max(config.NextID(), largest+1, 1))
	if err != nil || w.elsewhere == nil {
		return id, err
	}
	return w.firstFree(w.elsewhere(id))
}

// firstFree returns the first free number from least.
func (w *writer) firstFree(least item.ID) (item.ID, error) {
	for id := least; id <= item.MaxID; id++ {
		free, err := w.free(id)
		if free || err != nil {
			return id, err
		}
	}
	return 0, fmt.Errorf("no number is left for a new item: %s or a file in %q has the largest there is", configName, itemsFolder)
}

// free reports whether no file is that of item id, deleted or not.
func (w *writer) free(id item.ID) (bool, error) {
	for _, folder := range []string{itemsFolder, trashFolder} {
		switch _, err := w.tx.Root().Lstat(folder + "/" + itemfolder.FileName(id)); {
		case err == nil:
			return false, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, fmt.Errorf("look at %q: %w", folder, lockedstore.WithoutPath(err))
		}
	}
	return true, nil
}

// largest returns the largest number in the directory of items.
func (w *writer) largest() (item.ID, error) {
	if w.loaded() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if err := w.refresh(); err != nil || w.index == nil {
			return 0, err
		}
		return w.index.Largest(), nil
	}
	names, err := readNames(w.tx.Root(), itemsFolder)
	var largest item.ID
	for _, name := range names {
		if id, err := itemfolder.Number(name); err == nil {
			largest = max(largest, id)
		}
	}
	return largest, err
}

// readNames lists a directory of the store; one that does not exist is empty.
func readNames(root *os.Root, name string) ([]string, error) {
	folder, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", name, lockedstore.WithoutPath(err))
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", name, lockedstore.WithoutPath(err))
	}
	return names, nil
}

// fileOf returns the content of an item's file, to be written to a directory.
func fileOf(folder string, id item.ID, content *ticfile.File) (lockedstore.File, error) {
	text, err := content.Text()
	return lockedstore.File{Name: folder + "/" + itemfolder.FileName(id), Data: []byte(text)}, err
}

func (w *writer) create(d item.Draft) (item.Item, error) {
	config, err := w.configuration()
	if err != nil {
		return item.Item{}, err
	}
	if d, err = config.Values().Complete(d); err != nil {
		return item.Item{}, err
	}
	id, err := w.nextID(config)
	if err != nil {
		return item.Item{}, err
	}
	if err := item.CheckNew(w.find, d.Parent, d.DependsOn); err != nil {
		return item.Item{}, err
	}
	now := w.birth(id)
	it := item.Item{
		Summary: item.Summary{
			ID: id, Title: d.Title, Type: d.Type, Status: d.Status, Iteration: d.Iteration, Priority: d.Priority,
			Assignee: d.Assignee, Labels: d.Labels, Created: now, Updated: now, Parent: d.Parent, DependsOn: d.DependsOn,
		},
		Description: d.Description,
	}
	return it, w.add(config, it)
}

// add writes a new item, and that its number is taken.
func (w *writer) add(config *ticfile.Config, it item.Item) error {
	content, err := ticfile.New(it)
	if err != nil {
		return err
	}
	file, err := fileOf(itemsFolder, it.ID, content)
	if err != nil {
		return err
	}
	if err := config.SetNextID(it.ID + 1); err != nil {
		return configError(err)
	}
	if it.Iteration != "" {
		if err := config.AddIteration(it.Iteration); err != nil {
			return configError(err)
		}
	}
	if err := w.tx.MakeFolder(itemsFolder); err != nil {
		return err
	}
	// In this order a number is lost at worst.
	made := item.NewChange(item.Created, it.ID, w.by, it.Created)
	log, err := w.logFile(&it, &made, "")
	if err != nil {
		return err
	}
	if err := w.tx.Write(lockedstore.File{Name: configName, Data: []byte(config.Text())}, log, file); err != nil {
		return err
	}
	w.noteBirth(it)
	return nil
}

func (w *writer) update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error) {
	config, err := w.configuration()
	if err != nil {
		return item.Item{}, err
	}
	if p, err = config.Values().Check(p); err != nil {
		return item.Item{}, err
	}
	content, before, err := w.open(w.tx.Root(), itemsFolder, id)
	if err != nil {
		return item.Item{}, err
	}
	before.Link = readLink(w.tx.Root(), before.Created)
	if err := item.CheckRelations(w.find, id, p.Parent, p.DependsOn); err != nil {
		return item.Item{}, err
	}
	finishes, err := w.finishes(&before.Summary, p)
	if err != nil {
		return item.Item{}, err
	}
	if !finishes {
		return w.write(config, content, before, p, "")
	}
	var it item.Item
	err = w.finishing(ctx, &before.Summary, p.Steal, func(stolen string) error {
		it, err = w.write(config, content, before, p, stolen)
		return err
	})
	return it, err
}

// finishes reports whether a patch makes an item done that is not.
func (w *writer) finishes(before *item.Summary, p item.Patch) (bool, error) {
	if p.Status == nil {
		return false, nil
	}
	config, err := w.readConfig()
	return err == nil && config.Done(*p.Status) && !config.Done(before.Status), err
}

// write writes an item with the values of a patch, and from whom it was stolen for that.
func (w *writer) write(config *ticfile.Config, content *ticfile.File, before item.Item, p item.Patch, stolen string) (item.Item, error) {
	was := config.Text()
	if err := content.Update(before.ID, p, w.after(before.Updated)); err != nil {
		return item.Item{}, unchangeable(before.ID, err)
	}
	if p.Iteration != nil && *p.Iteration != "" {
		if err := config.AddIteration(*p.Iteration); err != nil {
			return item.Item{}, configError(err)
		}
		if err := w.saveConfig(config, was); err != nil {
			return item.Item{}, err
		}
	}
	after, _, err := content.Item()
	if err != nil {
		return item.Item{}, itemfolder.Broken(itemsFolder, before.ID, err)
	}
	after.ID, after.Link = before.ID, before.Link.With(p)
	var change *item.Change
	if made, any := item.NewUpdate(&before, &after, w.by); any {
		made.StolenFrom = stolen
		change = &made
	}
	it, err := w.saveChange(&before, content, change)
	if err != nil {
		return item.Item{}, err
	}
	it.Link, err = w.setLink(it, p)
	return it, err
}

// unchangeable says that the file of an item is read, but not changed.
func unchangeable(id item.ID, err error) error {
	return itemfolder.Broken(itemsFolder, id, fmt.Errorf("cannot be changed: %w", err))
}

func (w *writer) addComment(id item.ID, c item.Comment) (item.Comment, error) {
	content, before, err := w.open(w.tx.Root(), itemsFolder, id)
	if err != nil {
		return item.Comment{}, err
	}
	c.Date = w.after(before.Updated)
	if err := content.AddComment(id, c); err != nil {
		return item.Comment{}, unchangeable(id, err)
	}
	change := item.NewComment(id, c, w.by)
	_, err = w.saveChange(&before, content, &change)
	return c, err
}

func (w *writer) setIteration(name string) error {
	config, err := w.configuration()
	if err != nil {
		return err
	}
	before := config.Text()
	if err := errors.Join(config.AddIteration(name), config.SetCurrentIteration(name)); err != nil {
		return configError(fmt.Errorf("cannot be changed: %w", err))
	}
	return w.saveConfig(config, before)
}

func (w *writer) setDoneStatuses(statuses []string) error {
	config, err := w.configuration()
	if err != nil {
		return err
	}
	before := config.Text()
	if err := config.SetDoneStatuses(statuses); err != nil {
		if isRule(err) {
			return err
		}
		return configError(fmt.Errorf("cannot be changed: %w", err))
	}
	return w.saveConfig(config, before)
}

// saveConfig writes the configuration unless it is as it was.
func (w *writer) saveConfig(config *ticfile.Config, before string) error {
	if config.Text() == before {
		return nil
	}
	return w.tx.Write(lockedstore.File{Name: configName, Data: []byte(config.Text())})
}

// initialize writes the configuration of a new project, unless there is one.
func (w *writer) initialize() (created bool, err error) {
	switch _, err := w.tx.Root().Lstat(configName); {
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("look at %q: %w", configName, lockedstore.WithoutPath(err))
	}
	return true, w.tx.Write(lockedstore.File{Name: configName, Data: []byte(ticfile.NewConfig)})
}
