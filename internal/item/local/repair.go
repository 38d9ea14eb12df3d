package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Fix is something that was repaired.
type Fix struct {
	File string // as in an item.Warning
	Done string // goes on from the name of the file
}

// Repair corrects what Check finds and what can be corrected without asking:
//
//   - a configuration that was not merged gets what either version has;
//   - a file with two versions of different items becomes two files, the second
//     with a new number; two versions of one item become one if they differ in
//     comments only;
//   - a file whose name and number differ gets the number of its name, or a new
//     one if the name is none;
//   - references to items that do not exist are taken out.
//
// What is left is for a person; Check still finds it.
func (s *Store) Repair(ctx context.Context) (fixes []Fix, err error) {
	err = s.change(ctx, func(w *writer) error {
		r := &repair{writer: w}
		err := r.all()
		fixes = r.fixes
		return err
	})
	return fixes, err
}

type repair struct {
	*writer
	config *ticfile.Config
	fixes  []Fix
}

func (r *repair) done(file, format string, args ...any) {
	r.fixes = append(r.fixes, Fix{File: file, Done: fmt.Sprintf(format, args...)})
}

func (r *repair) all() error {
	if err := r.configFile(); err != nil {
		return err
	}
	if _, err := r.snapshot(); err != nil {
		return err
	}
	for _, name := range r.troubled() {
		if err := r.file(name); err != nil {
			return err
		}
	}
	return r.references()
}

// troubled are the names of the files with problems.
func (r *repair) troubled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return nil
	}
	return r.index.Troubled()
}

func (r *repair) configFile() error {
	var err error
	r.config, err = r.configuration()
	if err == nil {
		return nil
	}
	text, readErr := itemfolder.ReadFile(r.tx.Root(), configName)
	if readErr != nil {
		return err
	}
	merged, mergeErr := ticfile.MergeConfig(text)
	if mergeErr != nil {
		return err
	}
	r.config = merged
	r.done(configName, "was merged: it has what either version had")
	return r.tx.Write(lockedstore.File{Name: configName, Data: []byte(merged.Text())})
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
	if ours, theirs, ok := ticfile.Versions(text); ok {
		if nameErr != nil {
			return nil //nolint:nilerr // an item without a number is not for us either
		}
		return r.versions(id, ours, theirs)
	}
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
		if _, err := r.save(id, content); err != nil {
			return err
		}
		r.done(path, "has the number of its name now; it said %d", it.ID)
	}
	return nil
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

// versions repairs a file with two versions that git could not merge.
func (r *repair) versions(id item.ID, ourText, theirText string) error {
	ours, theirs, ok := parseBoth(ourText, theirText)
	if !ok {
		return nil
	}
	name := itemsFolder + "/" + itemfolder.FileName(id)
	if ours.it.Created != theirs.it.Created {
		if err := r.number(theirs.content, fmt.Sprintf("was the other version of %s; see what refers to #%d and means it", name, id)); err != nil {
			return err
		}
		r.done(name, "has the one version")
		return r.tx.Write(lockedstore.File{Name: name, Data: []byte(ourText)})
	}
	if !ours.merge(id, theirs.it) {
		return nil
	}
	r.done(name, "was merged: it has the comments of both versions")
	_, err := r.save(id, ours.content)
	return err
}

// version is one of two texts of a file.
type version struct {
	content *ticfile.File
	it      item.Item
}

func parseBoth(ourText, theirText string) (ours, theirs version, ok bool) {
	for _, v := range []struct {
		text string
		into *version
	}{{ourText, &ours}, {theirText, &theirs}} {
		content, err := ticfile.Parse(v.text)
		if err != nil {
			return ours, theirs, false
		}
		it, _, err := content.Item()
		if err != nil {
			return ours, theirs, false
		}
		*v.into = version{content, it}
	}
	return ours, theirs, true
}

// merge adds the comments of another version of the same item, if it differs in
// nothing else.
func (v version) merge(id item.ID, other item.Item) bool {
	comments, updated := other.Comments, max(v.it.Updated, other.Updated)
	mine := v.it
	mine.Updated, mine.Comments, other.Updated, other.Comments = "", nil, "", nil
	if !equal(mine, other) {
		return false
	}
	for _, c := range comments {
		if slices.Contains(v.it.Comments, c) {
			continue
		}
		if v.content.AddComment(id, c) != nil {
			return false
		}
	}
	return v.content.Update(id, item.Patch{}, updated) == nil
}

func equal(a, b item.Item) bool {
	return a.ID == b.ID && a.Title == b.Title && a.Type == b.Type && a.Status == b.Status && a.Iteration == b.Iteration &&
		a.Priority == b.Priority && a.Assignee == b.Assignee && slices.Equal(a.Labels, b.Labels) && a.Created == b.Created &&
		a.Parent == b.Parent && slices.Equal(a.DependsOn, b.DependsOn) && a.Description == b.Description
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
			if _, err := r.save(it.ID, content); err != nil {
				return err
			}
			r.done(itemsFolder+"/"+itemfolder.FileName(it.ID), "does not refer to #%d any more, which does not exist", missing)
		}
	}
	return nil
}
