// Package references lets references follow their items where git copied commits: in a rebase, a
// cherry-pick, and a merge without a conflict. Git copies the numbers in a commit, and in the new
// place, the same number can belong to another item.
package references

import (
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/merge/mention"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// follower corrects a tree, theirs. What its references are to mean is in the others.
type follower struct {
	*match.Items
	base, ours, theirs match.Side
	changed            merge.Tree // the files that it corrected
	reports            []merge.Report
}

func (m *follower) identify() { m.Items = match.Find(&m.base, &m.ours, &m.theirs, false) }

// loadItems reads the items of a tree.
func loadItems(tree merge.Tree) (match.Side, error) {
	rest := merge.Tree{}
	for name, text := range tree {
		if name != merge.ConfigName {
			rest[name] = text
		}
	}
	return match.Load(rest)
}

// loadOnce reads the items of a tree, each once.
func loadOnce(tree merge.Tree) (match.Side, error) {
	loaded, err := loadItems(tree)
	if err != nil {
		return match.Side{}, err
	}
	joined, err := merge.Once(loaded.Tree, merge.Options{})
	if err != nil {
		return match.Side{}, err
	}
	return match.Load(joined.Tree)
}

// Rewritten corrects references in now, a store after commits of branch were made again
// elsewhere, as a rebase does. A reference that branch made since base, and that has the
// same number in now but means another item there, gets the number that its item has now.
// The result has the files that changed.
func Rewritten(base, branch, now merge.Tree) (merge.Tree, []merge.Report, error) {
	m := &follower{changed: merge.Tree{}}
	for _, s := range []struct {
		tree merge.Tree
		load func(merge.Tree) (match.Side, error)
		side *match.Side
	}{{base, loadOnce, &m.base}, {branch, loadOnce, &m.ours}, {now, loadItems, &m.theirs}} { // the files of now are the result
		var err error
		if *s.side, err = s.load(s.tree); err != nil {
			return nil, nil, err
		}
	}
	m.identify()
	moved := m.movedSince()
	for _, e := range m.Sorted {
		if e.Ours == nil || e.Theirs == nil || e.Theirs.Trashed {
			continue
		}
		if err := m.correct(e, m.follow(e, moved), "refers to items by the numbers that a rebase gave them"); err != nil {
			return nil, nil, err
		}
	}
	return m.changed, m.reports, nil
}

// correct writes the references and texts of an item over its file, and reports it if
// that changes the file.
func (m *follower) correct(e *match.Entry, to item.Item, report string) error {
	file, err := ticfile.Parse(e.Theirs.Text)
	if err != nil {
		return err
	}
	it := e.Theirs.Item
	if to.Parent != it.Parent {
		err = file.SetParent(to.Parent)
	}
	if !slices.Equal(to.DependsOn, it.DependsOn) {
		err = errors.Join(err, file.SetDependsOn(to.DependsOn))
	}
	if to.Description != it.Description {
		err = errors.Join(err, file.Update(e.Theirs.ID, item.Patch{Description: &to.Description}, it.Updated))
	}
	if err != nil {
		return nil //nolint:nilerr // written in a way that cannot be edited
	}
	if !slices.Equal(to.Comments, it.Comments) {
		file.SetComments(to.Comments)
	}
	text, err := file.Text()
	if err != nil || text == e.Theirs.Text {
		return err
	}
	m.changed[e.Theirs.Name()] = text
	m.reports = append(m.reports, merge.Report{Kind: merge.Renumbered, File: e.Theirs.Name(), Text: report})
	return nil
}

// follow returns what an item of the branch is to say now.
func (m *follower) follow(e *match.Entry, moved mention.Moves) item.Item {
	it := e.Theirs.Item
	stale := m.stale(e)
	if to, ok := stale[it.Parent]; ok && it.Parent == e.Ours.Item.Parent && m.madeBy(e, it.Parent) {
		it.Parent = to
	}
	made := distinct.Of(e.Ours.Item.DependsOn...)
	var dependsOn distinct.List[item.ID]
	for _, id := range e.Theirs.Item.DependsOn {
		if to, ok := stale[id]; ok && made.Has(id) && m.madeBy(e, id) {
			if id = to; id == 0 {
				continue
			}
		}
		dependsOn.Add(id)
	}
	it.DependsOn = dependsOn.Values()
	var before item.Item
	if e.Base != nil {
		before = e.Base.Item
	}
	it.Description = mention.Renumber(it.Description, linesBut(it.Description, addedLines(e.Ours.Item.Description, before.Description)), moved.Since(e.Ours.Item.Updated))
	it.Comments = slices.Clone(it.Comments)
	ours, older := distinct.Of(e.Ours.Item.Comments...), distinct.Of(before.Comments...)
	for i, c := range it.Comments {
		if ours.Has(c) && !older.Has(c) {
			it.Comments[i].Body = mention.Renumber(c.Body, nil, moved.Since(c.Date))
		}
	}
	return it
}

// stale returns the numbers that mean one item on the branch and another now, with the number that
// the branch's item has now; 0 if it is not there.
func (m *follower) stale(e *match.Entry) map[item.ID]item.ID {
	numbers := map[item.ID]item.ID{}
	for _, id := range append([]item.ID{e.Ours.Item.Parent}, e.Ours.Item.DependsOn...) {
		meant, is := m.ours.Numbers[id], m.theirs.Numbers[id]
		if meant == nil || is != nil && is.Key == meant.Key {
			continue
		}
		numbers[id] = 0
		if now := m.Entries[meant.Key].Theirs; now != nil && !now.Trashed {
			numbers[id] = now.ID
		}
	}
	return numbers
}

// movedSince returns the items that have another number now than on the branch.
func (m *follower) movedSince() mention.Moves {
	var list mention.Moves
	for id, meant := range m.ours.Numbers {
		if now := m.Entries[meant.Key].Theirs; now != nil && now.ID != id {
			list = append(list, mention.Move{From: id, To: now.ID, Created: meant.Item.Created})
		}
	}
	return list
}

// madeBy reports whether the branch made a reference: base had none, or one to another
// item.
func (m *follower) madeBy(e *match.Entry, id item.ID) bool {
	if e.Base == nil {
		return true
	}
	meant := m.ours.Numbers[id]
	return meant == nil || !slices.Contains(m.References(e.Base), meant.Key)
}
