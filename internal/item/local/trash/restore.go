package trash

import (
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// bringBack restores the relations of a restored item, as far as they are possible. What is broken
// stays as it is.
func (t Trash) bringBack(id item.ID, change changes.Change) error {
	content, it, err := layout.Open(t.Tx.Root(), layout.Items, id)
	if err != nil {
		return err
	}
	files := map[*relation.Record]*ticfile.File{}
	restored := &relation.Record{Summary: &it.Summary, Lost: content.Lost()}
	changed, err := relation.Restore(restored, func(id item.ID) (*item.Summary, error) {
		found, err := t.Find(id)
		if err != nil {
			err = &item.NotFoundError{ID: id}
		}
		return found, err
	}, func(id item.ID) (*relation.Record, error) {
		for _, dir := range []string{layout.Items, layout.Trash} {
			if content, it, err := layout.Open(t.Tx.Root(), dir, id); err == nil {
				o := &relation.Record{Summary: &it.Summary, Deleted: dir == layout.Trash, Lost: content.Lost()}
				files[o] = content
				return o, nil
			}
		}
		return nil, &item.NotFoundError{ID: id}
	})
	if err != nil {
		return err
	}
	files[restored] = content
	var written []lockedstore.File
	for _, o := range append(changed, restored) { // the item last: until then its file has what it lost
		content, dir := files[o], layout.Items
		if o.Deleted {
			dir = layout.Trash
		}
		err := content.Relate(o.Parent, o.DependsOn, o.Lost)
		if err == nil && o == restored {
			err = content.Restore()
		}
		if err != nil {
			return layout.Unchangeable(o.ID, err)
		}
		file, err := layout.File(dir, o.ID, content)
		if err != nil {
			return err
		}
		written = append(written, file)
	}
	if written, err = t.withChange(change, &item.Item{Summary: it.Summary}, written); err != nil {
		return err
	}
	return t.Tx.Write(written...)
}
