// Package trash deletes work items of a store and restores them.
//
// A deleted item keeps its file, in the directory trash, with the relations that its deletion
// removed from others: [Trash.Delete] removes it from their parents and dependencies, and
// [Trash.Restore]
// restores the relations as far as they are possible. [List] returns the content of the trash, and
// [Trash.Purge] removes items permanently. The caller holds the lock of the store.
//
// Both changes affect several files, and a killed process does no harm. An item is deleted,
// or restored, by these steps, each of which leaves a valid store:
//
//  1. record the change;
//  2. move the item's file to the trash, or from there. From here on, the change is effective,
//     and only the related files must follow;
//  3. rewrite these: their new contents are all on disk before the first is
//     replaced;
//  4. remove the record.
//
// After a crash, [Trash.Finish], with which each change of the store begins, finds
// the record, and continues with step 3 if step 2 was done; each step is idempotent.
package trash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/historydir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// pendingName is the file that holds the change in progress.
const pendingName = layout.Private + "/pending.json"

// Trash changes which items of a store are deleted, as a part of a change of the store.
type Trash struct {
	Tx *lockedstore.Tx
	// Find finds the items that are not deleted.
	Find    relation.Lookup
	History historydir.Dir
}

// pending is the change in progress. One of the two numbers is 0.
type pending struct {
	Delete     item.ID   `json:"delete,omitzero"`
	Restore    item.ID   `json:"restore,omitzero"`
	Deleted    string    `json:"deleted,omitempty"` // when
	Children   []item.ID `json:"children,omitempty"`
	Dependents []item.ID `json:"dependents,omitempty"`
	// Change is what the history of the item gets.
	Change changes.Change `json:"change,omitzero"`
}

// steps returns the item that it is done to, and the directories that its file moves
// between.
func (p pending) steps() (id item.ID, from, to string) {
	if p.Delete != 0 {
		return p.Delete, layout.Items, layout.Trash
	}
	return p.Restore, layout.Trash, layout.Items
}

// Delete deletes an item. change is what its history gets, and the time of the deletion. The
// preview says which others refer to the item.
func (t Trash) Delete(id item.ID, p item.Preview, change changes.Change) error {
	if _, err := t.Tx.Root().Lstat(layout.Trashed(id)); !errors.Is(err, fs.ErrNotExist) {
		return &item.InvalidError{
			Field:   "id",
			Problem: fmt.Sprintf("A deleted item also has the number %d: %s. Remove that file first", id, layout.Trashed(id)),
		}
	}
	return t.perform(pending{Delete: id, Deleted: change.At, Children: idsOf(p.Children), Dependents: idsOf(p.Dependents), Change: change})
}

// Restore brings a deleted item back. change is what its history gets; the zero Change is none.
func (t Trash) Restore(id item.ID, change changes.Change) error {
	return t.perform(pending{Restore: id, Change: change})
}

// Finish completes the work of a killed process.
func (t Trash) Finish() error {
	data, err := regular.ReadIn(t.Tx.Root(), pendingName, layout.MaxOwnFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", pendingName, rooted.WithoutPath(err))
	}
	var p pending
	begun := false
	if json.Unmarshal(data, &p) == nil {
		if begun, err = t.begun(p); err != nil {
			return fmt.Errorf("finish the interrupted change: %w", rooted.WithoutPath(err))
		}
	}
	if begun {
		// A file that has become unreadable or unchangeable blocks nobody.
		if err := t.follow(p); err != nil && !storage.IsRefusal(err) {
			return fmt.Errorf("finish the interrupted change: %w", err)
		}
	}
	return t.Tx.Remove(pendingName)
}

// begun reports whether step 2 was done. An error means that the file cannot be seen.
func (t Trash) begun(p pending) (bool, error) {
	id, from, to := p.steps()
	_, err := t.Tx.Root().Lstat(from + "/" + itemdir.FileName(id))
	if !regular.Absent(err) {
		return false, err
	}
	_, err = t.Tx.Root().Lstat(to + "/" + itemdir.FileName(id))
	if regular.Absent(err) {
		return false, nil
	}
	return err == nil, err
}

// perform does all steps.
func (t Trash) perform(p pending) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if len(data) >= layout.MaxOwnFile { // Finish would not read it
		return fmt.Errorf("too many items refer to the item to change it at once: their list has %d bytes, and the limit is %d", len(data), layout.MaxOwnFile)
	}
	id, from, to := p.steps()
	if err := t.Tx.MakeDir(to); err != nil {
		return err
	}
	if err := t.Tx.Write(lockedstore.File{Name: pendingName, Data: append(data, '\n')}); err != nil {
		return err
	}
	if err := t.Tx.Flush(); err != nil {
		return err
	}
	from, to = from+"/"+itemdir.FileName(id), to+"/"+itemdir.FileName(id)
	if err := t.Tx.Move(from, to); err != nil {
		return errors.Join(err, t.Tx.Remove(pendingName))
	}
	if err := t.follow(p); err != nil {
		// The record is removed only if the move is undone.
		if moveErr := t.Tx.Move(to, from); moveErr != nil {
			return errors.Join(err, moveErr)
		}
		return errors.Join(err, t.Tx.Remove(pendingName))
	}
	if err := t.Tx.Flush(); err != nil {
		return err
	}
	_ = t.Tx.Remove(pendingName) // the change is complete; the next change removes the record, or reports why it cannot
	return nil
}

