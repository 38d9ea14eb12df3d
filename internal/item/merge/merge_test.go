package merge_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// at returns a time of the tests' day, as files have it.
func at(minute int) string {
	return now.Add(time.Duration(minute) * time.Minute).Format("2006-01-02T15:04:05.000Z07:00")
}

// store is a tree to be changed.
type store struct {
	t    testing.TB
	tree merge.Tree
}

func newStore(t testing.TB) store {
	return store{t, merge.Tree{"config.yml": ticfile.NewConfig}}
}

func (s store) clone() store { return store{s.t, maps.Clone(s.tree)} }

func name(id item.ID) string { return merge.ItemsDir + "/" + id.String() + ".md" }

// create makes an item in the way that copse does.
func (s store) create(id item.ID, title string, minute int, more ...func(*item.Item)) {
	s.t.Helper()
	it := item.Item{Summary: item.Summary{
		ID: id, Title: title, Type: "task", Status: "backlog", Iteration: "default", Priority: "medium",
		Created: at(minute), Updated: at(minute),
	}}
	for _, f := range more {
		f(&it)
	}
	file, err := ticfile.New(it)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(name(id), file)
	config, err := ticfile.ParseConfig(s.tree["config.yml"])
	if err != nil {
		s.t.Fatal(err)
	}
	if err := config.SetNextID(id + 1); err != nil {
		s.t.Fatal(err)
	}
	s.tree["config.yml"] = config.Text()
}

func parent(id item.ID) func(*item.Item) { return func(it *item.Item) { it.Parent = id } }

func needs(ids ...item.ID) func(*item.Item) {
	return func(it *item.Item) { it.DependsOn = ids }
}

func (s store) write(name string, file *ticfile.File) {
	s.t.Helper()
	text, err := file.Text()
	if err != nil {
		s.t.Fatal(err)
	}
	s.tree[name] = text
}

func (s store) file(name string) *ticfile.File {
	s.t.Helper()
	file, err := ticfile.Parse(s.tree[name])
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, s.tree[name])
	}
	return file
}

func (s store) item(id item.ID) item.Item {
	s.t.Helper()
	it, problems, err := s.file(name(id)).Item()
	if err != nil || len(problems) > 0 {
		s.t.Fatalf("%s: %v %v", name(id), problems, err)
	}
	return it
}

func (s store) update(id item.ID, minute int, p item.Patch) {
	s.t.Helper()
	file := s.file(name(id))
	if err := file.Update(id, p, at(minute)); err != nil {
		s.t.Fatal(err)
	}
	s.write(name(id), file)
}

func (s store) comment(id item.ID, minute int, author, body string) {
	s.t.Helper()
	file := s.file(name(id))
	if err := file.AddComment(id, item.Comment{Author: author, Date: at(minute), Body: body}); err != nil {
		s.t.Fatal(err)
	}
	s.write(name(id), file)
}

// remove deletes an item in the way that copse does.
func (s store) remove(id item.ID, minute int) {
	s.t.Helper()
	var lost ticfile.Lost
	for path := range s.tree {
		if !strings.HasPrefix(path, "items/") || path == name(id) {
			continue
		}
		file := s.file(path)
		it, _, err := file.Item()
		if err != nil {
			s.t.Fatal(err)
		}
		if it.Parent == id {
			lost.Children = append(lost.Children, it.ID)
		}
		if slices.Contains(it.DependsOn, id) {
			lost.Dependents = append(lost.Dependents, it.ID)
		}
		if err := file.Forget(id); err != nil {
			s.t.Fatal(err)
		}
		s.write(path, file)
	}
	file := s.file(name(id))
	if err := file.Delete(at(minute), lost); err != nil {
		s.t.Fatal(err)
	}
	s.write(merge.TrashDir+"/"+id.String()+".md", file)
	delete(s.tree, name(id))
}

func mergeStores(t testing.TB, base, ours, theirs store, o merge.Options) (store, merge.Result) {
	t.Helper()
	o.Now = now
	r, err := merge.Stores(base.tree, ours.tree, theirs.tree, o)
	if err != nil {
		t.Fatal(err)
	}
	return store{t, r.Tree}, r
}

