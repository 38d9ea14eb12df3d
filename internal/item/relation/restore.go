package relation

import (
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
)

// Lost is what a deletion took from other items.
type Lost struct {
	Children   []item.ID // had the item as their parent
	Dependents []item.ID // depended on it
}

// Record is an item that a restoration reads and changes.
type Record struct {
	*item.Summary
	Deleted bool
	Lost    Lost // if it is deleted
}

// Restore restores the relations of an item that is no longer deleted, as far as they are still possible,
// and returns the other items that this changes.
//
// The item keeps the parent and the dependencies that it can have. A deleted one of these notes the
// item, as if the item had been there when the other was deleted. Former children without a parent
// and former dependents refer to the item again, even deleted ones, for when they come back.
//
// open returns an item, live or deleted, and find a live one that open has not returned. An error
// that is not an [*item.NotFoundError] ends the restoration.
func Restore(it *Record, find Lookup, open func(item.ID) (*Record, error)) ([]*Record, error) {
	r := &restoration{it: it, elsewhere: find, openRecord: open, opened: map[item.ID]*Record{it.ID: it}}
	lost := it.Lost
	it.Deleted, it.Lost = false, Lost{}
	for _, step := range []func() error{
		r.keepParent,
		r.keepDependencies,
		func() error { return r.each(lost.Children, r.adopt) },
		func() error { return r.each(lost.Dependents, r.depend) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.changed.Values(), nil
}

type restoration struct {
	it         *Record
	elsewhere  Lookup
	openRecord func(item.ID) (*Record, error)
	opened     map[item.ID]*Record
	changed    distinct.List[*Record]
}

// find is a Lookup of what will be.
func (r *restoration) find(id item.ID) (*item.Summary, error) {
	switch o := r.opened[id]; {
	case o == nil:
		return r.elsewhere(id)
	case o.Deleted:
		return nil, &item.NotFoundError{ID: id}
	default:
		return o.Summary, nil
	}
}

// possible reports whether an item can refer to others.
func (r *restoration) possible(id item.ID, parent *item.ID, dependsOn *[]item.ID) (bool, error) {
	err := Check(r.find, id, parent, dependsOn)
	if _, refused := errors.AsType[*item.InvalidError](err); refused {
		return false, nil
	}
	return err == nil, err
}

func (r *restoration) keepParent() error {
	parent := r.it.Parent
	ok, err := r.possible(r.it.ID, &parent, nil)
	if ok || err != nil {
		return err
	}
	r.it.Parent = 0
	return r.note(parent, func(l *Lost) *[]item.ID { return &l.Children })
}

func (r *restoration) keepDependencies() error {
	var kept []item.ID
	for _, dependency := range r.it.DependsOn {
		ok, err := r.possible(r.it.ID, nil, &[]item.ID{dependency})
		if ok {
			kept = append(kept, dependency)
		} else if err == nil {
			err = r.note(dependency, func(l *Lost) *[]item.ID { return &l.Dependents })
		}
		if err != nil {
			return err
		}
	}
	r.it.DependsOn = kept
	return nil
}

// note adds the restored item to one of the lists of a deleted one.
func (r *restoration) note(id item.ID, list func(*Lost) *[]item.ID) error {
	return r.each([]item.ID{id}, func(o *Record) (bool, error) {
		all := list(&o.Lost)
		if !o.Deleted || slices.Contains(*all, r.it.ID) {
			return false, nil
		}
		*all = append(*all, r.it.ID)
		return true, nil
	})
}

// adopt makes the restored item the parent of a former child that has none.
func (r *restoration) adopt(child *Record) (bool, error) {
	if child.Parent != 0 {
		return false, nil
	}
	ok, err := r.possible(child.ID, &r.it.ID, nil)
	if ok {
		child.Parent = r.it.ID
	}
	return ok, err
}

// depend makes a former dependent depend on the restored item again.
func (r *restoration) depend(dependent *Record) (bool, error) {
	if slices.Contains(dependent.DependsOn, r.it.ID) {
		return false, nil
	}
	ok, err := r.possible(dependent.ID, nil, &[]item.ID{r.it.ID})
	if ok {
		dependent.DependsOn = append(slices.Clone(dependent.DependsOn), r.it.ID)
	}
	return ok, err
}

// each calls do for each item that still exists, and notes those that it changes.
func (r *restoration) each(list []item.ID, do func(*Record) (changed bool, err error)) error {
	for _, id := range list {
		o, known := r.opened[id]
		if !known {
			var err error
			if o, err = r.openRecord(id); item.IsNotFound(err) {
				continue
			} else if err != nil {
				return err
			}
			r.opened[id] = o
		}
		changed, err := do(o)
		if err != nil {
			return err
		}
		if changed {
			r.changed.Add(o)
		}
	}
	return nil
}
