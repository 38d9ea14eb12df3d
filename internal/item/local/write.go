package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/births"
	"github.com/copse-dev/copse/internal/item/local/claimbook"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/trash"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
)

// writer changes a store, under its lock. It is for one goroutine.
type writer struct {
	*directory
	tx *lockedstore.Tx
	// moving means that the items move to or from another store: the mark of the store does not
	// keep the writer from it.
	moving bool
	// syncing means that the change is a part of an exchange with a remote. A store with a mark takes
	// part in it, too, because the remote must have the mark.
	syncing bool
	by      claim.Agent // who changes it
	// undoes is the ID of the change that is being undone, and stolen the agent from which its item is
	// taken for that.
	undoes, stolen string
	// elsewhere returns a number, not less than one, that no other branch or worktree
	// has given out; nil if nobody can tell.
	elsewhere func(minimum item.ID) item.ID
}

// prepare makes what the private directory needs, and finishes what was begun.
func (w *writer) prepare() error {
	if !w.moving && !w.syncing {
		if err := w.moveMark().Err(); err != nil {
			return err
		}
	}
	if _, err := w.tx.Root().Lstat(layout.Ignore); errors.Is(err, fs.ErrNotExist) {
		if err := w.tx.Write(lockedstore.File{Name: layout.Ignore, Data: []byte("*\n")}); err != nil {
			return err
		}
	}
	if w.shared { // an interrupted move to another store is repeated, not finished
		if err := exchange.Finish(w.tx); err != nil {
			return fmt.Errorf("finish the interrupted change: %w", err)
		}
	}
	return w.trash().Finish()
}

// trash returns what deletes and restores items in the change.
func (w *writer) trash() trash.Trash {
	return trash.Trash{Tx: w.tx, Find: w.find, History: w.history}
}

// timestamp returns the time of a change, as tic writes it.
func (w *writer) timestamp() string { return births.Timestamp(w.now()) }

// lastYear is the last year that a timestamp can name.
const lastYear = 9999

// after returns the time of a change to an item that was last updated at a time. It is later than
// that, even if the clock is not: git recognizes a change and a deletion as a conflict only if both
// change the line of that time.
func (w *writer) after(updated string) string {
	at := w.now()
	last, err := time.Parse(time.RFC3339, updated)
	next := last.UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	if err == nil && at.Before(next) && next.Year() <= lastYear {
		at = next
	}
	return births.Timestamp(at)
}

// configuration reads the configuration afresh, to be changed.
func (w *writer) configuration() (*ticfile.Config, error) {
	text, err := itemdir.ReadFile(w.tx.Root(), layout.Config)
	if err != nil {
		return nil, w.Explain(err)
	}
	config, err := ticfile.ParseConfig(text)
	if errors.Is(err, ticfile.ErrConflict) {
		// An open merge blocks nobody: both versions' numbers are in use.
		if merged, mergeErr := ticfile.MergeConfig(text); mergeErr == nil {
			return merged, nil
		}
	}
	if err != nil {
		return nil, reader.ConfigError(err)
	}
	return config, nil
}

// find finds an item, as a [relation.Lookup] does.
func (w *writer) find(id item.ID) (*item.Summary, error) { return w.Find(w.tx.Root(), id) }

// nextID returns a number that no item has or had, here or, as far as it is known, elsewhere.
func (w *writer) nextID(config *ticfile.Config) (item.ID, error) {
	largest, err := w.Largest(w.tx.Root())
	if err != nil {
		return 0, err
	}
	id, err := w.firstFree(max(config.NextID(), largest+1, 1))
	if err != nil || w.elsewhere == nil {
		return id, err
	}
	return w.firstFree(w.elsewhere(id))
}

// firstFree returns the first free number from minimum.
func (w *writer) firstFree(minimum item.ID) (item.ID, error) {
	for id := minimum; id <= item.MaxID; id++ {
		free, err := w.free(id)
		if free || err != nil {
			return id, err
		}
	}
	return 0, fmt.Errorf("no number is left for a new item: %s or a file in %q has the largest number", layout.Config, layout.Items)
}

