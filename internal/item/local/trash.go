package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

// pendingName is where it says what is being done to several files. An item is
// deleted, or restored, by these steps, each of which leaves a good store:
//
//  1. write down what is to be done;
//  2. move the item's file to the trash, or from there. From here on it is done,
//     and only the files around it have to follow;
//  3. rewrite these: what they are to have is all on disk before the first is
//     replaced;
//  4. remove what was written down.
//
// After a crash, the next change finds what is written down, and goes on with
// step 3 if step 2 was done; each can be done again.
const pendingName = privateFolder + "/pending.json"

// maxOwnFile is the size in bytes up to which a file that only copse writes is read.
const maxOwnFile = 1 << 20

// pending is what is being done. One of the two numbers is 0.
type pending struct {
	Delete     item.ID   `json:"delete,omitzero"`
	Restore    item.ID   `json:"restore,omitzero"`
	Deleted    string    `json:"deleted,omitempty"` // when
	Children   []item.ID `json:"children,omitempty"`
	Dependents []item.ID `json:"dependents,omitempty"`
	// Change is what the history of the item gets.
	Change item.Change `json:"change,omitzero"`
}

// steps returns the item that it is done to, and the directories that its file moves between.
func (p pending) steps() (id item.ID, from, to string) {
	if p.Delete != 0 {
		return p.Delete, itemsFolder, trashFolder
	}
	return p.Restore, trashFolder, itemsFolder
}

// finish does what a process that was killed has left undone.
func (w *writer) finish() error {
	data, err := regular.ReadIn(w.tx.Root(), pendingName, maxOwnFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", pendingName, lockedstore.WithoutPath(err))
	}
	var p pending
	if json.Unmarshal(data, &p) == nil && w.begun(p) {
		// A file that cannot be read or changed any more holds up nobody.
		if err := w.follow(p); err != nil && !isRule(err) {
			return fmt.Errorf("finish what was begun: %w", err)
		}
	}
	return w.tx.Remove(pendingName)
}

// begun reports whether step 2 was done.
func (w *writer) begun(p pending) bool {
	id, from, to := p.steps()
	_, err := w.tx.Root().Lstat(from + "/" + itemfolder.FileName(id))
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = w.tx.Root().Lstat(to + "/" + itemfolder.FileName(id))
	return err == nil
}

// perform does all steps.
func (w *writer) perform(p pending) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	id, from, to := p.steps()
	if err := w.tx.MakeFolder(to); err != nil {
		return err
	}
	if err := w.tx.Write(lockedstore.File{Name: pendingName, Data: append(data, '\n')}); err != nil {
		return err
	}
	if err := w.tx.Flush(); err != nil {
		return err
	}
	if err := w.tx.Move(from+"/"+itemfolder.FileName(id), to+"/"+itemfolder.FileName(id)); err != nil {
		return errors.Join(err, w.tx.Remove(pendingName))
	}
	if err := w.follow(p); err != nil {
		// Not written down any more only if it is undone.
		if moveErr := w.tx.Move(to+"/"+itemfolder.FileName(id), from+"/"+itemfolder.FileName(id)); moveErr != nil {
			return errors.Join(err, moveErr)
		}
		return errors.Join(err, w.tx.Remove(pendingName))
	}
	if err := w.tx.Flush(); err != nil {
		return err
	}
	return w.tx.Remove(pendingName)
}

// follow is step 3.
func (w *writer) follow(p pending) error {
	if p.Delete != 0 {
		return w.forget(p)
	}
	return w.bringBack(p.Restore, p.Change)
}

func (w *writer) delete(ctx context.Context, id item.ID, seen item.Fingerprint) error {
	it, err := w.item(id)
	if err != nil {
		return err
	}
	snapshot, err := w.snapshot()
	if err != nil {
		return err
	}
	preview, err := snapshot.Preview(it)
	if err != nil {
		return err
	}
	if seen != "" && seen != preview.Fingerprint {
		return &item.ChangedError{ID: id}
	}
	if _, err := w.tx.Root().Lstat(trashFolder + "/" + itemfolder.FileName(id)); !errors.Is(err, fs.ErrNotExist) {
		return &item.InvalidError{
			Field:   "id",
			Problem: fmt.Sprintf("A deleted item has the number %d as well: %s/%s. Remove that file first", id, trashFolder, itemfolder.FileName(id)),
		}
	}
	now := w.timestamp()
	err = w.perform(pending{
		Delete:     id,
		Deleted:    now,
		Children:   idsOf(preview.Children),
		Dependents: idsOf(preview.Dependents),
		Change:     w.moved(item.Deleted, id, now),
	})
	if err != nil {
		return err
	}
	return w.claims.change(ctx, w.tx, func(c claims) error { return w.forgetClaim(c, &it.Summary) })
}

// moved returns the change of an item that goes to the trash, or comes from it.
func (w *writer) moved(kind item.Kind, id item.ID, at string) item.Change {
	c := item.NewChange(kind, id, w.by, at)
	c.Undoes = w.undoes
	return c
}

// withMove returns files with the history of an item that was moved, before the last of them.
func (w *writer) withMove(c item.Change, it *item.Item, files []lockedstore.File) ([]lockedstore.File, error) {
	if c.ID == "" { // written down by an earlier version
		return files, nil
	}
	log, err := w.readLog(w.tx.Root(), &it.Summary)
	if err != nil || slices.ContainsFunc(log.Changes, func(old item.Change) bool { return old.ID == c.ID }) {
		return files, err
	}
	w.undoes = c.Undoes
	file, err := w.logFile(it, &c, "")
	return slices.Insert(files, len(files)-1, file), err
}

func idsOf(list []*item.Summary) []item.ID {
	ids := make([]item.ID, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return ids
}

// forget takes a deleted item out of those that refer to it, and notes in its
// own file which they were.
func (w *writer) forget(p pending) error {
	content, it, err := w.open(w.tx.Root(), trashFolder, p.Delete)
	if err != nil {
		return err
	}
	if err := content.Delete(p.Deleted, ticfile.Lost{Children: p.Children, Dependents: p.Dependents}); err != nil {
		return unchangeable(p.Delete, err)
	}
	file, err := fileOf(trashFolder, p.Delete, content)
	if err != nil {
		return err
	}
	files := []lockedstore.File{file}
	others := slices.Concat(p.Children, p.Dependents)
	slices.Sort(others)
	for _, id := range slices.Compact(others) {
		content, _, err := w.open(w.tx.Root(), itemsFolder, id)
		if item.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := content.Forget(p.Delete); err != nil {
			return unchangeable(id, err)
		}
		if file, err = fileOf(itemsFolder, id, content); err != nil {
			return err
		}
		files = append(files, file)
	}
	if files, err = w.withMove(p.Change, &it, files); err != nil {
		return err
	}
	return w.tx.Write(files...)
}
