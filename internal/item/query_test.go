package item_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
)

func snapshot(items ...item.Item) *item.Snapshot {
	entries := make(map[item.ID]*item.Entry, len(items))
	for i := range items {
		entries[items[i].ID] = item.NewEntry(&items[i])
	}
	return new(item.Snapshot).With(entries, nil)
}

// one makes an item in the current iteration, changed by the functions.
func one(id item.ID, changes ...func(*item.Item)) item.Item {
	it := item.Item{Summary: item.Summary{ID: id, Title: fmt.Sprintf("Item %d", id), Type: "task", Status: "todo", Iteration: "default", Priority: "low"}}
	for _, change := range changes {
		change(&it)
	}
	return it
}

func below(parent item.ID) func(*item.Item) { return func(it *item.Item) { it.Parent = parent } }

func needs(ids ...item.ID) func(*item.Item) { return func(it *item.Item) { it.DependsOn = ids } }

func status(s string) func(*item.Item) { return func(it *item.Item) { it.Status = s } }

func ids(list []*item.Summary) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%d ", s.ID)
	}
	return strings.TrimSpace(b.String())
}

func TestList(t *testing.T) {
	t.Parallel()
	s := snapshot(
		one(1, func(it *item.Item) { it.Type = "epic" }),
		one(2, status("done")),
		one(3, needs(2, 99)),
		one(4, needs(2, 3)),
		one(9, func(it *item.Item) { it.Iteration = "next" }),
		one(10, func(it *item.Item) { it.Priority, it.Assignee, it.Labels = "high", "bob", []string{"ui", "a b"} }),
	)
	tests := map[string]struct {
		filter item.Filter
		want   string
	}{
		"current":            {item.Filter{}, "1 2 3 4 10"},
		"all":                {item.Filter{All: true}, "1 2 3 4 9 10"},
		"all over iteration": {item.Filter{All: true, Iteration: "next"}, "1 2 3 4 9 10"},
		"iteration":          {item.Filter{Iteration: "next"}, "9"},
		"unknown iteration":  {item.Filter{Iteration: "x"}, ""},
		"type":               {item.Filter{Type: "epic"}, "1"},
		"case counts":        {item.Filter{Type: "Epic"}, ""},
		"status":             {item.Filter{Status: "done"}, "2"},
		"priority":           {item.Filter{Priority: "high"}, "10"},
		"assignee":           {item.Filter{Assignee: "bob"}, "10"},
		"label":              {item.Filter{Label: "a b"}, "10"},
		"ready":              {item.Filter{Ready: true}, "1 3"}, // 10 is in progress, and bob's
		"together":           {item.Filter{Ready: true, Type: "task", Priority: "low"}, "3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diff(t, "ids", test.want, ids(s.List(config, test.filter)))
		})
	}
	everywhere := config
	everywhere.CurrentIteration = ""
	diff(t, "without a current iteration", "1 2 3 4 9 10", ids(s.List(everywhere, item.Filter{})))
}

func TestRelatives(t *testing.T) {
	t.Parallel()
	s := snapshot(one(1), one(2, below(1), needs(1)), one(3, below(1)), one(4, needs(1, 2)))
	diff(t, "children", "2 3", ids(s.Children(1)))
	diff(t, "no children", "", ids(s.Children(2)))
	diff(t, "dependents", "2 4", ids(s.Dependents(1)))
	diff(t, "no dependents", "", ids(s.Dependents(99)))
	if it, err := s.Find(3); err != nil || it.ID != 3 {
		t.Errorf("found %v, %v", it, err)
	}
	if _, err := s.Find(99); !item.IsNotFound(err) {
		t.Errorf("found 99: %v", err)
	}
}

