package ticfile

import (
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/relation"
)

// The keys that a deleted item has besides its own.
const (
	keyDeleted           = "deleted"
	keyDeletedChildren   = "deleted_children"
	keyDeletedDependents = "deleted_dependents"
)

// Lost is what a deletion took from other items.
type Lost = relation.Lost

// Delete records in the file of an item that it is deleted.
func (f *File) Delete(at string, lost Lost) error {
	return errors.Join(f.front.SetText(keyDeleted, at), f.SetLost(lost))
}

// SetLost replaces the record of a deletion.
func (f *File) SetLost(lost Lost) error {
	return errors.Join(f.setIDs(keyDeletedChildren, lost.Children), f.setIDs(keyDeletedDependents, lost.Dependents))
}

func (f *File) setIDs(key string, ids []item.ID) error {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	if len(texts) == 0 {
		return f.front.Delete(key)
	}
	return f.front.SetList(key, texts)
}

// Lost returns the record of a deletion.
func (f *File) Lost() Lost {
	r := reader{front: f.front}
	return Lost{Children: r.references(keyDeletedChildren), Dependents: r.references(keyDeletedDependents)}
}

// Restore removes the record of Delete.
func (f *File) Restore() error {
	return errors.Join(f.front.Delete(keyDeleted), f.SetLost(Lost{}))
}

// Relate replaces the parent, the dependencies, and the record of the deletion of the item. It
// changes nothing that is the same, and no part of the lists that cannot be read.
func (f *File) Relate(parent item.ID, dependsOn []item.ID, lost Lost) error {
	r := reader{front: f.front}
	var errs []error
	if parent != r.reference(keyParent) {
		errs = append(errs, f.SetParent(parent))
	}
	was := r.references(keyDependsOn)
	for _, id := range was {
		if !slices.Contains(dependsOn, id) {
			errs = append(errs, f.NotDependOn(id))
		}
	}
	for _, id := range dependsOn {
		if !slices.Contains(was, id) {
			errs = append(errs, f.DependOn(id))
		}
	}
	if had := f.Lost(); !slices.Equal(had.Children, lost.Children) || !slices.Equal(had.Dependents, lost.Dependents) {
		errs = append(errs, f.SetLost(lost))
	}
	return errors.Join(errs...)
}
