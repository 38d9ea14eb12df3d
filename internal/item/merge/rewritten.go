package merge

import (
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
		file, err := ticfile.Parse(e.theirs.text)
		if err != nil {
			return nil, nil, err
		}
		if m.follow(e, file, moved) != nil {
			continue // written in a way that cannot be edited
		}
		text, err := file.Text()
		if err != nil {
			return nil, nil, err
		}
		if text != e.theirs.text {
			name := ItemsFolder + "/" + e.theirs.id.String() + extension
			changed[name] = text
			m.result.Reports = append(m.result.Reports, Report{Renumbered, name, "refers to items by the numbers that a rebase gave them"})
		}
	}
	return changed, m.result.Reports, nil
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

// follow corrects the references of one item.
func (m *merger) follow(e *entry, file *ticfile.File, moved moves) error {
	it := e.theirs.it
	stale := m.stale(e)
	if to, ok := stale[it.Parent]; ok && it.Parent == e.ours.it.Parent && m.madeBy(e, it.Parent) {
		if err := file.SetParent(to); err != nil {
			return err
		}
	}
	var dependsOn []item.ID
	for _, id := range it.DependsOn {
		if to, ok := stale[id]; ok && slices.Contains(e.ours.it.DependsOn, id) && m.madeBy(e, id) {
			if id = to; id == 0 {
				continue
			}
		}
		if !slices.Contains(dependsOn, id) {
			dependsOn = append(dependsOn, id)
		}
	}
	if !slices.Equal(dependsOn, it.DependsOn) {
		if err := file.SetDependsOn(dependsOn); err != nil {
			return err
		}
	}
	comments := slices.Clone(it.Comments)
	for i, c := range comments {
		if slices.Contains(e.ours.it.Comments, c) && (e.base == nil || !slices.Contains(e.base.it.Comments, c)) {
			comments[i].Body = renumber(c.Body, nil, moved.since(c.Date))
		}
	}
	if !slices.Equal(comments, it.Comments) {
		file.SetComments(comments)
	}
	return nil
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
