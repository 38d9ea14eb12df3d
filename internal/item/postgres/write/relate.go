package write

import (
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/relation"
)

// lookup returns a [relation.Lookup] of items that were loaded.
func lookup(known map[item.ID]*item.Summary) relation.Lookup {
	return func(id item.ID) (*item.Summary, error) {
		if s := known[id]; s != nil {
			return s, nil
		}
		return nil, &item.NotFoundError{ID: id}
	}
}

// checkNew checks what a new item refers to.
func (w *Writer) checkNew(d item.Draft) error {
	wanted := slices.Clone(d.DependsOn)
	if d.Parent != 0 {
		wanted = append(wanted, d.Parent)
	}
	if len(wanted) == 0 {
		return nil
	}
	known := map[item.ID]*item.Summary{}
	found, err := row.Items(w.ctx, w.tx, "i.project_id = $1 and i.state = 'live' and i.id = any($2)", w.Project.ID, sqltext.Numbers(wanted))
	for _, r := range found {
		known[r.ID] = &r.Summary
	}
	if err != nil {
		return err
	}
	return relation.CheckNew(lookup(known), d.Parent, d.DependsOn)
}

// checkRelations checks what an item is about to refer to.
func (w *Writer) checkRelations(id item.ID, parent *item.ID, dependsOn *[]item.ID) error {
	if parent != nil && *parent != 0 {
		known, err := w.reachable([]item.ID{*parent}, "array[r.parent]")
		if err != nil {
			return err
		}
		if err := relation.Check(lookup(known), id, parent, nil); err != nil {
			return err
		}
	}
	if dependsOn != nil && len(*dependsOn) > 0 {
		known, err := w.reachable(*dependsOn, "r.depends_on")
		if err != nil {
			return err
		}
		return relation.Check(lookup(known), id, nil, dependsOn)
	}
	return nil
}

// reachable returns the live items that a relation leads to, with their relations: next is
// the array of numbers that it leads to from an item.
func (w *Writer) reachable(from []item.ID, next string) (map[item.ID]*item.Summary, error) {
	found, err := w.tx.Query(w.ctx, `with recursive reached (id, parent, depends_on) as (
			select i.id, i.parent, i.depends_on from copse.item i where i.project_id = $1 and i.state = 'live' and i.id = any($2)
			union
			select i.id, i.parent, i.depends_on from reached r cross join lateral pg_catalog.unnest(`+next+`) as n (id)
				join copse.item i on i.project_id = $1 and i.id = n.id and i.state = 'live'
		) select id, parent, `+row.Numbers("depends_on")+` from reached`, w.Project.ID, sqltext.Numbers(from))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	known := map[item.ID]*item.Summary{}
	for found.Next() {
		var s item.Summary
		var dependsOn []int64
		if err := found.Scan(&s.ID, &s.Parent, &dependsOn); err != nil {
			return nil, err
		}
		s.DependsOn = sqltext.IDs(dependsOn)
		known[s.ID] = &s
	}
	return known, found.Err()
}