// merged merges, and checks that the result is the same with both sides exchanged, and that another
// merge changes nothing.
func merged(t testing.TB, base, ours, theirs store, o merge.Options) (store, merge.Result) {
	t.Helper()
	m, r := mergeStores(t, base, ours, theirs, o)
	other, _ := mergeStores(t, base, theirs, ours, o)
	diff(t, "merged by the other side", m.tree, other.tree)
	for _, side := range []store{ours, theirs} {
		again, _ := mergeStores(t, side, side, m, o)
		diff(t, "the result merged into a side", m.tree, again.tree)
		again, _ = mergeStores(t, base, m, side, o)
		diff(t, "a side merged again", m.tree, again.tree)
	}
	return m, r
}

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// outline returns what a store has: number, title, status and relations of each item.
func (s store) outline() string {
	s.t.Helper()
	var lines []string
	for path := range s.tree {
		if !strings.HasPrefix(path, "items/") && !strings.HasPrefix(path, "trash/") {
			continue
		}
		it, _, err := s.file(path).Item()
		if err != nil {
			s.t.Fatal(err)
		}
		line := fmt.Sprintf("%s %s %s", path, it.Title, it.Status)
		if it.Parent != 0 {
			line += fmt.Sprintf(" parent %d", it.Parent)
		}
		if len(it.DependsOn) > 0 {
			line += fmt.Sprintf(" needs %v", it.DependsOn)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Relations stay with the items that they were made between.
func TestRelationsFollowTheirItems(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "first", 0)
	a, b := base.clone(), base.clone()
	a.create(2, "A epic", 10)
	a.create(3, "A child", 11, parent(2))
	a.create(4, "A only", 12, parent(2), needs(3))
	b.create(2, "B epic", 20)
	b.create(3, "B child", 21, parent(2))
	b.comment(1, 22, "bob", "See #2, (#3); not PR #2, copse#2 or `#2`.\n\n```\n#2\n```")
	a.comment(1, 9, "ann", "#2 is to come")
	m, r := merged(t, base, a, b, merge.Options{})
	diff(t, "items", strings.Join([]string{
		"items/1.md first backlog", "items/2.md A epic backlog", "items/3.md A child backlog parent 2",
		"items/4.md A only backlog parent 2 needs [3]", "items/5.md B epic backlog", "items/6.md B child backlog parent 5",
	}, "\n"), m.outline())
	diff(t, "comments", []item.Comment{
		{Author: "ann", Date: at(9), Body: "#2 is to come"},
		{Author: "bob", Date: at(22), Body: "See #5, (#6); not PR #2, copse#2 or `#2`.\n\n```\n#2\n```"},
	}, m.item(1).Comments)
	diff(t, "renumbered", []merge.Renumbering{
		{Record: renumbered.Record{From: 2, To: 5, Created: at(20), On: "2026-11-21"}, Title: "B epic"},
		{Record: renumbered.Record{From: 3, To: 6, Created: at(21), On: "2026-11-21"}, Title: "B child"},
	}, r.Renumbered)
	diff(t, "records", "from\tto\tcreated\ton\n2\t5\t"+at(20)+"\t2026-11-21\n3\t6\t"+at(21)+"\t2026-11-21\n", m.tree[renumbered.Name])
}

// What is published keeps its number, also if it is the younger.
func TestPublishedKeepsItsNumber(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, b := base.clone(), base.clone()
	a.create(1, "draft", 1)
	b.create(1, "published", 2)
	m, _ := merged(t, base, a, b, merge.Options{Rank: func(birth merge.Birth) int {
		if birth.Created == at(2) {
			return 0
		}
		return 1
	}})
	diff(t, "items", "items/1.md published backlog\nitems/2.md draft backlog", m.outline())
}

// An item that needs a number when the largest is in use gets the smallest free one, which every
// reader accepts.
func TestLargestNumberInUse(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "one", 0)
	ours, theirs := base.clone(), base.clone()
	ours.create(2, "ours", 2)
	theirs.create(2, "theirs", 1)
	theirs.create(item.MaxID, "last", 3)
	m, _ := merged(t, base, ours, theirs, merge.Options{})
	diff(t, "items", "items/1.md one backlog\nitems/2.md theirs backlog\nitems/3.md ours backlog\nitems/9007199254740991.md last backlog", m.outline())
	if _, err := ticfile.ParseConfig(m.tree["config.yml"]); err != nil {
		t.Error(err)
	}
}

// A new relation to an item that the other side deleted keeps nothing, since the result has no such
// relation, and a second merge would delete the item.
func TestNewRelationToDeleted(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "one", 0)
	base.create(2, "two", 1)
	a, b := base.clone(), base.clone()
	a.update(2, 2, item.Patch{DependsOn: &[]item.ID{1}})
	b.remove(1, 3)
	b.remove(2, 4)
	once, _ := merged(t, base, a, b, merge.Options{})
	diff(t, "items", "trash/1.md one backlog\ntrash/2.md two backlog needs [1]", once.outline())
	twice, _ := merged(t, base, once, b, merge.Options{})
	diff(t, "items of a second merge", once.outline(), twice.outline())
}

