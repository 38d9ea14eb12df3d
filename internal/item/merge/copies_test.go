package merge_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// once joins the copies in a store.
func once(t *testing.T, s store) store {
	t.Helper()
	r, err := merge.Once(s.tree, merge.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return store{t, r.Tree}
}

// A cherry-pick of a deletion brings a file of the trash to a branch that has the item.
func TestDeletionIsPickedBesideTheItem(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "other", 1)
	base.create(4, "deleted elsewhere", 2)
	base.create(5, "child", 3, parent(4))
	twice := base.clone()
	twice.remove(4, 9)
	twice.tree[name(4)], twice.tree[name(5)] = base.tree[name(4)], base.tree[name(5)]

	diff(t, "repaired", "items/1.md other backlog\nitems/5.md child backlog\ntrash/4.md deleted elsewhere backlog", once(t, twice).outline())

	// Another collision at the same time must not make two items of the one.
	theirs := base.clone()
	theirs.create(6, "theirs", 20)
	ours := twice.clone()
	ours.create(6, "ours", 10)
	for _, trees := range [][2]store{{ours, theirs}, {theirs, ours}} {
		m, r := mergeStores(t, base, trees[0], trees[1], merge.Options{})
		diff(t, "merged", "items/1.md other backlog\nitems/5.md child backlog\nitems/6.md ours backlog\nitems/7.md theirs backlog\ntrash/4.md deleted elsewhere backlog", m.outline())
		diff(t, "reports", []merge.Report{{Kind: merge.Joined, File: "items/4.md", Text: "has a second file, trash/4.md"}}, r.Reports)
	}
	changed := twice.clone()
	changed.tree[name(4)] = base.tree[name(4)]
	changed.comment(4, 12, "ann", "still needed")
	diff(t, "changed since", "items/1.md other backlog\nitems/4.md deleted elsewhere backlog\nitems/5.md child backlog parent 4", once(t, changed).outline())
}

// A cherry-pick of a commit that renumbered an item brings the item under its new number
// to the branch that it came from.
func TestRenumberingIsPickedBesideTheItem(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	home := base.clone()
	home.create(1, "mine", 1)
	home.comment(1, 2, "ann", "said before")
	home.create(2, "child", 3, parent(1))
	twice := home.clone()
	twice.create(3, "mine", 1)
	twice.comment(3, 5, "bob", "said elsewhere")
	twice.tree[renumbered.Name] = renumbered.Format([]renumbered.Record{{From: 1, To: 3, Created: at(1), On: "2026-11-21"}})

	joined := once(t, twice)
	diff(t, "repaired", "items/2.md child backlog parent 3\nitems/3.md mine backlog", joined.outline())
	diff(t, "comments", 2, len(joined.item(3).Comments))
	diff(t, "repaired again", joined.tree, once(t, joined).tree)

	// The same where the merge has more to do.
	other := base.clone()
	other.create(1, "published", 6)
	m, _ := mergeStores(t, base, other, twice, merge.Options{})
	diff(t, "merged", "items/1.md published backlog\nitems/2.md child backlog parent 3\nitems/3.md mine backlog", m.outline())

	// The copies went different ways since, and still share what was said.
	twice.tree[name(3)] = strings.Replace(joined.tree[name(3)], "title: mine", "title: renamed", 1)
	diff(t, "renamed", "items/2.md child backlog parent 3\nitems/3.md renamed backlog", once(t, twice).outline())
}

// Two items that were born at the same moment stay two, also once one has the number
// that the merge gave it.
func TestItemsOfOneMomentStayApart(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, b := base.clone(), base.clone()
	a.create(1, "a", 1)
	b.create(1, "b", 1)
	m, _ := mergeStores(t, base, a, b, merge.Options{})
	m.update(1, 2, item.Patch{Status: new("done")})
	const two = "items/1.md a done\nitems/2.md b backlog"
	diff(t, "items", two, m.outline())
	diff(t, "repaired", two, once(t, m).outline())
	again, _ := mergeStores(t, b, m, b, merge.Options{})
	diff(t, "merged again", two, again.outline())
}

// Two files of one birth with connected numbers and different titles are one item if
// history shows that one title became the other.
func TestRetitledCopies(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.create(4, "before", 1)
	s.create(1, "after", 1)
	s.update(1, 2, item.Patch{Title: new("after")})
	s.tree[renumbered.Name] = renumbered.Format([]renumbered.Record{{From: 1, To: 4, Created: at(1), On: "2026-11-21"}})
	for _, retitled := range []bool{false, true} {
		r, err := merge.Once(s.tree, merge.Options{Now: now, Retitled: func(created string, ids [2]item.ID, titles [2]string) bool {
			diff(t, "what is asked", []any{at(1), [2]item.ID{1, 4}, [2]string{"after", "before"}}, []any{created, ids, titles})
			return retitled
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := "items/1.md after backlog\nitems/4.md before backlog"
		if retitled {
			want = "items/4.md before backlog" // the greater one; a comment keeps the other
		}
		diff(t, "items", want, store{t, r.Tree}.outline())
	}
}