func titled(title, description string) func(*item.Item) {
	return func(it *item.Item) { it.Title, it.Description = title, description }
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := snapshot(
		one(1, titled("Login fails", "")),
		one(2, titled("Other", "The LOGIN page")),
		one(3, titled("Ärger", "ÉCOLE login")),
		one(4, titled("login", "login"), status("done")),
		one(5, titled("end of log", "in the middle")),
	)
	tests := map[string]struct {
		query  string
		filter item.Filter
		want   string // with * where the description has it
	}{
		"title or text":        {"login", item.Filter{}, "1 2* 3* 4*"},
		"case of the query":    {"LoGiN", item.Filter{Status: "todo"}, "1 2* 3*"},
		"beyond ASCII":         {"éCOLE", item.Filter{}, "3*"},
		"beyond ASCII, title":  {"äRGER", item.Filter{}, "3"},
		"nothing":              {"xyzzy", item.Filter{}, ""},
		"empty":                {"", item.Filter{Status: "done"}, "4"},
		"whole":                {"the login page", item.Filter{}, "2*"},
		"not across the parts": {"login\x00", item.Filter{}, ""},
		"not across, either":   {"login fails\n", item.Filter{}, ""},
		"not over the border":  {"login", item.Filter{Status: "none"}, ""},
		"end":                  {"middle", item.Filter{}, "5*"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, hit := range s.Search(config, test.query, test.filter) {
				mark := ""
				if hit.InDescription {
					mark = "*"
				}
				got = append(got, hit.ID.String()+mark)
			}
			diff(t, "hits", test.want, strings.Join(got, " "))
		})
	}
}

// A search finds what strings.Contains does, whichever way it goes about it.
func TestSearchAsContains(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOf(rapid.SampledFrom([]rune("aab EÉé\n")))
	rapid.Check(t, func(t *rapid.T) {
		text, query := letters.Draw(t, "text"), letters.Draw(t, "query")
		hits := snapshot(one(1, titled("", text))).Search(config, query, item.Filter{})
		if want := strings.Contains(strings.ToLower(text), strings.ToLower(query)); want != (len(hits) == 1) {
			t.Fatalf("%q in %q: found %v", query, text, hits)
		}
	})
}

func TestSearchInMany(t *testing.T) {
	t.Parallel()
	var items []item.Item
	var want []string
	for id := item.ID(1); id <= 3000; id++ {
		items = append(items, one(id, titled("x", strings.Repeat("ab", int(id%3)))))
		if id%3 == 2 {
			want = append(want, id.String())
		}
	}
	var got []string
	for _, hit := range snapshot(items...).Search(config, "BA", item.Filter{}) {
		got = append(got, hit.ID.String())
	}
	diff(t, "hits", want, got)
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é ", 100)
	tests := map[string]struct{ description, query, want string }{
		"short":    {"The Login page", "login", "The Login page"},
		"lines":    {"# A\n\n  b \t login\x1b[31m\n", "LOGIN", "# A b login"},
		"none":     {"abc", "x", ""},
		"far":      {long + "İstanbul login" + long, "login", "…" + strings.Repeat("é ", 15) + "İstanbul login" + strings.Repeat("é ", 57) + "é…"},
		"no break": {strings.Repeat("x", 1000) + "y", "y", "…" + strings.Repeat("x", 40) + "y"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diff(t, "snippet", test.want, item.Snippet(nil, test.description, test.query))
		})
	}
}

func TestSnippetShowsTheQuery(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		runes := []rune(text)
		if len(runes) == 0 {
			return
		}
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		item.Snippet(nil, text, string(runes[from:min(from+5, len(runes))])) // must not panic
	})
}

// show writes a tree as 1(2 3(4)+5), where +5 are omitted.
func show(tree item.Tree) string {
	text := showNodes(tree.Roots)
	if tree.Omitted > 0 {
		text += fmt.Sprintf("+%d", tree.Omitted)
	}
	return text
}

func showNodes(nodes []*item.Node) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = n.ID.String()
		if len(n.Children) > 0 {
			parts[i] += "(" + showNodes(n.Children) + ")"
		}
		if n.Omitted > 0 {
			parts[i] += fmt.Sprintf("+%d", n.Omitted)
		}
	}
	return strings.Join(parts, " ")
}