// free reports whether no file is that of item id, deleted or not.
func (w *writer) free(id item.ID) (bool, error) {
	for _, dir := range []string{layout.Items, layout.Trash} {
		switch _, err := w.tx.Root().Lstat(dir + "/" + itemdir.FileName(id)); {
		case err == nil:
			return false, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, fmt.Errorf("inspect %q: %w", dir, rooted.WithoutPath(err))
		}
	}
	return true, nil
}

// birth returns the time of creation of a new item. The items that are in memory count or,
// without any, the one before it.
func (w *writer) birth(id item.ID) string {
	var known []string
	if all, ok := w.Known(); ok {
		for _, it := range all.List(item.Config{}, item.Filter{All: true}) {
			known = append(known, it.Created)
		}
	} else if it, err := w.find(id - 1); err == nil {
		known = append(known, it.Created)
	}
	return births.New(w.tx.Root(), known, w.now())
}

func (w *writer) create(d item.Draft) (item.Item, error) {
	config, err := w.configuration()
	if err != nil {
		return item.Item{}, err
	}
	if d, err = config.Values().Complete(d); err != nil {
		return item.Item{}, err
	}
	if err := relation.CheckNew(w.find, d.Parent, d.DependsOn); err != nil { // before a number is taken
		return item.Item{}, err
	}
	id, err := w.nextID(config)
	if err != nil {
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
	file, err := layout.File(layout.Items, it.ID, content)
	if err != nil {
		return err
	}
	if err := config.SetNextID(it.ID + 1); err != nil {
		return reader.ConfigError(err)
	}
	if it.Iteration != "" {
		if err := config.AddIteration(it.Iteration); err != nil {
			return reader.ConfigError(err)
		}
	}
	if err := w.tx.MakeDir(layout.Items); err != nil {
		return err
	}
	// In this order, at worst a number is lost.
	made := changes.NewChange(changes.Created, it.ID, w.by, it.Created)
	log, err := w.logFile(&it, &made, "")
	if err != nil {
		return err
	}
	if err := w.tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(config.Text())}, log, file); err != nil {
		return err
	}
	births.Note(w.tx.Root(), &it.Summary)
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
	content, before, err := layout.Open(w.tx.Root(), layout.Items, id)
	if err != nil {
		return item.Item{}, err
	}
	before.Link = layout.ReadLink(w.tx.Root(), before.Created)
	if err := relation.Check(w.find, id, p.Parent, p.DependsOn); err != nil {
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
	err = w.claims.Change(ctx, w.tx, func(c *claimbook.Tx) error {
		return c.Finish(&before.Summary, p.Steal, func(stolen string) error {
			it, err = w.write(config, content, before, p, stolen)
			return err
		})
	})
	return it, err
}

// finishes reports whether a patch makes an item done that is not.
func (w *writer) finishes(before *item.Summary, p item.Patch) (bool, error) {
	if p.Status == nil {
		return false, nil
	}
	config, err := w.Config()
	return err == nil && config.Done(*p.Status) && !config.Done(before.Status), err
}

// write writes an item with the values of a patch, and from whom it was stolen for that.
func (w *writer) write(config *ticfile.Config, content *ticfile.File, before item.Item, p item.Patch, stolen string) (item.Item, error) {
	was := config.Text()
	if err := content.Update(before.ID, p, w.after(before.Updated)); err != nil {
		return item.Item{}, layout.Unchangeable(before.ID, err)
	}
	if p.Iteration != nil && *p.Iteration != "" {
		if err := config.AddIteration(*p.Iteration); err != nil {
			return item.Item{}, reader.ConfigError(err)
		}
		if err := w.saveConfig(config, was); err != nil {
			return item.Item{}, err
		}
	}
	after, _, err := content.Item()
	if err != nil {
		return item.Item{}, itemdir.Broken(layout.Items, before.ID, err)
	}
	after.ID, after.Link = before.ID, before.Link.With(p)
	var change *changes.Change
	if made, any := changes.NewUpdate(&before, &after, w.by); any {
		made.StolenFrom = stolen
		change = &made
	}
	it, err := w.saveChange(&before, content, change)
	if err != nil {
		return item.Item{}, err
	}
	it.Link, err = layout.WriteLink(w.tx, it, p)
	return it, err
}

