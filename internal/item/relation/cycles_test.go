package relation_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/relation"
)

// All cycles at once are those that each item has on its own.
func TestFindCycles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "items")
		id := rapid.Custom(func(t *rapid.T) item.ID { return item.ID(rapid.IntRange(1, n).Draw(t, "id")) })
		items := make([]*item.Summary, n)
		for i := range items {
			items[i] = &item.Summary{ID: item.ID(i + 1), DependsOn: rapid.SliceOfN(id, 0, 3).Draw(t, "depends on")}
			if rapid.Bool().Draw(t, "has a parent") {
				items[i].Parent = id.Draw(t, "parent")
			}
		}
		find := func(id item.ID) (*item.Summary, error) { return items[id-1], nil }
		cycles := relation.FindCycles(items)
		for _, it := range items {
			want := relation.Check(find, it.ID, &it.Parent, &it.DependsOn)
			got := cycles.Problem(it)
			if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
				t.Fatalf("#%d: got %v, want %v", it.ID, got, want)
			}
		}
	})
}

// A long chain, which strangers can write, costs a look at each relation.
func TestLongChain(t *testing.T) {
	t.Parallel()
	const most = 200_000
	items := make([]*item.Summary, most)
	for i := range items {
		items[i] = &item.Summary{ID: item.ID(i + 1), Parent: item.ID(i), DependsOn: []item.ID{item.ID(i + 2), item.ID(i + 3)}}
	}
	for _, last := range []item.ID{0, most} {
		items[0].Parent = last
		cycles, inCycle := relation.FindCycles(items), 0
		for _, it := range items {
			if cycles.Problem(it) != nil {
				inCycle++
			}
		}
		if want := int(last); inCycle != want {
			t.Errorf("%d items are in a cycle, want %d", inCycle, want)
		}
	}
}

// A list can name the same dependency many times.
func TestLooksUpOnce(t *testing.T) {
	t.Parallel()
	lookups := 0
	find := func(id item.ID) (*item.Summary, error) { lookups++; return &item.Summary{ID: id}, nil }
	same := make([]item.ID, 1000)
	for i := range same {
		same[i] = 7
	}
	if err := relation.CheckNew(find, 0, same); err != nil || lookups != 1 {
		t.Errorf("%d lookups: %v", lookups, err)
	}
}
