package trash

import (
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// bringBack restores the relations of a restored item, as far as they are possible.
func (t Trash) bringBack(id item.ID, change changes.Change) error {
	r := &restoration{Trash: t, id: id, items: map[item.ID]*opened{}, trash: map[item.ID]*opened{}}
	it, err := r.open(id)
	if err != nil {
		return err
	}
	lost := it.content.Lost()
	if err := r.keepPossible(it); err != nil {
		return err
	}
	for _, child := range lost.Children {
		if err := r.adopt(child); err != nil {
			return err
		}
	}
	for _, dependent := range lost.Dependents {
		if err := r.depend(dependent); err != nil {
			return err
		}
	}
	if err := it.content.Restore(); err != nil {
		return layout.Unchangeable(id, err)
	}
	file, err := layout.File(layout.Items, id, it.content)
	if err != nil {
		return err
	}
	delete(r.items, id)
	others, err := r.changed()
	if err != nil {
		return err
	}
	files, err := t.withChange(change, &item.Item{Summary: it.summary}, append(others, file))
	if err != nil {
		return err
	}
	// The item last: until then its file has what it lost.
	return t.Tx.Write(files...)
}

// restoration is what files will have when an item has been restored.
type restoration struct {
	Trash
	id    item.ID
	items map[item.ID]*opened // those that were looked at
	trash map[item.ID]*opened // as items, of deleted ones
}

type opened struct {
	content *ticfile.File
	summary item.Summary
	changed bool
}

func (r *restoration) open(id item.ID) (*opened, error) {
	return r.openIn(layout.Items, r.items, id)
}

func (r *restoration) openDeleted(id item.ID) (*opened, error) {
	return r.openIn(layout.Trash, r.trash, id)
}

// openAny opens an item that is deleted if there is no other.
func (r *restoration) openAny(id item.ID) (*opened, error) {
	o, err := r.open(id)
	if item.IsNotFound(err) {
		return r.openDeleted(id)
	}
	return o, err
}

func (r *restoration) openIn(dir string, known map[item.ID]*opened, id item.ID) (*opened, error) {
	if o := known[id]; o != nil {
		return o, nil
	}
	content, it, err := layout.Open(r.Tx.Root(), dir, id)
	if err != nil {
		return nil, err
	}
	known[id] = &opened{content: content, summary: it.Summary}
	return known[id], nil
}

// find returns a [relation.Lookup] of what will be.
func (r *restoration) find(id item.ID) (*item.Summary, error) {
	if o := r.items[id]; o != nil {
		return &o.summary, nil
	}
	return r.Find(id)
}

// keepPossible removes the references of the restored item that are no longer possible. If that is
// in the trash, it is noted there, as if the item had been here when the other was deleted.
func (r *restoration) keepPossible(it *opened) error {
	parent := it.summary.Parent
	if parent != 0 && relation.Check(r.find, r.id, &parent, nil) != nil {
		it.summary.Parent = 0
		if err := it.content.SetParent(0); err != nil {
			return layout.Unchangeable(r.id, err)
		}
		err := r.note(parent, func(lost *ticfile.Lost) *[]item.ID { return &lost.Children })
		if err != nil {
			return err
		}
	}
	for _, dependency := range slices.Clone(it.summary.DependsOn) {
		if relation.Check(r.find, r.id, nil, &[]item.ID{dependency}) == nil {
			continue
		}
		it.summary.DependsOn = slices.DeleteFunc(slices.Clone(it.summary.DependsOn), func(id item.ID) bool { return id == dependency })
		if err := it.content.NotDependOn(dependency); err != nil {
			return layout.Unchangeable(r.id, err)
		}
		err := r.note(dependency, func(lost *ticfile.Lost) *[]item.ID { return &lost.Dependents })
		if err != nil {
			return err
		}
	}
	return nil
}

// note adds the restored item to one of the lists of a deleted one, if there is
// such.
func (r *restoration) note(deleted item.ID, list func(*ticfile.Lost) *[]item.ID) error {
	o, err := r.openDeleted(deleted)
	if err != nil {
		return nil //nolint:nilerr // what is gone for good, or broken, cannot come back to it
	}
	lost := o.content.Lost()
	ids := list(&lost)
	if slices.Contains(*ids, r.id) {
		return nil
	}
	*ids = append(*ids, r.id)
	o.changed = true
	return o.content.SetLost(lost)
}

// adopt makes the restored item the parent of a former child that has none. One
// that is deleted itself gets it in the trash, for when it comes back.
func (r *restoration) adopt(child item.ID) error {
	o, err := r.openAny(child)
	if err != nil || o.summary.Parent != 0 || relation.Check(r.find, child, &r.id, nil) != nil {
		return nil //nolint:nilerr // what is gone, or broken, stays as it is
	}
	o.summary.Parent, o.changed = r.id, true
	return o.content.SetParent(r.id)
}

// depend makes a former dependent depend on the restored item again, likewise.
func (r *restoration) depend(dependent item.ID) error {
	o, err := r.openAny(dependent)
	if err != nil || slices.Contains(o.summary.DependsOn, r.id) ||
		relation.Check(r.find, dependent, nil, &[]item.ID{r.id}) != nil {
		return nil //nolint:nilerr // as above
	}
	o.summary.DependsOn, o.changed = append(slices.Clone(o.summary.DependsOn), r.id), true
	return o.content.DependOn(r.id)
}

// changed returns the files of others to write.
func (r *restoration) changed() ([]lockedstore.File, error) {
	var files []lockedstore.File
	for dir, items := range map[string]map[item.ID]*opened{layout.Trash: r.trash, layout.Items: r.items} {
		for id, o := range items {
			if !o.changed {
				continue
			}
			file, err := layout.File(dir, id, o.content)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}