// A tree ends where its reader has no more room, breadth first.
func TestTreeRoom(t *testing.T) {
	t.Parallel()
	var asked []string
	room := func(it *item.Summary, depth int) bool {
		asked = append(asked, fmt.Sprintf("%d@%d", it.ID, depth))
		return len(asked) < 4
	}
	s := snapshot(
		item.Item{Summary: item.Summary{ID: 1}}, item.Item{Summary: item.Summary{ID: 2}},
		item.Item{Summary: item.Summary{ID: 3, Parent: 1}}, item.Item{Summary: item.Summary{ID: 4, Parent: 1}},
		item.Item{Summary: item.Summary{ID: 5, Parent: 4}}, item.Item{Summary: item.Summary{ID: 6, Parent: 2}},
	)
	tree, err := s.Tree(config, item.Filter{All: true}, 0, 0, room)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1@0", "2@0", "3@1", "4@1"}, asked); diff != "" {
		t.Error(diff)
	}
	if len(tree.Roots) != 2 || tree.Omitted != 0 || tree.Roots[0].Omitted != 2 || len(tree.Roots[0].Children) != 1 || tree.Roots[1].Omitted != 1 {
		t.Errorf("got %+v", tree)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	plain := snapshot(one(1), one(2, below(1)), one(3, below(2), status("done")), one(4, below(3)), one(5, below(99)), one(6, below(1)))
	cycles := snapshot(one(1, below(1)), one(2, below(4)), one(3, below(2)), one(4, below(3)), one(5, below(4)), one(6, below(7)), one(7))
	tests := map[string]struct {
		s      *item.Snapshot
		filter item.Filter
		root   item.ID
		want   string
	}{
		"nested":            {plain, item.Filter{}, 0, "1(2(3(4)) 6) 5"},
		"parent not there":  {plain, item.Filter{Status: "todo"}, 0, "1(2 6) 4 5"},
		"below one":         {plain, item.Filter{}, 2, "2(3(4))"},
		"below, parent out": {plain, item.Filter{Status: "todo"}, 2, "2 4"},
		"root filtered out": {plain, item.Filter{Status: "todo"}, 3, "3(4)"},
		"root is a leaf":    {plain, item.Filter{}, 5, "5"},
		"cycles":            {cycles, item.Filter{}, 0, "1 2(3(4(5))) 7(6)"},
		"below a cycle":     {cycles, item.Filter{}, 4, "4(2(3) 5)"},
		"in a cycle alone":  {cycles, item.Filter{}, 1, "1"},
		"nothing":           {plain, item.Filter{Status: "x"}, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := test.s.Tree(config, test.filter, test.root, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "tree", test.want, show(tree))
		})
	}
	if _, err := plain.Tree(config, item.Filter{}, 98, 0, nil); !item.IsNotFound(err) {
		t.Errorf("a root that does not exist: %v", err)
	}
}