// Each stop of a rebase brings one commit to items that were renumbered before.
func TestRebaseOfSeveralCommits(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, one := base.clone(), base.clone()
	a.create(10, "A ten", 1)
	one.create(10, "B ten", 2)
	two := one.clone()
	two.update(10, 3, item.Patch{Status: new("in-progress")})
	two.create(11, "B child", 4, parent(10))
	three := two.clone()
	three.remove(10, 5)
	stop, _ := mergeStores(t, base, a, one, merge.Options{})
	diff(t, "first stop", "items/10.md A ten backlog\nitems/11.md B ten backlog", stop.outline())
	stop, _ = mergeStores(t, one, stop, two, merge.Options{})
	diff(t, "second stop", "items/10.md A ten backlog\nitems/11.md B ten in-progress\nitems/12.md B child backlog parent 11", stop.outline())
	stop, _ = mergeStores(t, two, stop, three, merge.Options{})
	diff(t, "third stop", "items/10.md A ten backlog\nitems/12.md B child backlog\ntrash/11.md B ten in-progress", stop.outline())
	diff(t, "noted", ticfile.Lost{Children: []item.ID{12}}, stop.file("trash/11.md").Lost())
}

// Both sides merged already, each in its way.
func TestBothSidesMerged(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, b := base.clone(), base.clone()
	a.create(1, "a1", 1)
	a.create(2, "a2", 2, parent(1))
	b.create(1, "b1", 3)
	b.create(2, "b2", 4, parent(1))
	rank := func(first string) merge.Options {
		return merge.Options{Rank: func(birth merge.Birth) int {
			if strings.Contains(first, birth.Created) {
				return 0
			}
			return 1
		}}
	}
	byA, _ := mergeStores(t, base, a, b, rank(at(1)+at(2)))
	byB, _ := mergeStores(t, base, b, a, rank(at(3)+at(4)))
	m, _ := merged(t, base, byA, byB, merge.Options{})
	diff(t, "items", "items/1.md a1 backlog\nitems/2.md a2 backlog parent 1\nitems/3.md b1 backlog\nitems/4.md b2 backlog parent 3", m.outline())
}

// A deleted item and another of its number, which git merges silently.
func TestTrashAndItemShareANumber(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, b := base.clone(), base.clone()
	a.create(4, "deleted", 1)
	a.remove(4, 2)
	b.create(4, "live", 3)
	m, _ := merged(t, base, a, b, merge.Options{})
	diff(t, "items", "items/5.md live backlog\ntrash/4.md deleted backlog", m.outline())
}

