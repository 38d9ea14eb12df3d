package writer

import (
	"cmp"
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

// Writer changes a store, under its lock. It is for one goroutine.
type Writer struct {
	*Directory
	Tx *lockedstore.Tx
	// despiteMark means that the mark of a store whose items move does not keep the writer from it.
	despiteMark bool
	by          claim.Agent // who changes it
	// undoes is the ID of the change that is being undone, and stolen the agent from which its item is
	// taken for that.
	undoes, stolen string
	will           usage // after the change
	// Elsewhere returns a number, not less than one, that no other branch or worktree
	// has given out; nil if nobody can tell.
	Elsewhere func(minimum item.ID) item.ID
}

// prepare makes what the private directory needs, and finishes what was begun.
func (w *Writer) prepare() error {
	if !w.despiteMark {
		mark, err := w.Mark()
		if err = cmp.Or(err, mark.Err()); err != nil {
			return err
		}
	}
	if _, err := w.Tx.Root().Lstat(layout.Ignore); errors.Is(err, fs.ErrNotExist) {
		if err := w.Tx.Write(lockedstore.File{Name: layout.Ignore, Data: []byte("*\n")}); err != nil {
			return err
		}
	}
	if w.Shared { // an interrupted move to another store is repeated, not finished
		if err := w.finishExchange(); err != nil {
			return fmt.Errorf("finish the interrupted change: %w", err)
		}
	}
	return w.Trash().Finish()
}

// finishExchange completes an interrupted exchange of files. In an archive, its author chose the files.
func (w *Writer) finishExchange() error {
	if w.owned == nil || !exchange.Interrupted(w.Tx.Root()) || w.owned() {
		return exchange.Finish(w.Tx)
	}
	return &storage.StoreError{
		Problem: "the shared store has an unfinished sync, and this machine neither created nor synced the store",
		Next:    "If you trust the directory, finish it with `copse item sync`. If not, delete " + exchange.JournalName + " in the store; that loses no item.",
	}
}

// Trash returns what deletes and restores items in the change.
func (w *Writer) Trash() trash.Trash {
	return trash.Trash{Tx: w.Tx, Find: w.find, History: w.History}
}

// Timestamp returns the time of a change, as tic writes it.
func (w *Writer) Timestamp() string { return births.Timestamp(w.now()) }

// lastYear is the last year that a timestamp can name.
const lastYear = 9999

// after returns the time of a change to an item that was last updated at a time. It is later than
// that, even if the clock is not: git recognizes a change and a deletion as a conflict only if both
// change the line of that time.
func (w *Writer) after(updated string) string {
	at := w.now()
	last, err := time.Parse(time.RFC3339, updated)
	next := last.UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	if err == nil && at.Before(next) && next.Year() <= lastYear {
		at = next
	}
	return births.Timestamp(at)
}

// Configuration reads the configuration afresh, to be changed.
func (w *Writer) Configuration() (*ticfile.Config, error) {
	text, err := itemdir.ReadFile(w.Tx.Root(), layout.Config)
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
func (w *Writer) find(id item.ID) (*item.Summary, error) { return w.Find(w.Tx.Root(), id) }

// NextID returns a number that no item has or had, here or, as far as it is known, elsewhere.
func (w *Writer) NextID(config *ticfile.Config) (item.ID, error) {
	largest, err := w.Largest(w.Tx.Root())
	if err != nil {
		return 0, err
	}
	first := max(config.NextID(), largest+1, 1)
	if first > item.MaxID { // somebody has written the largest number
		first = largest%item.MaxID + 1
	}
	id, err := w.firstFree(first)
	if err != nil || w.Elsewhere == nil {
		return id, err
	}
	return w.firstFree(w.Elsewhere(id))
}

// firstFree returns the first free number from minimum.
func (w *Writer) firstFree(minimum item.ID) (item.ID, error) {
	for id := minimum; id <= item.MaxID; id++ {
		free, err := w.free(id)
		if free || err != nil {
			return id, err
		}
	}
	return 0, fmt.Errorf("no number is left for a new item: %s or a file in %q has the largest number", layout.Config, layout.Items)
}

// free reports whether no file is that of item id, deleted or not.
func (w *Writer) free(id item.ID) (bool, error) {
	for _, dir := range []string{layout.Items, layout.Trash} {
		switch _, err := w.Tx.Root().Lstat(dir + "/" + itemdir.FileName(id)); {
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
func (w *Writer) birth(id item.ID) string {
	var known []string
	if all, ok := w.Known(); ok {
		for _, it := range all.List(item.Config{}, item.Filter{All: true}) {
			known = append(known, it.Created)
		}
	} else if it, err := w.find(id - 1); err == nil {
		known = append(known, it.Created)
	}
	return births.New(w.Tx.Root(), known, w.now())
}

// Create adds an item.
func (w *Writer) Create(d item.Draft) (item.Item, error) {
	config, err := w.Configuration()
	if err != nil {
		return item.Item{}, err
	}
	if d, err = config.Values().Complete(d); err != nil {
		return item.Item{}, err
	}
	if err := relation.CheckNew(w.find, d.Parent, d.DependsOn); err != nil { // before a number is taken
		return item.Item{}, err
	}
	id, err := w.NextID(config)
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
func (w *Writer) add(config *ticfile.Config, it item.Item) error {
	content, err := ticfile.New(it)
	if err != nil {
		return err
	}
	file, err := layout.File(layout.Items, it.ID, content)
	if err != nil {
		return err
	}
	if err := w.checkSpace(file); err != nil {
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
	if err := w.Tx.MakeDir(layout.Items); err != nil {
		return err
	}
	// In this order, at worst a number is lost.
	made := changes.NewChange(changes.Created, it.ID, w.by, it.Created)
	log, err := w.logFile(&it, &made, "")
	if err != nil {
		return err
	}
	if err := w.Tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(config.Text())}, log, file); err != nil {
		return err
	}
	births.Note(w.Tx.Root(), &it.Summary)
	w.noteUsed()
	return nil
}

// Update changes an item, and ends its claim if it is done.
func (w *Writer) Update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error) {
	config, err := w.Configuration()
	if err != nil {
		return item.Item{}, err
	}
	if p, err = config.Values().Check(p); err != nil {
		return item.Item{}, err
	}
	content, before, err := layout.Open(w.Tx.Root(), layout.Items, id)
	if err != nil {
		return item.Item{}, err
	}
	before.Link = layout.ReadLink(w.Tx.Root(), before.Created)
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
	err = w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error {
		return c.Finish(&before.Summary, p.Steal, func(stolen string) error {
			it, err = w.write(config, content, before, p, stolen)
			return err
		})
	})
	return it, err
}

// finishes reports whether a patch makes an item done that is not.
func (w *Writer) finishes(before *item.Summary, p item.Patch) (bool, error) {
	if p.Status == nil {
		return false, nil
	}
	config, err := w.Config()
	return err == nil && config.Done(*p.Status) && !config.Done(before.Status), err
}

// write writes an item with the values of a patch, and from whom it was stolen for that.
func (w *Writer) write(config *ticfile.Config, content *ticfile.File, before item.Item, p item.Patch, stolen string) (item.Item, error) {
	was := config.Text()
	if err := content.Update(before.ID, p, w.after(before.Updated)); err != nil {
		return item.Item{}, layout.Unchangeable(before.ID, err)
	}
	if p.Iteration != nil && *p.Iteration != "" {
		if _, err := w.file(before.ID, content); err != nil { // before the iteration is added
			return item.Item{}, err
		}
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
	it.Link, err = layout.WriteLink(w.Tx, it, p)
	return it, err
}

// AddComment adds a comment, with the time of the change.
func (w *Writer) AddComment(id item.ID, c item.Comment) (item.Comment, error) {
	content, before, err := layout.Open(w.Tx.Root(), layout.Items, id)
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

// SetIteration sets the current iteration.
func (w *Writer) SetIteration(name string) error {
	config, err := w.Configuration()
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

// SetDoneStatuses sets the statuses that mean done; none restores the default.
func (w *Writer) SetDoneStatuses(statuses []string) error {
	config, err := w.Configuration()
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
func (w *Writer) saveConfig(config *ticfile.Config, before string) error {
	text := config.Text()
	switch {
	case text == before:
		return nil
	case len(text) > ticfile.MaxSize:
		return reader.ConfigError(fmt.Errorf("would have %d bytes; the limit is %d", len(text), ticfile.MaxSize))
	}
	return w.Tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(text)})
}

// Initialize writes the configuration of a new project, unless there is one.
func (w *Writer) Initialize() (created bool, err error) {
	switch _, err := w.Tx.Root().Lstat(layout.Config); {
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("inspect %q: %w", layout.Config, rooted.WithoutPath(err))
	}
	return true, w.Tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(ticfile.NewConfig)})
}

// Delete deletes an item that is as it was seen in a preview.
func (w *Writer) Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
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
	return w.Claims.Change(ctx, w.Tx, func(c *claimbook.Tx) error {
		return c.Finish(&it.Summary, steal, func(stolen string) error {
			change := w.moved(changes.Deleted, id)
			change.StolenFrom = stolen
			return w.Trash().Delete(id, preview, change)
		})
	})
}

// Restore brings a deleted item back.
func (w *Writer) Restore(id item.ID) (item.Item, error) {
	if _, _, err := layout.Open(w.Tx.Root(), layout.Items, id); !item.IsNotFound(err) {
		return item.Item{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not deleted", id)}
	}
	content, _, err := layout.Open(w.Tx.Root(), layout.Trash, id)
	if err != nil {
		return item.Item{}, err
	}
	lost := content.Lost()
	relations := int64(len(lost.Children) + len(lost.Dependents))
	if err := w.checkGrowth(itemdir.SizeOf(w.Tx.Root(), layout.Trashed(id)) + relationSize*relations); err != nil {
		return item.Item{}, err
	}
	if err := w.Trash().Restore(id, w.moved(changes.Restored, id)); err != nil {
		return item.Item{}, err
	}
	_, it, err := layout.Open(w.Tx.Root(), layout.Items, id)
	return it, err
}

// moved returns the change of an item that goes to the trash, or comes from it.
func (w *Writer) moved(kind changes.Kind, id item.ID) changes.Change {
	c := changes.NewChange(kind, id, w.by, w.Timestamp())
	c.Undoes = w.undoes
	return c
}