func TestTreeIsCutBreadthFirst(t *testing.T) {
	t.Parallel()
	var items []item.Item
	for id := item.ID(1); id <= 150; id++ {
		items = append(items, one(id))
	}
	for id := item.ID(151); id <= 250; id++ {
		items = append(items, one(id, below(1)))
	}
	items = append(items, one(251, below(151)), one(252, below(251)), one(253, below(250)))
	tree, err := snapshot(items...).Tree(config, item.Filter{}, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	top := tree.Roots[0]
	if len(tree.Roots) != 150 || len(top.Children) != 50 {
		t.Fatalf("%d roots, %d children", len(tree.Roots), len(top.Children))
	}
	diff(t, "omitted below 1", 51, top.Omitted) // 201 to 250, and 253
	diff(t, "omitted below 151", 2, top.Children[0].Omitted)

	for id := item.ID(254); id <= 400; id++ {
		items = append(items, one(id))
	}
	tree, err = snapshot(items...).Tree(config, item.Filter{}, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "roots", item.MaxTreeNodes, len(tree.Roots))
	diff(t, "roots left out", 97, tree.Omitted)
	diff(t, "all children left out", 103, tree.Roots[0].Omitted)
}

// Each selected item is in the tree once or is counted, whatever the parents.
func TestTreeLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "items")
		var items []item.Item
		for id := range n {
			items = append(items, one(item.ID(id+1), below(item.ID(rapid.IntRange(0, n+1).Draw(t, "parent")))))
		}
		tree, err := snapshot(items...).Tree(config, item.Filter{}, 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen, omitted := map[item.ID]bool{}, tree.Omitted
		var visit func([]*item.Node)
		visit = func(nodes []*item.Node) {
			for _, node := range nodes {
				if seen[node.ID] {
					t.Fatalf("%d is there twice", node.ID)
				}
				seen[node.ID] = true
				omitted += node.Omitted
				visit(node.Children)
			}
		}
		visit(tree.Roots)
		if len(seen) != min(n, item.MaxTreeNodes) || len(seen)+omitted != n {
			t.Fatalf("%d shown and %d omitted of %d", len(seen), omitted, n)
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	base := func() []item.Item {
		return []item.Item{one(1), one(2, below(1)), one(3, needs(1)), one(4)}
	}
	preview := func(items []item.Item) item.Preview {
		p, err := snapshot(items...).Preview(items[0])
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := preview(base())
	diff(t, "children", "2", ids(want.Children))
	diff(t, "dependents", "3", ids(want.Dependents))
	for name, test := range map[string]struct {
		change func([]item.Item)
		same   bool
	}{
		"nothing":             {func([]item.Item) {}, true},
		"somebody else":       {func(items []item.Item) { items[3].Title = "x" }, true},
		"title":               {func(items []item.Item) { items[0].Title = "x" }, false},
		"description":         {func(items []item.Item) { items[0].Description = "x" }, false},
		"comment":             {func(items []item.Item) { items[0].Comments = []item.Comment{{Body: "x"}} }, false},
		"title of a child":    {func(items []item.Item) { items[1].Title = "x" }, false},
		"another child":       {func(items []item.Item) { items[3].Parent = 1 }, false},
		"one child less":      {func(items []item.Item) { items[1].Parent = 0 }, false},
		"another dependent":   {func(items []item.Item) { items[3].DependsOn = []item.ID{1} }, false},
		"child and dependent": {func(items []item.Item) { items[1].DependsOn = []item.ID{1} }, false},
	} {
		items := base()
		test.change(items)
		if got := preview(items); (got.Fingerprint == want.Fingerprint) != test.same {
			t.Errorf("%s: the fingerprint is the same: %v", name, !test.same)
		}
	}
}

// many makes items of about 1 KB, a tenth of them below others.
func many(n int) []item.Item {
	words := strings.Fields("the login session token crash when a user opens the page and server returns an error because of missing header in " +
		"request with proxy config enabled on staging environment after deployment Expected Actual steps")
	random := rand.New(rand.NewPCG(1, 2))
	items := make([]item.Item, n)
	for i := range items {
		var b strings.Builder
		for b.Len() < 1000 {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		items[i] = one(item.ID(i+1), titled("Title of "+words[random.IntN(len(words))], b.String()), needs(item.ID(random.IntN(n)+1)))
		if i%10 != 0 {
			items[i].Parent = item.ID(random.IntN(i) + 1)
		}
	}
	return items
}

func BenchmarkQueries(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s := snapshot(many(n)...)
		for name, query := range map[string]func(){
			"list":         func() { s.List(config, item.Filter{Status: "todo"}) },
			"ready":        func() { s.List(config, item.Filter{Ready: true}) },
			"search/found": func() { s.Search(config, "session token", item.Filter{}) },
			"search/none":  func() { s.Search(config, "tohen ser", item.Filter{}) },
			"tree":         func() { _, _ = s.Tree(config, item.Filter{}, 0, 0, nil) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					query()
				}
			})
		}
	}
}
