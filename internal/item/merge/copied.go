package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
)

// Copied is a commit that git made again on top of another one, as a cherry-pick and each
// step of a rebase do. The trees need only the files that the commit changed and the
// items that Numbers finds in them.
type Copied struct {
	Change
	// Originals are what it was made from, the oldest first: a copy can have copies.
	Originals []Change
}

// Change is the store before and after a commit.
type Change struct{ Before, After Tree }

// Numbers returns the numbers that the text of an item refers to: its parent, its
// dependencies, and mentions such as #10. A file that is not an item refers to none.
func Numbers(name, text string) []item.ID {
	v := readVersion(name, text)
	if v == nil {
		return nil
	}
	numbers := referred(v)
	for _, match := range mention().FindAllStringSubmatch(text, -1) {
		if id, err := item.ParseID(match[2]); err == nil {
			numbers = append(numbers, id)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func referred(v *version) []item.ID {
	numbers := slices.Clone(v.it.DependsOn)
	if v.it.Parent != 0 {
		numbers = append(numbers, v.it.Parent)
	}
	return numbers
}

// FollowCopied corrects references in now, a store that has the copy of a commit. A
// clean copy takes over what the original says in numbers, and where it arrives the same
// number can be that of another item. A reference that the original made and the copy
// took over gets the number that its item has in now; without that item it goes. Text
// keeps its number then. The result has the files that changed.
func FollowCopied(c Copied, now Tree) (Tree, []Report, error) {
	changed := Tree{}
	var reports []Report
	settled := map[reference]bool{}
	for _, original := range c.Originals {
		more, err := followOriginal(original, c.Change, now, settled)
		if err != nil {
			return nil, nil, err
		}
		now = maps.Clone(now)
		maps.Copy(now, more.Tree)
		maps.Copy(changed, more.Tree)
		reports = append(reports, more.Reports...)
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
func followOriginal(original, copy Change, now Tree, settled map[reference]bool) (Result, error) {
	m := &merger{result: Result{Tree: Tree{}}}
	var before, onto side
	for _, s := range []struct {
		tree Tree
		side *side
	}{{copy.After, &m.base}, {original.After, &m.ours}, {now, &m.theirs}, {original.Before, &before}, {copy.Before, &onto}} {
		var err error
		if *s.side, err = load(without(s.tree, ConfigName)); err != nil {
			return Result{}, err
		}
	}
	m.identify()
	for _, e := range m.sorted {
		if e.base == nil || e.ours == nil {
			continue
		}
		f := copied{merger: m, e: e, before: before.find(e.ours), onto: onto.find(e.base), sides: [2]*side{&before, &onto}, settled: settled}
		to := f.corrections()
		if e.theirs == nil || e.theirs.trashed {
			continue
		}
		if err := m.correct(e, m.result.Tree, to, "refers to items by the numbers that they have here: git took over those of another branch"); err != nil {
			return Result{}, err
		}
	}
	return m.result, nil
}

// find returns the version of an item that a side has; nil if it has none.
func (s *side) find(v *version) *version {
	for _, other := range s.versions {
		if other.id == v.id && other.it.Created == v.it.Created {
			return other
		}
	}
	return nil
}

// copied is one item of a commit that was copied.
type copied struct {
	*merger
	e            *entry
	before, onto *version // nil without one
	sides        [2]*side // of before and onto
	settled      map[reference]bool
}

// corrections returns what the item is to say now.
func (f *copied) corrections() item.Item {
	var it item.Item
	if f.e.theirs != nil {
		it = f.e.theirs.it
	}
	parents := f.mistakes("parent", func(it *item.Item) []item.ID { return []item.ID{it.Parent} })
	dependencies := f.mistakes("depends on", func(it *item.Item) []item.ID { return it.DependsOn })
	it.Parent = f.right(it.Parent, parents)
	dependsOn := it.DependsOn
	it.DependsOn = nil
	for _, id := range dependsOn {
		if id = f.right(id, dependencies); id != 0 && !slices.Contains(it.DependsOn, id) {
			it.DependsOn = append(it.DependsOn, id)
		}
	}
	if f.settle("text", 0) {
		f.texts(&it)
	}
	return it
}

// settle reports whether nothing older has decided about a reference, and decides.
func (f *copied) settle(kind string, number item.ID) bool {
	r := reference{f.e.base.name(), kind, number}
	if f.settled[r] {
		return false
	}
	f.settled[r] = true
	return true
}

// mistake is a number of the copy that means another item than in the original.
type mistake struct {
	number item.ID
	is     *version // nil if the number means nothing in the copy
	meant  key
}

// mistakes returns what the copy took over wrongly.
func (f *copied) mistakes(kind string, of func(*item.Item) []item.ID) []mistake {
	var list []mistake
	for _, number := range of(&f.e.ours.it) {
		meant, is := f.ours.numbers[number], f.base.numbers[number]
		if number == 0 || meant == nil || !slices.Contains(of(&f.e.base.it), number) {
			continue
		}
		if had(f.sides[0], f.before, of, number, meant) || had(f.sides[1], f.onto, of, number, is) {
			continue // the commit did not make the reference
		}
		if f.settle(kind, number) && (is == nil || is.key != meant.key) {
			list = append(list, mistake{number, is, meant.key})
		}
	}
	return list
}

// right returns the number that a reference of now is to have; 0 if its item is not there.
func (f *copied) right(id item.ID, mistakes []mistake) item.ID {
	for _, wrong := range mistakes {
		here := f.theirs.numbers[id]
		if wrong.is == nil && id != wrong.number || wrong.is != nil && (here == nil || here.key != wrong.is.key) {
			continue // somebody corrected it already
		}
		if now := f.entries[wrong.meant].theirs; now != nil && !now.trashed {
			return now.id
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
		before = f.before.it
	}
	if f.onto != nil {
		onto = f.onto.it
	}
	added := addedLines(f.e.ours.it.Description, before.Description, onto.Description)
	it.Description = renumber(it.Description, linesBut(it.Description, added), moved.since(f.e.ours.it.Updated))
	it.Comments = slices.Clone(it.Comments)
	for i, c := range it.Comments {
		if slices.Contains(f.e.ours.it.Comments, c) && !slices.Contains(before.Comments, c) && !slices.Contains(onto.Comments, c) {
			it.Comments[i].Body = renumber(c.Body, nil, moved.since(c.Date))
		}
	}
}

// had reports whether a version of an item referred to another by its number.
func had(s *side, v *version, kind func(*item.Item) []item.ID, number item.ID, to *version) bool {
	if v == nil || !slices.Contains(kind(&v.it), number) {
		return false
	}
	target := s.numbers[number]
	return target == nil && to == nil || target != nil && to != nil && target.it.Created == to.it.Created
}

// moved are the numbers of the original that mean other items in the copy, and what they
// are in now.
func (f *copied) moved() moves {
	var list moves
	for id, meant := range f.ours.numbers {
		if is := f.base.numbers[id]; is != nil && is.key == meant.key {
			continue
		}
		if now := f.entries[meant.key].theirs; now != nil && now.id != id {
			list = append(list, move{id, now.id, meant.it.Created})
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
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(list, line) })
}
