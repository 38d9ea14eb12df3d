package merge

import (
	"cmp"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// number gives each item of the result its number.
func (m *merger) number() {
	taken := map[item.ID]*entry{}
	for _, s := range m.sides()[1:] {
		for _, name := range s.Others {
			if id, _, ok := match.NumberOf(name); ok {
				taken[id] = &entry{}
			}
		}
	}
	wanted := map[item.ID][]*entry{}
	for _, e := range m.sorted {
		if e.state != absent {
			id := m.candidates(e)[0]
			wanted[id] = append(wanted[id], e)
		}
	}
	var without []*entry
	for id, list := range wanted {
		slices.SortFunc(list, func(a, b *entry) int { return m.precedence(id, a, b) })
		if taken[id] == nil {
			list[0].id, taken[id] = id, list[0]
			list = list[1:]
		}
		without = append(without, list...)
	}
	slices.SortFunc(without, func(a, b *entry) int {
		return cmp.Or(fields.CompareTimes(a.Key.Created, b.Key.Created), a.Key.Compare(b.Key))
	})
	free := m.free(taken)
	for _, e := range without {
		for _, id := range m.candidates(e)[1:] {
			if e.id == 0 && taken[id] == nil {
				e.id = id
			}
		}
		if e.id == 0 {
			e.id = free()
		}
		taken[e.id] = e
	}
	m.record()
}

// free returns a function that returns a number that nothing has: the next one above all that are or
// were in use, or the smallest if there is none.
func (m *merger) free(taken map[item.ID]*entry) func() item.ID {
	used := map[item.ID]bool{}
	last := m.numbers(func(id item.ID) { used[id] = true })
	return func() item.ID {
		for {
			if last++; last > item.MaxID {
				last = 1
			}
			if !used[last] && taken[last] == nil {
				return last
			}
		}
	}
}

// candidates returns the numbers that an item may get, the best first: the one that a side gave to
// it since the base, then what else it has.
func (m *merger) candidates(e *entry) []item.ID {
	switch {
	case e.Ours == nil && e.Theirs == nil:
		return []item.ID{e.Base.ID}
	case e.Ours == nil:
		return []item.ID{e.Theirs.ID}
	case e.Theirs == nil, e.Ours.ID == e.Theirs.ID:
		return []item.ID{e.Ours.ID}
	case e.Base != nil && e.Base.ID == e.Ours.ID:
		return []item.ID{e.Theirs.ID, e.Ours.ID}
	case e.Base != nil && e.Base.ID == e.Theirs.ID:
		return []item.ID{e.Ours.ID, e.Theirs.ID}
	}
	list := []item.ID{e.Ours.ID, e.Theirs.ID}
	slices.SortFunc(list, func(a, b item.ID) int { return cmp.Or(m.rank(a, e)-m.rank(b, e), cmp.Compare(a, b)) })
	return list
}

func (m *merger) rank(id item.ID, e *entry) int {
	if m.options.Rank == nil {
		return 0
	}
	return m.options.Rank(Birth{ID: id, Created: e.Key.Created})
}

// precedence orders two items by their claim to a number.
func (m *merger) precedence(id item.ID, a, b *entry) int {
	return cmp.Or(
		m.rank(id, a)-m.rank(id, b),
		held(b, id)-held(a, id),
		fields.CompareTimes(a.Key.Created, b.Key.Created),
		a.Key.Compare(b.Key),
	)
}

// held counts the trees in which an item of the base has a number. What base has was
// there before what either side made.
func held(e *entry, id item.ID) int {
	n := 0
	for _, v := range e.Versions() {
		if e.Base != nil && v != nil && v.ID == id {
			n++
		}
	}
	return n
}

// numbers calls use with each number that an item has or had, and returns the largest number that is
// or was in use.
func (m *merger) numbers(use func(item.ID)) item.ID {
	largest := m.options.Taken
	for _, s := range m.sides() {
		for name := range s.Tree {
			if id, _, ok := match.NumberOf(name); ok {
				use(id)
				largest = max(largest, id)
			}
		}
	}
	largest = max(largest, fields.NextID(m.base.Config, m.ours.Config, m.theirs.Config)-1)
	for _, r := range m.records {
		use(r.From)
		use(r.To)
		largest = max(largest, r.From, r.To)
	}
	return largest
}

// record notes which items have a number other than a side knows them by.
func (m *merger) record() {
	on := m.options.Now.UTC().Format(time.DateOnly)
	var added []renumbered.Record
	known := make(map[renumbered.Record]bool, len(m.records))
	for _, r := range m.records {
		r.On = on
		known[r] = true
	}
	for _, e := range m.sorted {
		for _, v := range []*match.Version{e.Ours, e.Theirs} {
			if e.state == absent || v == nil || v.ID == e.id {
				continue
			}
			r := renumbered.Record{From: v.ID, To: e.id, Created: e.Key.Created, On: on}
			if !known[r] {
				known[r] = true
				added = append(added, r)
				m.result.Renumbered = append(m.result.Renumbered, Renumbering{r, e.Title()})
			}
		}
	}
	m.records = renumbered.Union(m.records, added)
}
