package merge

import (
	"cmp"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// number gives each item of the result its number.
func (m *merger) number() {
	taken := map[item.ID]*entry{}
	for _, s := range m.sides()[1:] {
		for _, name := range s.others {
			if id, _, ok := numberOf(name); ok {
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
	slices.SortFunc(without, func(a, b *entry) int { return cmp.Or(compareTimes(a.key.created, b.key.created), a.key.compare(b.key)) })
	next := m.largest() + 1
	for _, e := range without {
		for _, id := range m.candidates(e)[1:] {
			if e.id == 0 && taken[id] == nil {
				e.id = id
			}
		}
		if e.id == 0 {
			e.id, next = next, next+1
		}
		taken[e.id] = e
	}
	m.record()
}

// candidates are the numbers that an item may get, the best first: the one that a side
// gave to it since the base, then what else it has.
func (m *merger) candidates(e *entry) []item.ID {
	switch {
	case e.ours == nil && e.theirs == nil:
		return []item.ID{e.base.id}
	case e.ours == nil:
		return []item.ID{e.theirs.id}
	case e.theirs == nil, e.ours.id == e.theirs.id:
		return []item.ID{e.ours.id}
	case e.base != nil && e.base.id == e.ours.id:
		return []item.ID{e.theirs.id, e.ours.id}
	case e.base != nil && e.base.id == e.theirs.id:
		return []item.ID{e.ours.id, e.theirs.id}
	}
	list := []item.ID{e.ours.id, e.theirs.id}
	slices.SortFunc(list, func(a, b item.ID) int { return cmp.Or(m.rank(a, e)-m.rank(b, e), cmp.Compare(a, b)) })
	return list
}

func (m *merger) rank(id item.ID, e *entry) int {
	if m.options.Rank == nil {
		return 0
	}
	return m.options.Rank(Birth{ID: id, Created: e.key.created})
}

// precedence orders two items by their claim to a number.
func (m *merger) precedence(id item.ID, a, b *entry) int {
	return cmp.Or(
		m.rank(id, a)-m.rank(id, b),
		held(b, id)-held(a, id),
		compareTimes(a.key.created, b.key.created),
		a.key.compare(b.key),
	)
}

// held counts the trees in which an item of the base has a number. What base has was
// there before what either side made.
func held(e *entry, id item.ID) int {
	n := 0
	for _, v := range e.versions() {
		if e.base != nil && v != nil && v.id == id {
			n++
		}
	}
	return n
}

// compareTimes compares two times as items have them. One that cannot be read is last.
func compareTimes(a, b string) int {
	if a == b {
		return 0
	}
	at, aErr := time.Parse(time.RFC3339, a)
	bt, bErr := time.Parse(time.RFC3339, b)
	switch {
	case aErr == nil && bErr == nil:
		return cmp.Or(at.Compare(bt), cmp.Compare(a, b))
	case aErr == nil:
		return -1
	case bErr == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// largest is the largest number that is or was in use.
func (m *merger) largest() item.ID {
	largest := m.options.Taken
	for _, s := range m.sides() {
		for name := range s.tree {
			if id, _, ok := numberOf(name); ok {
				largest = max(largest, id)
			}
		}
		if s.config != nil {
			largest = max(largest, s.config.NextID()-1)
		}
	}
	for _, r := range m.records {
		largest = max(largest, r.From, r.To)
	}
	return largest
}

// record notes which items have another number than a side knows them by.
func (m *merger) record() {
	on := m.options.Now.UTC().Format(time.DateOnly)
	var added []renumbered.Record
	for _, e := range m.sorted {
		for _, v := range []*version{e.ours, e.theirs} {
			if e.state == absent || v == nil || v.id == e.id {
				continue
			}
			r := renumbered.Record{From: v.id, To: e.id, Created: e.key.created, On: on}
			known := slices.ContainsFunc(m.records, func(old renumbered.Record) bool {
				return old.From == r.From && old.To == r.To && old.Created == r.Created
			})
			if !known && !slices.Contains(added, r) {
				added = append(added, r)
				m.result.Renumbered = append(m.result.Renumbered, Renumbering{r, e.title()})
			}
		}
	}
	m.records = renumbered.Union(m.records, added)
}
