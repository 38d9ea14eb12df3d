package ticfile

import (
	"errors"

	"github.com/copse-dev/copse/internal/item"
)

// The keys that a deleted item has besides its own.
const (
	keyDeleted           = "deleted"
	keyDeletedChildren   = "deleted_children"
	keyDeletedDependents = "deleted_dependents"
)

// Lost is what a deletion took from other items.
type Lost struct {
	Children   []item.ID // had the item as their parent
	Dependents []item.ID // depended on it
}

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
