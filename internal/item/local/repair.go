package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Repair corrects what Check finds and what can be corrected without asking:
//
//   - a merge that git has open is finished, item by item and field by field, as
//     package merge says; so is what an earlier merge left: marks in a file that
//     cannot be read for them, and a number that an item and a deleted one have;
//   - references that a cherry-pick or a rebase brought follow the items that they
//     meant in the original commit;
//   - a file whose name and number differ gets the number of its name, or a new
//     one if the name is none;
//   - references to items that do not exist are taken out.
//
// Check still reports what Repair leaves to a person. Finishing a merge of files does not
// finish it in git: the caller runs git add.
func (s *Store) Repair(ctx context.Context) (done remerge.Result, err error) {
	f, err := s.find(ctx)
	if err != nil {
		return remerge.Result{}, err
	}
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return remerge.Result{}, err
	}
	err = s.changeIn(ctx, f, func(w *writer) error {
		done, err = remerge.Finish(ctx, rewriting{reading{w.tx.Root()}, w}, repo, w.now())
		if err != nil {
			return err
		}
		r := &repair{writer: w}
		err = r.rest()
		done.Fixes = append(done.Fixes, r.fixes...)
		return err
	})
	return done, err
}

type repair struct {
	*writer
	config *ticfile.Config
	fixes  []remerge.Fix
}

func (r *repair) done(file, format string, args ...any) {
	r.fixes = append(r.fixes, remerge.Fix{File: file, Done: fmt.Sprintf(format, args...)})
}

func (r *repair) rest() error {
	var err error
	if r.config, err = r.configuration(); err != nil {
		return err
	}
	if _, err := r.snapshot(); err != nil {
		return err
	}
	for _, name := range r.filesWithProblems() {
		if err := r.file(name); err != nil {
			return err
		}
	}
	return r.references()
}

// filesWithProblems returns the names of the files with problems.
func (r *repair) filesWithProblems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return nil
	}
	return r.index.FilesWithProblems()
}

// file repairs the file of that name, if it can.
func (r *repair) file(name string) error {
	path := itemsFolder + "/" + name
	info, err := r.tx.Root().Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // not for us
	}
	text, err := itemfolder.ReadFile(r.tx.Root(), path)
	if err != nil {
		return nil //nolint:nilerr // not for us
	}
	id, nameErr := itemfolder.Number(name)
	content, err := ticfile.Parse(text)
	if err != nil {
		return nil //nolint:nilerr // for a person
	}
	it, _, err := content.Item()
	switch {
	case err != nil:
		return nil //nolint:nilerr // for a person
	case nameErr != nil:
		if err := r.number(content, fmt.Sprintf("was %s", path)); err != nil {
			return err
		}
		return r.tx.Remove(path)
	case it.ID != 0 && it.ID != id:
		if err := content.SetID(id); err != nil {
			return nil //nolint:nilerr // for a person
		}
		if err := r.save(id, content); err != nil {
			return err
		}
		r.done(path, "has the number of its name now; it said %d", it.ID)
	}
	return nil
}

// save writes the file of an item, whose repair is no change of its history.
func (w *writer) save(id item.ID, content *ticfile.File) error {
	file, err := fileOf(itemsFolder, id, content)
	if err != nil {
		return err
	}
	return w.tx.Write(file)
}

// number makes a new item of content.
func (r *repair) number(content *ticfile.File, origin string) error {
	id, err := r.nextID(r.config)
	if err != nil {
		return err
	}
	if err := errors.Join(content.SetID(id), r.config.SetNextID(id+1)); err != nil {
		return err
	}
	file, err := fileOf(itemsFolder, id, content)
	if err != nil {
		return err
	}
	r.done(file.Name, "is new: it %s", origin)
	return r.tx.Write(lockedstore.File{Name: configName, Data: []byte(r.config.Text())}, file)
}

// references takes out what refers to nothing.
func (r *repair) references() error {
	snapshot, err := r.snapshot()
	if err != nil {
		return err
	}
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		for _, missing := range dangling(r.lookup, it) {
			content, _, err := r.open(r.tx.Root(), itemsFolder, it.ID)
			if err != nil || content.Forget(missing) != nil {
				continue // for a person
			}
			if err := r.save(it.ID, content); err != nil {
				return err
			}
			r.done(itemsFolder+"/"+itemfolder.FileName(it.ID), "no longer refers to #%d, which does not exist", missing)
		}
	}
	return nil
}
