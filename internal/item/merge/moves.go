package merge

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/merge/mention"
)

// readable returns the item of a version, with the numbers of the result in the texts that are new
// on its side.
func (m *merger) readable(e *entry, v *match.Version) item.Item {
	if v == nil {
		return item.Item{}
	}
	it := v.Item
	if v.Side == 0 {
		return it
	}
	moved := m.moved[v.Side]
	if len(moved) == 0 {
		return it
	}
	var before item.Item
	if e.Base != nil {
		before = e.Base.Item
	}
	if it.Description != before.Description && strings.Contains(it.Description, "#") {
		it.Description = mention.Renumber(it.Description, strings.Split(before.Description, "\n"), moved.Since(it.Updated))
	}
	known := make(map[item.Comment]bool, len(before.Comments))
	for _, c := range before.Comments {
		known[c] = true
	}
	it.Comments = slices.Clone(it.Comments)
	for i, c := range it.Comments {
		if strings.Contains(c.Body, "#") && !known[c] {
			it.Comments[i].Body = mention.Renumber(c.Body, nil, moved.Since(c.Date))
		}
	}
	return it
}

// findMoves finds the items that a side knows by another number.
func (m *merger) findMoves() {
	for i, s := range m.sides() {
		for id, v := range s.Numbers {
			if e := m.entries[v.Key]; i > 0 && e.state != absent && e.id != id {
				m.moved[i] = append(m.moved[i], mention.Move{From: id, To: e.id, Created: v.Item.Created})
			}
		}
	}
}
