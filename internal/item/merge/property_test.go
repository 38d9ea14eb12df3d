package merge_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
)

// live returns the numbers of the items of a store that are not deleted.
func (s store) live() []item.ID {
	var ids []item.ID
	for path := range s.tree {
		if rest, ok := strings.CutPrefix(path, "items/"); ok {
			id, err := item.ParseID(strings.TrimSuffix(rest, ".md"))
			if err != nil {
				s.t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// work changes a store at random. Times are unique in all stores, and every text that
// is written has the name of the writer and a number of its own.
type work struct {
	*rapid.T
	minute int
	// relations are what was asked for: titles of two items.
	relations map[[2]string]bool
}

func (w *work) pick(s store, what string) item.ID { return rapid.SampledFrom(s.live()).Draw(w.T, what) }

func (w *work) do(s store, who string, deletes bool) {
	w.minute++
	token := fmt.Sprintf("%s%d", who, w.minute)
	kinds := []string{"create", "create", "comment", "describe", "field", "relate"}
	if deletes {
		kinds = append(kinds, "delete")
	}
	kind := rapid.SampledFrom(kinds).Draw(w.T, who)
	if len(s.live()) == 0 {
		kind = "create"
	}
	switch kind {
	case "create":
		id := item.ID(1)
		for path := range s.tree {
			var n item.ID
			if _, err := fmt.Sscanf(path[strings.IndexByte(path, '/')+1:], "%d.md", &n); err == nil {
				id = max(id, n+1)
			}
		}
		s.create(id, token, w.minute)
	case "comment":
		s.comment(w.pick(s, "of"), w.minute, who, token)
	case "describe":
		id := w.pick(s, "of")
		lines := strings.Split(s.item(id).Description, "\n")
		at := rapid.IntRange(0, len(lines)).Draw(w.T, "line")
		lines = slices.Insert(lines, at, token)
		s.update(id, w.minute, item.Patch{Description: new(item.Text(strings.Join(lines, "\n")))})
	case "field":
		id := w.pick(s, "of")
		s.update(id, w.minute, rapid.SampledFrom([]item.Patch{
			{Title: new(token)},
			{Status: new(rapid.SampledFrom([]string{"todo", "review", "done"}).Draw(w.T, "status"))},
			{Priority: new(rapid.SampledFrom(item.Priorities()).Draw(w.T, "priority"))},
			{Assignee: new(who)},
			{Labels: new(append(s.item(id).Labels, token))},
		}).Draw(w.T, "field"))
	case "relate":
		// From the later to the earlier, so that no cycle comes together.
		from, to := w.pick(s, "from"), w.pick(s, "to")
		a, b := s.item(from), s.item(to)
		if a.Created <= b.Created {
			return
		}
		if rapid.Bool().Draw(w.T, "parent") {
			s.update(from, w.minute, item.Patch{Parent: &to})
		} else if !slices.Contains(a.DependsOn, to) {
			s.update(from, w.minute, item.Patch{DependsOn: new(append(a.DependsOn, to))})
			w.relations[[2]string{a.Created, b.Created}] = true
		}
	case "delete":
		s.remove(w.pick(s, "it"), w.minute)
	}
}

// TestLaws merges three clones of a random store, each changed at random.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		deletes := rapid.Bool().Draw(rt, "deletes")
		w := &work{T: rt, relations: map[[2]string]bool{}}
		base := newStore(t)
		for range rapid.IntRange(0, 5).Draw(rt, "before") {
			w.do(base, "base", deletes)
		}
		clones := map[string]store{}
		for _, who := range []string{"a", "b", "c"} {
			clones[who] = base.clone()
			for range rapid.IntRange(0, 5).Draw(rt, who) {
				w.do(clones[who], who, deletes)
			}
		}
		a, b, c := clones["a"], clones["b"], clones["c"]
		join := func(base, ours, theirs store) store {
			m, _ := mergeStores(t, base, ours, theirs, merge.Options{})
			return m
		}
		law := func(name string, want, got store) {
			if d := cmp.Diff(want.tree, got.tree); d != "" {
				rt.Fatalf("not %s (-want +got):\n%s", name, d)
			}
		}
		ab := join(base, a, b)
		law("commutative", ab, join(base, b, a))
		law("idempotent", a, join(base, a, a))
		law("the same when it is merged again", ab, join(base, ab, b))
		law("the same when it is taken over", ab, join(a, a, ab))
		abc := join(base, ab, c)
		if !deletes { // the result for a change can depend on who merged first
			want, got := abc.clone(), join(base, a, join(base, b, c))
			compareShape(rt, want, got)
		}
		for _, s := range clones {
			kept(rt, base, s, abc)
		}
		for pair := range w.relations {
			related(rt, pair, abc, deletes)
		}
	})
}

// byBirth returns the files of a store by the time of their items' creation.
func byBirth(t *rapid.T, s store) map[string]item.Item {
	items := map[string]item.Item{}
	for path := range s.tree {
		if !strings.HasPrefix(path, "items/") && !strings.HasPrefix(path, "trash/") {
			continue
		}
		it, _, err := s.file(path).Item()
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := items[it.Created]; ok {
			t.Fatalf("%s is there twice: %v", it.Created, other)
		}
		items[it.Created] = it
	}
	return items
}

// compareShape compares two stores in all but numbers of items that no side published:
// which of several clones gets which free number depends on the order of merges.
func compareShape(t *rapid.T, want, got store) {
	shape := func(s store) map[string]item.Item {
		all := byBirth(t, s)
		born := map[item.ID]string{}
		for created, it := range all {
			born[it.ID] = created
		}
		shapes := map[string]item.Item{}
		for created, it := range all {
			if it.Parent != 0 {
				it.Labels = append(slices.Clone(it.Labels), "parent "+born[it.Parent])
			}
			for _, id := range it.DependsOn {
				it.Labels = append(it.Labels, "needs "+born[id])
			}
			it.ID, it.Parent, it.DependsOn = 0, 0, nil
			shapes[created] = it
		}
		return shapes
	}
	if d := cmp.Diff(shape(want), shape(got)); d != "" {
		t.Fatalf("not associative (-want +got):\n%s", d)
	}
}

// kept makes sure that all that a clone wrote is in the result.
func kept(t *rapid.T, base, s, merged store) {
	before, all := byBirth(t, base), byBirth(t, merged)
	for created, it := range byBirth(t, s) {
		m, ok := all[created]
		if !ok {
			t.Fatalf("item %s is lost", it.Title)
		}
		for _, c := range it.Comments {
			if !slices.Contains(m.Comments, c) {
				t.Fatalf("comment %v is lost: %v", c, m.Comments)
			}
		}
		for line := range strings.SplitSeq(it.Description, "\n") {
			if line != "" && !slices.Contains(strings.Split(m.Description, "\n"), line) {
				t.Fatalf("line %q is lost: %q", line, m.Description)
			}
		}
		if it.Title != before[created].Title && !strings.Contains(m.Title+fmt.Sprint(m.Comments), it.Title) {
			t.Fatalf("title %q is lost: %+v", it.Title, m)
		}
		for _, label := range it.Labels {
			if !slices.Contains(m.Labels, label) {
				t.Fatalf("label %q is lost: %v", label, m.Labels)
			}
		}
	}
	numbers := map[item.ID]string{}
	for created, it := range all {
		if other, ok := numbers[it.ID]; ok {
			t.Fatalf("#%d is %s and %s", it.ID, created, other)
		}
		numbers[it.ID] = created
	}
}

// related makes sure that a dependency leads to the item that it was made to.
func related(t *rapid.T, pair [2]string, merged store, deletes bool) {
	all := byBirth(t, merged)
	from, to := all[pair[0]], all[pair[1]]
	if !deletes && !slices.Contains(from.DependsOn, to.ID) {
		t.Fatalf("%s does not depend on %s any more: %v", from.Title, to.Title, from.DependsOn)
	}
	for _, id := range from.DependsOn {
		name := name(id)
		if _, ok := merged.tree[name]; !ok && slices.Contains(slices.Collect(maps.Keys(merged.tree)), merge.ItemsDir+"/"+from.ID.String()+".md") {
			t.Fatalf("#%d depends on #%d, which is not there", from.ID, id)
		}
	}
}