func (w *writer) addComment(id item.ID, c item.Comment) (item.Comment, error) {
	content, before, err := layout.Open(w.tx.Root(), layout.Items, id)
	if err != nil {
		return item.Comment{}, err
	}
	c.Date = w.after(before.Updated)
	if err := content.AddComment(id, c); err != nil {
		return item.Comment{}, layout.Unchangeable(id, err)
	}
	change := changes.NewComment(id, c, w.by)
	_, err = w.saveChange(&before, content, &change)
	return c, err
}

func (w *writer) setIteration(name string) error {
	config, err := w.configuration()
	if err != nil {
		return err
	}
	if err := config.Values().CheckIteration(name); err != nil {
		return err
	}
	before := config.Text()
	if err := errors.Join(config.AddIteration(name), config.SetCurrentIteration(name)); err != nil {
		return reader.ConfigError(fmt.Errorf("cannot be changed: %w", err))
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
		if storage.IsRefusal(err) {
			return err
		}
		return reader.ConfigError(fmt.Errorf("cannot be changed: %w", err))
	}
	return w.saveConfig(config, before)
}

// saveConfig writes the configuration unless it is as it was. It refuses to write one that no reader
// would read.
func (w *writer) saveConfig(config *ticfile.Config, before string) error {
	text := config.Text()
	switch {
	case text == before:
		return nil
	case len(text) > ticfile.MaxSize:
		return reader.ConfigError(fmt.Errorf("would have %d bytes; the limit is %d", len(text), ticfile.MaxSize))
	}
	return w.tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(text)})
}

// initialize writes the configuration of a new project, unless there is one.
func (w *writer) initialize() (created bool, err error) {
	switch _, err := w.tx.Root().Lstat(layout.Config); {
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("inspect %q: %w", layout.Config, rooted.WithoutPath(err))
	}
	return true, w.tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(ticfile.NewConfig)})
}

// delete deletes an item that is as it was seen in a preview.
func (w *writer) delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
	it, err := w.Item(id)
	if err != nil {
		return err
	}
	all, err := w.Snapshot()
	if err != nil {
		return err
	}
	preview, err := all.Preview(it)
	if err != nil {
		return err
	}
	if seen != "" && seen != preview.Fingerprint {
		return &storage.ChangedError{ID: id}
	}
	return w.claims.Change(ctx, w.tx, func(c *claimbook.Tx) error {
		return c.Finish(&it.Summary, steal, func(stolen string) error {
			change := w.moved(changes.Deleted, id)
			change.StolenFrom = stolen
			return w.trash().Delete(id, preview, change)
		})
	})
}

// restore brings a deleted item back.
func (w *writer) restore(id item.ID) (item.Item, error) {
	if _, _, err := layout.Open(w.tx.Root(), layout.Items, id); !item.IsNotFound(err) {
		return item.Item{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not deleted", id)}
	}
	if _, _, err := layout.Open(w.tx.Root(), layout.Trash, id); err != nil {
		return item.Item{}, err
	}
	if err := w.trash().Restore(id, w.moved(changes.Restored, id)); err != nil {
		return item.Item{}, err
	}
	_, it, err := layout.Open(w.tx.Root(), layout.Items, id)
	return it, err
}

// moved returns the change of an item that goes to the trash, or comes from it.
func (w *writer) moved(kind changes.Kind, id item.ID) changes.Change {
	c := changes.NewChange(kind, id, w.by, w.timestamp())
	c.Undoes = w.undoes
	return c
}
