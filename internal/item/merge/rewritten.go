package merge

import (
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// FollowRewritten corrects references in now, a store after commits of branch were made
// again elsewhere, as a rebase does: git takes over what a commit says in numbers, and
// there the numbers can be those of other items. A reference that branch made since base,
// and that has the same number in now but means another item there, gets the number that
// its item has now. The result has the files that changed.
func FollowRewritten(base, branch, now Tree) (Tree, []Report, error) {
	m := &merger{}
	for _, s := range []struct {
		tree Tree
		side *side
	}{{base, &m.base}, {branch, &m.ours}, {now, &m.theirs}} {
		loaded, err := load(without(s.tree, ConfigName))
		if err != nil {
			return nil, nil, err
		}
		*s.side = loaded
		if s.side == &m.theirs {
			continue // its files are the result
		}
		if err := m.joinCopies(s.side); err != nil {
			return nil, nil, err
		}
	}
	m.result = Result{} // copies in other trees are of no interest here
	m.identify()
	moved := m.movedSince()
	changed := Tree{}
	for _, e := range m.sorted {
		if e.ours == nil || e.theirs == nil || e.theirs.trashed {
			continue
		}
		if err := m.correct(e, changed, m.follow(e, moved), "refers to items by the numbers that a rebase gave them"); err != nil {
			return nil, nil, err
		}
	}
	return changed, m.result.Reports, nil
}

// correct writes the references and texts of an item over its file, and reports it if
// that changes the file.
func (m *merger) correct(e *entry, changed Tree, to item.Item, report string) error {
	file, err := ticfile.Parse(e.theirs.text)
	if err != nil {
		return err
	}
	it := e.theirs.it
	if to.Parent != it.Parent {
		err = file.SetParent(to.Parent)
	}
	if !slices.Equal(to.DependsOn, it.DependsOn) {
		err = errors.Join(err, file.SetDependsOn(to.DependsOn))
	}
	if to.Description != it.Description {
		err = errors.Join(err, file.Update(e.theirs.id, item.Patch{Description: &to.Description}, it.Updated))
	}
	if err != nil {
		return nil //nolint:nilerr // written in a way that cannot be edited
	}
	if !slices.Equal(to.Comments, it.Comments) {
		file.SetComments(to.Comments)
	}
	text, err := file.Text()
	if err != nil || text == e.theirs.text {
		return err
	}
	changed[e.theirs.name()] = text
	m.result.Reports = append(m.result.Reports, Report{Renumbered, e.theirs.name(), report})
	return nil
}

func without(tree Tree, name string) Tree {
	rest := Tree{}
	for other, text := range tree {
		if other != name {
			rest[other] = text
		}
	}
	return rest
}

// follow returns what an item of the branch is to say now.
func (m *merger) follow(e *entry, moved moves) item.Item {
	it := e.theirs.it
	stale := m.stale(e)
	if to, ok := stale[it.Parent]; ok && it.Parent == e.ours.it.Parent && m.madeBy(e, it.Parent) {
		it.Parent = to
	}
	it.DependsOn = nil
	for _, id := range e.theirs.it.DependsOn {
		if to, ok := stale[id]; ok && slices.Contains(e.ours.it.DependsOn, id) && m.madeBy(e, id) {
			if id = to; id == 0 {
				continue
			}
		}
		if !slices.Contains(it.DependsOn, id) {
			it.DependsOn = append(it.DependsOn, id)
		}
	}
	var before item.Item
	if e.base != nil {
		before = e.base.it
	}
	it.Description = renumber(it.Description, linesBut(it.Description, addedLines(e.ours.it.Description, before.Description)), moved.since(e.ours.it.Updated))
	it.Comments = slices.Clone(it.Comments)
	for i, c := range it.Comments {
		if slices.Contains(e.ours.it.Comments, c) && !slices.Contains(before.Comments, c) {
			it.Comments[i].Body = renumber(c.Body, nil, moved.since(c.Date))
		}
	}
	return it
}

// stale are the numbers that mean one item on the branch and another now, with the
// number that the branch's item has now; 0 if it is not there.
func (m *merger) stale(e *entry) map[item.ID]item.ID {
	numbers := map[item.ID]item.ID{}
	for _, id := range append([]item.ID{e.ours.it.Parent}, e.ours.it.DependsOn...) {
		meant, is := m.ours.numbers[id], m.theirs.numbers[id]
		if meant == nil || is != nil && is.key == meant.key {
			continue
		}
		numbers[id] = 0
		if now := m.entries[meant.key].theirs; now != nil && !now.trashed {
			numbers[id] = now.id
		}
	}
	return numbers
}

// movedSince are the items that have another number now than on the branch.
func (m *merger) movedSince() moves {
	var list moves
	for id, meant := range m.ours.numbers {
		if now := m.entries[meant.key].theirs; now != nil && now.id != id {
			list = append(list, move{id, now.id, meant.it.Created})
		}
	}
	return list
}

// madeBy reports whether the branch made a reference: base had none, or one to another
// item.
func (m *merger) madeBy(e *entry, id item.ID) bool {
	if e.base == nil {
		return true
	}
	meant := m.ours.numbers[id]
	return meant == nil || !slices.Contains(m.references(e.base), meant.key)
}