// An item that one side deleted and the other changed stays, with its relations.
func TestDeletedAndChanged(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "parent", 0)
	base.create(2, "child", 1, parent(1))
	base.create(3, "next", 2, needs(1))
	base.create(4, "unused", 3)
	a, b := base.clone(), base.clone()
	a.remove(1, 10)
	a.remove(4, 11)
	b.comment(1, 12, "bob", "still needed")
	m, r := merged(t, base, a, b, merge.Options{})
	diff(t, "items", "items/1.md parent backlog\nitems/2.md child backlog parent 1\nitems/3.md next backlog needs [1]\ntrash/4.md unused backlog", m.outline())
	diff(t, "reports", []merge.Report{{Kind: merge.KeptChanged, File: "items/1.md", Text: "was deleted on one side and changed on the other; copse keeps it"}}, r.Reports)

	b = base.clone()
	b.create(5, "new child", 20, parent(1))
	m, _ = merged(t, base, a, b, merge.Options{})
	diff(t, "items", "items/2.md child backlog\nitems/3.md next backlog\nitems/5.md new child backlog\ntrash/1.md parent backlog\ntrash/4.md unused backlog", m.outline())
	diff(t, "noted", ticfile.Lost{Children: []item.ID{2, 5}, Dependents: []item.ID{3}}, m.file("trash/1.md").Lost())
}

// All fields merge with each other, and with themselves.
func TestAllPairsOfFields(t *testing.T) {
	t.Parallel()
	fields := []struct {
		name   string
		change func(s store, minute int)
		kept   func(it item.Item, minute int) bool
	}{
		{"title", func(s store, n int) { s.update(1, n, item.Patch{Title: new(fmt.Sprint("title ", n))}) },
			func(it item.Item, n int) bool {
				return strings.Contains(it.Title+fmt.Sprint(it.Comments), fmt.Sprint("title ", n))
			}},
		{"type", func(s store, n int) { s.update(1, n, item.Patch{Type: new("epic")}) }, func(it item.Item, _ int) bool { return it.Type == "epic" }},
		{"status", func(s store, n int) { s.update(1, n, item.Patch{Status: new("review")}) }, func(it item.Item, _ int) bool { return it.Status == "review" }},
		{"iteration", func(s store, n int) { s.update(1, n, item.Patch{Iteration: new("next")}) }, func(it item.Item, _ int) bool { return it.Iteration == "next" }},
		{"priority", func(s store, n int) { s.update(1, n, item.Patch{Priority: new("high")}) }, func(it item.Item, _ int) bool { return it.Priority == "high" }},
		{"assignee", func(s store, n int) { s.update(1, n, item.Patch{Assignee: new("ann")}) }, func(it item.Item, _ int) bool { return it.Assignee == "ann" }},
		{"labels", func(s store, n int) { s.update(1, n, item.Patch{Labels: &[]string{"old", fmt.Sprint("l", n)}}) },
			func(it item.Item, n int) bool {
				return slices.Contains(it.Labels, "old") && slices.Contains(it.Labels, fmt.Sprint("l", n))
			}},
		{"parent", func(s store, n int) { s.update(1, n, item.Patch{Parent: new(item.ID(2))}) }, func(it item.Item, _ int) bool { return it.Parent == 2 }},
		{"depends_on", func(s store, n int) { s.update(1, n, item.Patch{DependsOn: &[]item.ID{3, item.ID(3 + n)}}) },
			func(it item.Item, n int) bool {
				return slices.Contains(it.DependsOn, 3) && slices.Contains(it.DependsOn, item.ID(3+n))
			}},
		{"description", func(s store, n int) { s.update(1, n, item.Patch{Description: new(fmt.Sprint("line ", n))}) },
			func(it item.Item, n int) bool { return strings.Contains(it.Description, fmt.Sprint("line ", n)) }},
		{"comments", func(s store, n int) { s.comment(1, n, "ann", fmt.Sprint("said ", n)) },
			func(it item.Item, n int) bool {
				return strings.Contains(fmt.Sprint(it.Comments), fmt.Sprint("said ", n))
			}},
	}
	pairs := 0
	for i, one := range fields {
		for _, other := range fields[i:] {
			if one.name != other.name {
				pairs++
			}
			t.Run(one.name+" and "+other.name, func(t *testing.T) {
				t.Parallel()
				base := newStore(t)
				base.create(1, "it", 0, func(it *item.Item) { it.Labels = []string{"old"} })
				for id := range item.ID(4) {
					base.create(id+2, "other", int(id)+1)
				}
				a, b := base.clone(), base.clone()
				one.change(a, 1)
				other.change(b, 2)
				m, _ := merged(t, base, a, b, merge.Options{})
				it := m.item(1)
				if !one.kept(it, 1) || !other.kept(it, 2) {
					t.Errorf("lost: %+v\n%s", it, m.tree["items/1.md"])
				}
				diff(t, "updated", at(2), it.Updated)
			})
		}
	}
	diff(t, "pairs", 55, pairs)
}

