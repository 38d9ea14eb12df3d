package merge_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/driver"
)

// An item that would be too large with the changes of both sides keeps the version that was updated last.
// The other one is a file beside, and the other items merge.
func TestTooLargeTogether(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "large", 1)
	base.create(2, "other", 2)
	ours, theirs := base.clone(), base.clone()
	labels := func(prefix string) func(*item.Item) {
		return func(it *item.Item) {
			for range 130_000 / 100 { // two of them are above the limit of the fields
				it.Labels = append(it.Labels, prefix+strings.Repeat(string('a'+rune(len(it.Labels)%26)), 90)+item.ID(len(it.Labels)+1).String())
			}
		}
	}
	ours.create(1, "large", 1, labels("ours"), func(it *item.Item) { it.Updated = at(5) })
	theirs.create(1, "large", 1, labels("theirs"), func(it *item.Item) { it.Updated = at(6) })
	theirs.create(2, "other, changed", 2, func(it *item.Item) { it.Updated = at(7) })
	for _, sides := range [][2]store{{ours, theirs}, {theirs, ours}} {
		r, err := merge.Stores(base.tree, sides[0].tree, sides[1].tree, merge.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Reports) != 1 || r.Reports[0].Kind != merge.KeptApart || !strings.Contains(r.Reports[0].Text, "conflicts/1-") {
			t.Errorf("reports %v", r.Reports)
		}
		beside := ""
		for name, text := range r.Tree {
			if strings.HasPrefix(name, merge.ApartDir+"/1-") {
				beside = text
			}
		}
		if r.Tree[name(1)] != theirs.tree[name(1)] || beside != ours.tree[name(1)] || r.Tree[name(2)] != theirs.tree[name(2)] {
			t.Error("not the two versions, or not the other item")
		}
		if again, err := merge.Stores(sides[1].tree, sides[1].tree, r.Tree, merge.Options{Now: now}); err != nil || len(again.Reports) > 0 {
			t.Errorf("the next merge: %v, %v", again.Reports, err)
		}
	}
	if _, err := driver.Merge(name(1), base.tree[name(1)], ours.tree[name(1)], theirs.tree[name(1)], base.tree["config.yml"]); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("the driver: %v", err)
	}
}
