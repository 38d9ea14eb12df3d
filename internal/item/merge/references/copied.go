package references

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/merge/mention"
)

// Copy is a commit that git made again on top of another one, as a cherry-pick and each
// step of a rebase do. The trees need only the files that the commit changed and the
// items that Numbers finds in them.
type Copy struct {
	Change
	// Originals are what it was made from, the oldest first: a copy can have copies.
	Originals []Change
}

// Change is the store before and after a commit.
type Change struct{ Before, After merge.Tree }

// Numbers returns the numbers that the text of an item refers to: its parent, its
// dependencies, and mentions such as #10. A file that is not an item refers to none.
func Numbers(name, text string) []item.ID {
	v := match.Read(name, text)
	if v == nil {
		return nil
	}
	numbers := append(referred(v), mention.Numbers(text)...)
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func referred(v *match.Version) []item.ID {
	numbers := slices.Clone(v.Item.DependsOn)
	if v.Item.Parent != 0 {
		numbers = append(numbers, v.Item.Parent)
	}
	return numbers
}

// Copied corrects references in now, a store that has the copy of a commit. A
// clean copy takes over what the original says in numbers, and where it arrives the same
// number can be that of another item. A reference that the original made and the copy
// took over gets the number that its item has in now; without that item it goes. Text
// keeps its number then. The result has the files that changed.
func Copied(c Copy, now merge.Tree) (merge.Tree, []merge.Report, error) {
	changed := merge.Tree{}
	var reports []merge.Report
	settled := map[reference]bool{}
	for _, original := range c.Originals {
		m, err := followOriginal(original, c.Change, now, settled)
		if err != nil {
			return nil, nil, err
		}
		now = maps.Clone(now)
		maps.Copy(now, m.changed)
		maps.Copy(changed, m.changed)
		reports = append(reports, m.reports...)
	}
	return changed, reports, nil
}

// reference is one that a copy took over: by the file and the kind of reference.
type reference struct {
	file   string
	kind   string
	number item.ID // 0 for the texts of the file
}

// followOriginal corrects what the copy took over from one original, but for what is
// settled: the oldest original that has a reference knows what it means.
func followOriginal(original, copy Change, now merge.Tree, settled map[reference]bool) (*follower, error) {
	m := &follower{changed: merge.Tree{}}
	var before, onto match.Side
	for _, s := range []struct {
		tree merge.Tree
		side *match.Side
	}{{copy.After, &m.base}, {original.After, &m.ours}, {now, &m.theirs}, {original.Before, &before}, {copy.Before, &onto}} {
		var err error
		if *s.side, err = loadItems(s.tree); err != nil {
			return nil, err
		}
	}
	m.identify()
	for _, e := range m.Sorted {
		if e.Base == nil || e.Ours == nil {
			continue
		}
		f := copied{follower: m, e: e, before: find(&before, e.Ours), onto: find(&onto, e.Base), sides: [2]*match.Side{&before, &onto}, settled: settled}
		to := f.corrections()
		if e.Theirs == nil || e.Theirs.Trashed {
			continue
		}
		if err := m.correct(e, to, "refers to items by their numbers here: git had copied those of another branch"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// find returns the version of an item that a side has; nil if it has none.
func find(s *match.Side, v *match.Version) *match.Version {
	for _, other := range s.Versions {
		if other.ID == v.ID && other.Item.Created == v.Item.Created {
			return other
		}
	}
	return nil
}

// copied is one item of a commit that was copied.
type copied struct {
	*follower
	e            *match.Entry
	before, onto *match.Version // nil without one
	sides        [2]*match.Side // of before and onto
	settled      map[reference]bool
}

// corrections returns what the item is to say now.
func (f *copied) corrections() item.Item {
	var it item.Item
	if f.e.Theirs != nil {
		it = f.e.Theirs.Item
	}
	parents := f.mistakes("parent", func(it *item.Item) []item.ID { return []item.ID{it.Parent} })
	dependencies := f.mistakes("depends on", func(it *item.Item) []item.ID { return it.DependsOn })
	it.Parent = f.right(it.Parent, parents)
	dependsOn := it.DependsOn
	var right distinct.List[item.ID]
	for _, id := range dependsOn {
		if id = f.right(id, dependencies); id != 0 {
			right.Add(id)
		}
	}
	it.DependsOn = right.Values()
	if f.settle("text", 0) {
		f.texts(&it)
	}
	return it
}

// settle reports whether nothing older has decided about a reference, and decides.
func (f *copied) settle(kind string, number item.ID) bool {
	r := reference{f.e.Base.Name(), kind, number}
	if f.settled[r] {
		return false
	}
	f.settled[r] = true
	return true
}

// mistake is a number of the copy that means an item other than in the original.
type mistake struct {
	number item.ID
	is     *match.Version // nil if the number means nothing in the copy
	meant  match.Key
}

// mistakes returns what the copy took over wrongly.
func (f *copied) mistakes(kind string, of func(*item.Item) []item.ID) []mistake {
	var list []mistake
	original := distinct.Of(of(&f.e.Base.Item)...)
	for _, number := range of(&f.e.Ours.Item) {
		meant, is := f.ours.Numbers[number], f.base.Numbers[number]
		if number == 0 || meant == nil || !original.Has(number) {
			continue
		}
		if had(f.sides[0], f.before, of, number, meant) || had(f.sides[1], f.onto, of, number, is) {
			continue // the commit did not make the reference
		}
		if f.settle(kind, number) && (is == nil || is.Key != meant.Key) {
			list = append(list, mistake{number, is, meant.Key})
		}
	}
	return list
}

// right returns the number that a reference of now is to have; 0 if its item is not there.
func (f *copied) right(id item.ID, mistakes []mistake) item.ID {
	for _, wrong := range mistakes {
		here := f.theirs.Numbers[id]
		if wrong.is == nil && id != wrong.number || wrong.is != nil && (here == nil || here.Key != wrong.is.Key) {
			continue // somebody corrected it already
		}
		if now := f.Entries[wrong.meant].Theirs; now != nil && !now.Trashed {
			return now.ID
		}
		return 0
	}
	return id
}

// texts corrects the mentions in texts that the commit made.
func (f *copied) texts(it *item.Item) {
	moved := f.moved()
	if len(moved) == 0 {
		return
	}
	var before, onto item.Item
	if f.before != nil {
		before = f.before.Item
	}
	if f.onto != nil {
		onto = f.onto.Item
	}
	added := addedLines(f.e.Ours.Item.Description, before.Description, onto.Description)
	it.Description = mention.Renumber(it.Description, linesBut(it.Description, added), moved.Since(f.e.Ours.Item.Updated))
	it.Comments = slices.Clone(it.Comments)
	ours, older := distinct.Of(f.e.Ours.Item.Comments...), distinct.Of(append(slices.Clone(before.Comments), onto.Comments...)...)
	for i, c := range it.Comments {
		if ours.Has(c) && !older.Has(c) {
			it.Comments[i].Body = mention.Renumber(c.Body, nil, moved.Since(c.Date))
		}
	}
}

// had reports whether a version of an item referred to another by its number.
func had(s *match.Side, v *match.Version, kind func(*item.Item) []item.ID, number item.ID, to *match.Version) bool {
	if v == nil || !slices.Contains(kind(&v.Item), number) {
		return false
	}
	target := s.Numbers[number]
	return target == nil && to == nil || target != nil && to != nil && target.Item.Created == to.Item.Created
}

// moved returns the numbers of the original that mean other items in the copy, and what they are in
// now.
func (f *copied) moved() mention.Moves {
	var list mention.Moves
	for id, meant := range f.ours.Numbers {
		if is := f.base.Numbers[id]; is != nil && is.Key == meant.Key {
			continue
		}
		if now := f.Entries[meant.Key].Theirs; now != nil && now.ID != id {
			list = append(list, mention.Move{From: id, To: now.ID, Created: meant.Item.Created})
		}
	}
	return list
}

// addedLines returns the lines of a text that none of the others has.
func addedLines(text string, others ...string) []string {
	return linesBut(text, strings.Split(strings.Join(others, "\n"), "\n"))
}

// linesBut returns the lines of a text without those in a list.
func linesBut(text string, list []string) []string {
	return distinct.Without(strings.Split(text, "\n"), list)
}
