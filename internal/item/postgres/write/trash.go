package write

import (
	"errors"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Delete removes an item from those that refer to it, and records them in its row.
func (w *Writer) Delete(id item.ID, seen item.Fingerprint, steal bool) error {
	r, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live)
	if err != nil {
		return err
	}
	others, err := row.Items(w.ctx, w.tx, "i.project_id = $1 and i.state = 'live' and (i.parent = $2 or $2 = any(i.depends_on))", w.Project.ID, int64(id))
	if err != nil {
		return err
	}
	entries := map[item.ID]*item.Entry{}
	for _, other := range others {
		entries[other.ID] = item.NewEntry(&other.Item)
	}
	preview, err := new(item.Snapshot).With(entries, nil).Preview(r.Item)
	if err != nil {
		return err
	}
	if seen != "" && seen != preview.Fingerprint {
		return &storage.ChangedError{ID: id}
	}
	if err := w.finish(id, steal); err != nil {
		return err
	}
	for _, other := range others {
		var a assignments
		if other.Parent == id {
			a.set("parent", int64(0))
			r.Lost.Children = append(r.Lost.Children, other.ID)
		}
		if slices.Contains(other.DependsOn, id) {
			a.set("depends_on", sqltext.Numbers(slices.DeleteFunc(other.DependsOn, func(d item.ID) bool { return d == id })))
			r.Lost.Dependents = append(r.Lost.Dependents, other.ID)
		}
		w.store(other.ID, a)
	}
	var a assignments
	a.set("state", row.Deleted)
	a.set("deleted", w.timestamp())
	a.set("lost_children", sqltext.Numbers(r.Lost.Children))
	a.set("lost_dependents", sqltext.Numbers(r.Lost.Dependents))
	w.store(id, a)
	change := w.entry(changes.Deleted, id)
	change.Undoes = w.undoes
	return w.log(change)
}

// Purge empties the rows of deleted items. They stay, so that a program that follows the project
// sees them go.
func (w *Writer) Purge(list []item.ID) error {
	found, err := row.Items(w.ctx, w.tx, "i.project_id = $1 and i.state = 'deleted' and i.id = any($2)", w.Project.ID, sqltext.Numbers(list))
	if err != nil {
		return err
	}
	for _, id := range list {
		if !slices.ContainsFunc(found, func(r row.Item) bool { return r.ID == id }) {
			return &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not in the trash", id)}
		}
	}
	for _, table := range []string{"comment", "history"} {
		w.queue("delete from copse."+table+" where project_id = $1 and item_id = any($2)", w.Project.ID, sqltext.Numbers(list))
	}
	w.queue(`update copse.item set version = $3, state = 'purged', title = '', type = '', status = '', iteration = '', priority = '',
		assignee = '', labels = '{}', parent = 0, depends_on = '{}', description = '', branch = '', worktree = '', pull_request = '',
		lost_children = '{}', lost_dependents = '{}', former = '{}', former_on = '{}', original = ''
		where project_id = $1 and id = any($2)`, w.Project.ID, sqltext.Numbers(list), w.Project.Version)
	return nil
}

// Restore brings an item back, with the relations that it had and that are still possible.
func (w *Writer) Restore(id item.ID) (item.Item, error) {
	if _, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live); !item.IsNotFound(err) {
		if err != nil {
			return item.Item{}, err
		}
		return item.Item{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is not deleted", id)}
	}
	r := &restoration{Writer: w, item: id, rows: map[item.ID]*row.Item{}, changed: map[item.ID]bool{id: true}}
	it, err := r.open(id)
	if err != nil {
		return item.Item{}, err
	}
	if it.State != row.Deleted {
		return item.Item{}, &item.NotFoundError{ID: id}
	}
	gone := it.Lost
	it.State, it.DeletedAt, it.Lost = row.Live, "", row.Lost{}
	for _, step := range []func() error{
		func() error { return r.keepPossible(it) },
		func() error { return r.each(gone.Children, r.adopt) },
		func() error { return r.each(gone.Dependents, r.depend) },
	} {
		if err := step(); err != nil {
			return item.Item{}, err
		}
	}
	for other := range r.changed {
		o := r.rows[other]
		var a assignments
		a.set("state", o.State)
		a.set("deleted", o.DeletedAt)
		a.set("parent", int64(o.Parent))
		a.set("depends_on", sqltext.Numbers(o.DependsOn))
		a.set("lost_children", sqltext.Numbers(o.Lost.Children))
		a.set("lost_dependents", sqltext.Numbers(o.Lost.Dependents))
		w.store(other, a)
	}
	change := w.entry(changes.Restored, id)
	change.Undoes = w.undoes
	return it.Item, w.log(change)
}

