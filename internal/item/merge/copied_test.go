package merge_test

import (
	"maps"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/references"
)

// followed returns a store after the references of a copied commit were corrected.
func followed(t *testing.T, now store, copied references.Change, originals ...references.Change) store {
	t.Helper()
	changed, reports, err := references.Copied(references.Copy{Change: copied, Originals: originals}, now.tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) != len(reports) {
		t.Errorf("%d files changed, and %d reports: %v", len(changed), len(reports), reports)
	}
	result := now.clone()
	maps.Copy(result.tree, changed)
	return result
}

func change(before, after store) references.Change {
	return references.Change{Before: before.tree, After: after.tree}
}

// Two branches have #2 for different items. A commit of one is copied to the other.
func TestFollowCopied(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "shared", 0)
	a := base.clone()
	a.create(2, "a two", 1)
	original := a.clone()
	original.update(1, 5, item.Patch{Parent: new(item.ID(2)), Description: new("Part of #2.")})
	original.comment(1, 6, "ann", "See #2.")
	b := base.clone()
	b.create(2, "b two", 2)
	copied := b.clone()
	copied.tree[name(1)] = original.tree[name(1)]

	with := copied.clone()
	with.create(3, "a two", 1)
	got := followed(t, with, change(b, copied), change(a, original)).item(1)
	diff(t, "parent, description and comment", []any{item.ID(3), "Part of #3.", "See #3."}, []any{got.Parent, got.Description, got.Comments[0].Body})

	got = followed(t, copied, change(b, copied), change(a, original)).item(1)
	diff(t, "parent and description without the item", []any{item.ID(0), "Part of #2."}, []any{got.Parent, got.Description})

	corrected := with.clone()
	corrected.create(4, "another", 9)
	corrected.update(1, 10, item.Patch{Parent: new(item.ID(4))})
	diff(t, "a parent that somebody set since", item.ID(4), followed(t, corrected, change(b, copied), change(a, original)).item(1).Parent)

	// The branch that it came to had the reference already, and means its own item.
	own := b.clone()
	own.update(1, 4, item.Patch{Parent: new(item.ID(2))})
	diff(t, "a parent of its own", item.ID(2), followed(t, with, change(own, copied), change(a, original)).item(1).Parent)

	// The original only came along with a reference that is older.
	older := a.clone()
	older.update(1, 4, item.Patch{Parent: new(item.ID(2))})
	diff(t, "a parent of another commit", item.ID(2), followed(t, with, change(b, copied), change(older, original)).item(1).Parent)
}

// A commit that is copied to a branch and back means what it meant at first.
func TestCopyOfACopy(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "shared", 0)
	a, b := base.clone(), base.clone()
	a.create(2, "a two", 1)
	b.create(2, "b two", 2)
	needsTwo := func(s store) store {
		s = s.clone()
		s.update(1, 5, item.Patch{DependsOn: &[]item.ID{2}})
		return s
	}
	now := needsTwo(a)
	now.create(3, "b two", 2)
	got := followed(t, now, change(a, needsTwo(a)), change(a, needsTwo(a)), change(b, needsTwo(b)))
	diff(t, "dependencies", []item.ID{2}, got.item(1).DependsOn)
}