// follow is step 3.
func (t Trash) follow(p pending) error {
	if p.Delete != 0 {
		return t.forget(p)
	}
	return t.bringBack(p.Restore, p.Change)
}

// withChange returns files with the history of an item that was moved, before the last of them.
func (t Trash) withChange(c changes.Change, it *item.Item, files []lockedstore.File) ([]lockedstore.File, error) {
	if c.ID == "" { // recorded by an earlier version
		return files, nil
	}
	if known, err := t.History.Knows(t.Tx.Root(), &it.Summary, c.ID); err != nil || known {
		return files, err
	}
	file, err := t.History.With(t.Tx, it, &c, "")
	return slices.Insert(files, len(files)-1, file), err
}

func idsOf(list []*item.Summary) []item.ID {
	ids := make([]item.ID, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return ids
}

// forget removes a deleted item from those that refer to it, and records in its own file which they
// were.
func (t Trash) forget(p pending) error {
	content, it, err := layout.Open(t.Tx.Root(), layout.Trash, p.Delete)
	if err != nil {
		return err
	}
	if err := content.Delete(p.Deleted, ticfile.Lost{Children: p.Children, Dependents: p.Dependents}); err != nil {
		return layout.Unchangeable(p.Delete, err)
	}
	file, err := layout.File(layout.Trash, p.Delete, content)
	if err != nil {
		return err
	}
	files := []lockedstore.File{file}
	others := slices.Concat(p.Children, p.Dependents)
	slices.Sort(others)
	for _, id := range slices.Compact(others) {
		content, _, err := layout.Open(t.Tx.Root(), layout.Items, id)
		if item.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := content.Forget(p.Delete); err != nil {
			return layout.Unchangeable(id, err)
		}
		if file, err = layout.File(layout.Items, id, content); err != nil {
			return err
		}
		files = append(files, file)
	}
	if files, err = t.withChange(p.Change, &it, files); err != nil {
		return err
	}
	return t.Tx.Write(files...)
}

// Purge removes items from the trash for good. If one of them is not there, nothing is removed.
func (t Trash) Purge(ids ...item.ID) error {
	for _, id := range ids {
		if _, err := t.Tx.Root().Lstat(layout.Trashed(id)); errors.Is(err, os.ErrNotExist) {
			return &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not in the trash", id)}
		} else if err != nil {
			return fmt.Errorf("inspect %q: %w", layout.Trashed(id), rooted.WithoutPath(err))
		}
	}
	for _, id := range ids {
		_, it, openErr := layout.Open(t.Tx.Root(), layout.Trash, id)
		if err := t.Tx.Remove(layout.Trashed(id)); err != nil {
			return err
		}
		if openErr != nil {
			continue // what cannot be read can be purged
		}
		if err := errors.Join(layout.RemoveLink(t.Tx, it.Created), t.History.Remove(t.Tx, &it.Summary)); err != nil {
			return err
		}
	}
	return nil
}

// List returns the items in the trash, by number, and what in it cannot be read. It reads one file
// after the other, and none that the space for the files of the trash has no room for.
func List(root *os.Root, space itemdir.Space) ([]storage.Trashed, []item.Warning, error) {
	names, err := layout.Names(root, layout.Trash)
	if err != nil {
		return nil, nil, err
	}
	var ids []item.ID
	for _, name := range names {
		if id, err := itemdir.Number(name); err == nil { // the others are not ours
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var found []storage.Trashed
	var warnings []item.Warning
	var total int64
	for _, id := range ids {
		size := itemdir.SizeOf(root, layout.Trashed(id))
		if total += size; !space.Allows(total, size) {
			warnings = append(warnings, item.Warning{File: layout.Trash, Reason: fmt.Sprintf(
				"has deleted items of more than %s together; those from #%d on are not read. Remove some for good: `copse item trash purge %d`", space.MiB(), id, id)})
			break
		}
		content, it, err := layout.Open(root, layout.Trash, id)
		if broken, ok := errors.AsType[*storage.BrokenError](err); ok {
			warnings = append(warnings, item.Warning{File: broken.File, Reason: broken.Reason})
			continue
		}
		if err != nil {
			continue // restored meanwhile
		}
		found = append(found, storage.Trashed{Summary: it.Compact(), At: strings.Clone(content.Deleted())})
	}
	slices.SortFunc(warnings, func(a, b item.Warning) int { return cmp.Compare(a.File, b.File) })
	return found, warnings, nil
}