// restoration is what rows will be when an item has been restored.
type restoration struct {
	*Writer
	item    item.ID
	rows    map[item.ID]*row.Item
	changed map[item.ID]bool
}

// open returns the row of an item, live or deleted. The error can be a
// [*item.NotFoundError].
func (r *restoration) open(id item.ID) (*row.Item, error) {
	if o := r.rows[id]; o != nil {
		return o, nil
	}
	found, err := row.FindItem(r.ctx, r.tx, r.Project.ID, id, row.Live, row.Deleted)
	if err != nil {
		return nil, err
	}
	r.rows[id] = &found
	return &found, nil
}

// find returns a [relation.Lookup] of what will be.
func (r *restoration) find(id item.ID) (*item.Summary, error) {
	o, err := r.open(id)
	if err != nil {
		return nil, err
	}
	if o.State != row.Live {
		return nil, &item.NotFoundError{ID: id}
	}
	return &o.Summary, nil
}

// possible reports whether an item can refer to others. The error is that of the database.
func (r *restoration) possible(id item.ID, parent *item.ID, dependsOn *[]item.ID) (bool, error) {
	err := relation.Check(r.find, id, parent, dependsOn)
	if _, refused := errors.AsType[*item.InvalidError](err); refused {
		return false, nil
	}
	return err == nil, err
}

// keepPossible takes out of the restored item what it cannot refer to. If that is deleted,
// it is noted there, as if the item had been here when the other was deleted.
func (r *restoration) keepPossible(it *row.Item) error {
	if parent := it.Parent; parent != 0 {
		ok, err := r.possible(r.item, &parent, nil)
		if err != nil {
			return err
		}
		if !ok {
			it.Parent = 0
			if err := r.noteLost(parent, func(l *row.Lost) *[]item.ID { return &l.Children }); err != nil {
				return err
			}
		}
	}
	for _, dependency := range slices.Clone(it.DependsOn) {
		ok, err := r.possible(r.item, nil, &[]item.ID{dependency})
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		it.DependsOn = slices.DeleteFunc(slices.Clone(it.DependsOn), func(id item.ID) bool { return id == dependency })
		if err := r.noteLost(dependency, func(l *row.Lost) *[]item.ID { return &l.Dependents }); err != nil {
			return err
		}
	}
	return nil
}

// noteLost adds the restored item to one of the lists of a deleted one.
func (r *restoration) noteLost(other item.ID, list func(*row.Lost) *[]item.ID) error {
	o, err := r.open(other)
	if item.IsNotFound(err) || err == nil && o.State != row.Deleted {
		return nil
	}
	if err != nil {
		return err
	}
	if all := list(&o.Lost); !slices.Contains(*all, r.item) {
		*all = append(*all, r.item)
		r.changed[other] = true
	}
	return nil
}

// each calls do for each item that still exists.
func (r *restoration) each(list []item.ID, do func(*row.Item) error) error {
	for _, id := range list {
		o, err := r.open(id)
		if item.IsNotFound(err) {
			continue
		}
		if err == nil {
			err = do(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adopt makes the restored item the parent of a former child that has none.
func (r *restoration) adopt(child *row.Item) error {
	if child.Parent != 0 {
		return nil
	}
	ok, err := r.possible(child.ID, &r.item, nil)
	if ok {
		child.Parent, r.changed[child.ID] = r.item, true
	}
	return err
}

// depend makes a former dependent depend on the restored item again.
func (r *restoration) depend(dependent *row.Item) error {
	if slices.Contains(dependent.DependsOn, r.item) {
		return nil
	}
	ok, err := r.possible(dependent.ID, nil, &[]item.ID{r.item})
	if ok {
		dependent.DependsOn = append(slices.Clone(dependent.DependsOn), r.item)
		r.changed[dependent.ID] = true
	}
	return err
}
