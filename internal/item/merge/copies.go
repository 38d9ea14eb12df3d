package merge

import (
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// Once returns a store in which every item exists once. Git can give a tree two files of one item
// without a conflict: a cherry-pick brings the deletion of an item, or the commit that renumbered
// it, to a branch that has the item from elsewhere. Such copies have the same birth: the same
// creation time, and numbers that are equal or connected by the records of the tree. The reports
// name the joined files; without any, the result is the tree itself.
func Once(tree Tree, o Options) (Result, error) {
	s, loadErr := match.Load(tree)
	if _, _, found := copies(s, o); !found {
		return Result{Tree: tree}, nil // also with a configuration that cannot be used
	}
	if loadErr != nil {
		return Result{}, loadErr
	}
	return once(s, o)
}

func once(s match.Side, o Options) (Result, error) {
	all := Result{Tree: s.Tree}
	for {
		kept, copied, found := copies(s, o)
		if !found {
			return all, nil
		}
		base, ours, theirs := maps.Clone(s.Tree), maps.Clone(s.Tree), maps.Clone(s.Tree)
		delete(base, kept.Name())
		delete(base, copied.Name())
		delete(ours, copied.Name())
		delete(theirs, kept.Name())
		options := o
		options.Rank = func(b Birth) int {
			if b == (Birth{ID: kept.ID, Created: kept.Item.Created}) {
				return 0
			}
			return 1
		}
		joined, err := Stores(base, ours, theirs, options)
		if err != nil {
			return Result{}, err
		}
		before := len(s.Versions)
		if s, err = match.Load(joined.Tree); err != nil {
			return Result{}, err
		}
		if len(s.Versions) >= before {
			return all, nil // they are two after all
		}
		all.Tree = joined.Tree
		all.Renumbered = append(all.Renumbered, joined.Renumbered...)
		all.Reports = append(append(all.Reports, joined.Reports...), Report{
			Kind: Joined, File: ItemsDir + "/" + kept.ID.String() + match.Extension, Text: "has a second file, " + copied.Name(),
		})
	}
}

// copies returns two files of one item, first the one whose number it is to keep.
func copies(s match.Side, o Options) (kept, copied *match.Version, found bool) {
	byCreated := map[string][]*match.Version{}
	for _, v := range s.Versions {
		if v.Item.Created != "" {
			byCreated[v.Item.Created] = append(byCreated[v.Item.Created], v)
		}
	}
	for _, created := range slices.Sorted(maps.Keys(byCreated)) {
		list := byCreated[created]
		for i, b := range list {
			for _, a := range list[:i] {
				if a.ID == b.ID {
					if !match.BornApart(a, b, o.BornApart) {
						return a, b, true
					}
					continue
				}
				first, second, connected := connected(s.Records, a, b)
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
func connected(records []renumbered.Record, a, b *match.Version) (kept, copied *match.Version, ok bool) {
	created := a.Item.Created
	switch {
	case leadsTo(records, created, b.ID, a.ID):
		return a, b, true
	case leadsTo(records, created, a.ID, b.ID):
		return b, a, true
	case sameOrigin(records, created, a.ID, b.ID):
		if b.ID < a.ID {
			a, b = b, a
		}
		return a, b, true
	}
	return nil, nil, false
}

// alike reports whether two items with one birth are more than born at the same moment.
// Numbers prove less within a tree than between two: one of them can have been given to
// keep two items apart.
func (o Options) alike(a, b *match.Version) bool {
	return a.Item.Title == b.Item.Title ||
		o.Retitled != nil && o.Retitled(a.Item.Created, [2]item.ID{a.ID, b.ID}, [2]string{a.Item.Title, b.Item.Title}) ||
		share(a.Item.Comments, b.Item.Comments)
}

// share reports whether two lists have a comment in common.
func share(a, b []item.Comment) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	known := make(map[item.Comment]bool, len(a))
	for _, c := range a {
		known[c] = true
	}
	return slices.ContainsFunc(b, func(c item.Comment) bool { return known[c] })
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
