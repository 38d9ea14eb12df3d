package merge

import (
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// Once returns a store in which every item is there once. Git can give a tree two files
// of one item without a conflict: a cherry-pick brings the deletion of an item, or the
// commit that renumbered it, to a branch that has the item from elsewhere. Such copies
// have the same birth: the same time of creation, and numbers that are equal or that the
// records of the tree connect. The files that Once joins are among the reports; without
// any, the result is the tree itself.
func Once(tree Tree, o Options) (Result, error) {
	s, loadErr := load(tree)
	if _, _, found := s.copies(o); !found {
		return Result{Tree: tree}, nil // also with a configuration that cannot be used
	}
	if loadErr != nil {
		return Result{}, loadErr
	}
	return once(s, o)
}

func once(s side, o Options) (Result, error) {
	all := Result{Tree: s.tree}
	for {
		kept, copied, found := s.copies(o)
		if !found {
			return all, nil
		}
		base, ours, theirs := maps.Clone(s.tree), maps.Clone(s.tree), maps.Clone(s.tree)
		delete(base, kept.name())
		delete(base, copied.name())
		delete(ours, copied.name())
		delete(theirs, kept.name())
		options := o
		options.Rank = func(b Birth) int {
			if b == (Birth{ID: kept.id, Created: kept.it.Created}) {
				return 0
			}
			return 1
		}
		joined, err := Stores(base, ours, theirs, options)
		if err != nil {
			return Result{}, err
		}
		before := len(s.versions)
		if s, err = load(joined.Tree); err != nil {
			return Result{}, err
		}
		if len(s.versions) >= before {
			return all, nil // they are two after all
		}
		all.Tree = joined.Tree
		all.Renumbered = append(all.Renumbered, joined.Renumbered...)
		all.Reports = append(append(all.Reports, joined.Reports...), Report{
			Kind: Joined, File: ItemsFolder + "/" + kept.id.String() + extension, Text: "has a second file, " + copied.name(),
		})
	}
}

func (v *version) name() string {
	folder := ItemsFolder
	if v.trashed {
		folder = TrashFolder
	}
	return folder + "/" + v.id.String() + extension
}

// copies returns two files of one item, first the one whose number it is to keep.
func (s *side) copies(o Options) (kept, copied *version, found bool) {
	byCreated := map[string][]*version{}
	for _, v := range s.versions {
		if v.it.Created != "" {
			byCreated[v.it.Created] = append(byCreated[v.it.Created], v)
		}
	}
	for _, created := range slices.Sorted(maps.Keys(byCreated)) {
		list := byCreated[created]
		for i, b := range list {
			for _, a := range list[:i] {
				if a.id == b.id {
					if !bornApart(a, b, o) {
						return a, b, true
					}
					continue
				}
				first, second, connected := s.connected(a, b)
				if connected && o.alike(a, b) {
					return first, second, true
				}
			}
		}
	}
	return nil, nil, false
}

// connected reports whether the records connect the numbers of two items with one birth,
// and returns first the one with the number to keep.
func (s *side) connected(a, b *version) (kept, copied *version, ok bool) {
	created := a.it.Created
	switch {
	case leadsTo(s.records, created, b.id, a.id):
		return a, b, true
	case leadsTo(s.records, created, a.id, b.id):
		return b, a, true
	case sameOrigin(s.records, created, a.id, b.id):
		if b.id < a.id {
			a, b = b, a
		}
		return a, b, true
	}
	return nil, nil, false
}

// alike reports whether two items with one birth are more than born at the same moment.
// Numbers prove less within a tree than between two: one of them can have been given to
// keep two items apart.
func (o Options) alike(a, b *version) bool {
	return a.it.Title == b.it.Title ||
		o.Retitled != nil && o.Retitled(a.it.Created, [2]item.ID{a.id, b.id}, [2]string{a.it.Title, b.it.Title}) ||
		slices.ContainsFunc(a.it.Comments, func(c item.Comment) bool { return slices.Contains(b.it.Comments, c) })
}

// leadsTo reports whether an item that had one number got the other later.
func leadsTo(records []renumbered.Record, created string, from, to item.ID) bool {
	return slices.ContainsFunc(renumbered.Of(records, to, created), func(r renumbered.Record) bool { return r.From == from })
}

// sameOrigin reports whether two numbers of an item come from one.
func sameOrigin(records []renumbered.Record, created string, a, b item.ID) bool {
	return slices.ContainsFunc(renumbered.Of(records, a, created), func(r renumbered.Record) bool {
		return leadsTo(records, created, r.From, b)
	})
}
