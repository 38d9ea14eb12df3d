package write

import (
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
	it, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Deleted)
	if err != nil {
		return item.Item{}, err
	}
	open := func(id item.ID) (*relation.Record, error) {
		found, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live, row.Deleted)
		return &relation.Record{Summary: &found.Summary, Deleted: found.State == row.Deleted, Lost: found.Lost}, err
	}
	find := func(id item.ID) (*item.Summary, error) {
		found, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live)
		return &found.Summary, err
	}
	restored := &relation.Record{Summary: &it.Summary, Lost: it.Lost}
	changed, err := relation.Restore(restored, find, open)
	if err != nil {
		return item.Item{}, err
	}
	for _, o := range append(changed, restored) {
		var a assignments
		if o == restored {
			a.set("state", row.Live)
			a.set("deleted", "")
		}
		a.set("parent", int64(o.Parent))
		a.set("depends_on", sqltext.Numbers(o.DependsOn))
		a.set("lost_children", sqltext.Numbers(o.Lost.Children))
		a.set("lost_dependents", sqltext.Numbers(o.Lost.Dependents))
		w.store(o.ID, a)
	}
	change := w.entry(changes.Restored, id)
	change.Undoes = w.undoes
	return it.Item, w.log(change)
}