// Keys that nobody knows, line ends and comments stay.
func TestUnknownKeysStay(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "it", 0)
	base.tree["items/1.md"] = strings.Replace(base.tree["items/1.md"], "type: task\n", "type: task # as it was\nsprint: {points: 3}\n", 1)
	a, b := base.clone(), base.clone()
	a.tree["items/1.md"] = strings.Replace(a.tree["items/1.md"], "sprint: {points: 3}", "sprint: {points: 5}\nours: [x]", 1)
	b.tree["items/1.md"] = strings.Replace(b.tree["items/1.md"], "sprint: {points: 3}", "sprint: {points: 3}\ntheirs: y", 1)
	b.update(1, 5, item.Patch{Status: new("done")})
	m, _ := merged(t, base, a, b, merge.Options{})
	for _, line := range []string{"type: task # as it was\n", "sprint: {points: 5}\n", "ours: [x]\n", "theirs: y\n", "status: done\n"} {
		if !strings.Contains(m.tree["items/1.md"], line) {
			t.Errorf("%q is not in\n%s", line, m.tree["items/1.md"])
		}
	}
}

// A file that is not an item on one side loses neither text.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "it", 0)
	a, b := base.clone(), base.clone()
	a.tree["items/1.md"] = "broken by hand"
	b.comment(1, 2, "bob", "said")
	m, _ := mergeStores(t, base, a, b, merge.Options{})
	all := fmt.Sprint(m.tree)
	for _, text := range []string{"broken by hand", "said"} {
		if !strings.Contains(all, text) {
			t.Errorf("%q is lost: %s", text, all)
		}
	}
	a.tree["config.yml"] = "types: 3\n"
	if _, err := merge.Stores(base.tree, a.tree, b.tree, merge.Options{}); err == nil || !strings.Contains(err.Error(), "config.yml of our side") {
		t.Errorf("configuration: %v", err)
	}
}

// Relations that are fine on each side and a cycle together lose one.
func TestCycles(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "one", 0)
	base.create(2, "two", 1)
	a, b := base.clone(), base.clone()
	a.update(1, 5, item.Patch{Parent: new(item.ID(2)), DependsOn: &[]item.ID{2}})
	b.update(2, 6, item.Patch{Parent: new(item.ID(1)), DependsOn: &[]item.ID{1}})
	m, r := merged(t, base, a, b, merge.Options{})
	diff(t, "items", "items/1.md one backlog parent 2 needs [2]\nitems/2.md two backlog", m.outline())
	diff(t, "reports", 2, len(r.Reports))
}

// Two agents made an item at the same moment.
func TestBornAtTheSameMoment(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	a, b := base.clone(), base.clone()
	a.create(1, "a", 1)
	b.create(1, "b", 1)
	m, _ := mergeStores(t, base, a, b, merge.Options{})
	diff(t, "items", "items/1.md a backlog\nitems/2.md b backlog", m.outline())
	b.update(1, 2, item.Patch{Status: new("done")})
	m, _ = mergeStores(t, base, a, b, merge.Options{BornApart: true})
	diff(t, "items", "items/1.md a backlog\nitems/2.md b done", m.outline())

	// What happened to one of them meanwhile, under the number that both had.
	now := b.clone()
	now.comment(1, 3, "bob", "about b")
	now.create(2, "child of b", 4, parent(1))
	m, _ = mergeStores(t, b, m, now, merge.Options{BornApart: true})
	diff(t, "items", "items/1.md a backlog\nitems/2.md b done\nitems/3.md child of b backlog parent 2", m.outline())
	diff(t, "comments of b", 1, len(m.item(2).Comments))
}
