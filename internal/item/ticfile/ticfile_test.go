package ticfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// sample reads a file of testdata/items. They are written as tic writes them.
func sample(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "items", name))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n") // should git have changed it
}

func parse(t *testing.T, text string) *ticfile.File {
	t.Helper()
	f, err := ticfile.Parse(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return f
}

func read(t *testing.T, f *ticfile.File) item.Item {
	t.Helper()
	it, problems, err := f.Item()
	if err != nil || len(problems) > 0 {
		t.Fatalf("item: %v, problems %q", err, problems)
	}
	return it
}

func text(t *testing.T, f *ticfile.File) string {
	t.Helper()
	s, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

var full = item.Item{
	Summary: item.Summary{
		ID: 3, Title: `bug: the list loses "quoted" titles (#7)`, Type: "issue", Status: "in-progress", Iteration: "sprint-1",
		Priority: "high", Assignee: "@carol", Labels: []string{"list", "true", "needs: review"},
		Created: "2026-03-02T08:00:02.000Z", Updated: "2026-03-04T10:20:30.405Z", Parent: 1, DependsOn: []item.ID{2},
	},
	Description: "It happens with `tic item list`.\n\n1. Create an item\n2. List it\n\n---\n\nIt should be there.",
	Comments: []item.Comment{
		{Author: "alice", Date: "2026-03-03T09:00:00.000Z", Body: "Seen on two machines."},
		{Author: "anonymous", Date: "2026-03-04T10:20:30.405Z", Body: "Two paragraphs:\n\n- one\n- two"},
	},
}

func TestReadAndWriteAsTic(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/items/*.md")
	if err != nil || len(files) < 5 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	for _, path := range files {
		source := sample(t, filepath.Base(path))
		f := parse(t, source)
		diff(t, path+" unchanged", source, text(t, f))
		anew, err := ticfile.New(read(t, f))
		if err != nil {
			t.Fatal(err)
		}
		diff(t, path+" written anew", source, text(t, anew))
	}
	diff(t, "item", full, read(t, parse(t, sample(t, "full.md"))))
}

// A file with all that people and other programs put into one.
const edited = "\ufeff---\r\n" +
	"# mine\r\n" +
	"'id': '3'\r\n" +
	"title: \"a \\\r\n  b\" # folded\r\n" +
	"estimate: {days: 3} # unknown\r\n" +
	"status:   todo   # soon\r\n" +
	"labels: auth, backend,,\r\n" +
	"depends_on: [2, \"4\"]\r\n" +
	"updated: 2026-01-01\r\n" +
	"--- \r\n" +
	"\r\n" +
	"  indented\r\n" +
	"text\r\n" +
	"\r\n" +
	"## Comments\r\n" +
	"\r\n" +
	"---\r\n" +
	"date: 2026-01-01\r\n" +
	"author: x\r\n" +
	"\r\n" +
	"first\r\n" +
	"\r\n" +
	"---\r\n" +
	"author:\r\n" +
	"\r\n" +
	"second\r\n" +
	"\r\n\r\n"

func TestEditedByHand(t *testing.T) {
	t.Parallel()
	f := parse(t, edited)
	diff(t, "unchanged", edited, text(t, f))
	diff(t, "item", item.Item{
		Summary: item.Summary{
			ID: 3, Title: "a b", Type: "issue", Status: "todo", Labels: []string{"auth", "backend"},
			Updated: "2026-01-01", DependsOn: []item.ID{2, 4},
		},
		Description: "  indented\ntext",
		Comments:    []item.Comment{{Author: "x", Date: "2026-01-01", Body: "first"}, {Body: "second"}},
	}, read(t, f))

	if err := f.Update(3, item.Patch{Status: new("done")}, "2026-02-02"); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("todo ", "done ", "updated: 2026-01-01", "updated: 2026-02-02").Replace(edited)
	diff(t, "after an update", want, text(t, f))

	if err := f.AddComment(3, item.Comment{Author: "y", Date: "2026-03-03", Body: "a\n---\nb"}); err != nil {
		t.Fatal(err)
	}
	want = strings.Replace(want, "2026-02-02", "2026-03-03", 1) +
		"\r\n---\r\nauthor: y\r\ndate: 2026-03-03\r\n\r\na\r\n\\---\r\nb\r\n"
	diff(t, "after a comment", want, text(t, f))
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	const (
		then = "2026-03-04T10:20:30.405Z"
		now  = "2026-05-05T05:05:05.005Z"
	)
	tests := map[string]struct {
		patch    item.Patch
		old, new string // besides the time
	}{
		"nothing":         {item.Patch{}, "", ""},
		"title":           {item.Patch{Title: new("1")}, `'bug: the list loses "quoted" titles (#7)'`, `"1"`},
		"same title":      {item.Patch{Title: new(full.Title)}, "", ""},
		"type":            {item.Patch{Type: new("task")}, "type: issue", "type: task"},
		"priority":        {item.Patch{Priority: new("low")}, "priority: high", "priority: low"},
		"assignee":        {item.Patch{Assignee: new("")}, `"@carol"`, `""`},
		"iteration":       {item.Patch{Iteration: new("2")}, "sprint-1", `"2"`},
		"labels":          {item.Patch{Labels: new([]string{"x"})}, "  - list\n  - \"true\"\n  - \"needs: review\"", "  - x"},
		"no labels":       {item.Patch{Labels: new([]string{})}, "labels:\n  - list\n  - \"true\"\n  - \"needs: review\"", "labels: []"},
		"same labels":     {item.Patch{Labels: new(full.Labels)}, "", ""},
		"parent":          {item.Patch{Parent: new(item.ID(7))}, `parent: "1"`, `parent: "7"`},
		"no parent":       {item.Patch{Parent: new(item.ID(0))}, "parent: \"1\"\n", ""},
		"dependencies":    {item.Patch{DependsOn: new([]item.ID{2, 5})}, "  - \"2\"", "  - \"2\"\n  - \"5\""},
		"no dependencies": {item.Patch{DependsOn: new([]item.ID{})}, "depends_on:\n  - \"2\"\n", ""},
		"description":     {item.Patch{Description: new("a ## Comments b")}, full.Description, `a #\# Comments b`},
		"no description":  {item.Patch{Description: new("")}, full.Description, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, sample(t, "full.md"))
			if err := f.Update(3, test.patch, now); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(sample(t, "full.md"), "updated: "+then, "updated: "+now, 1)
			want = strings.Replace(want, test.old, test.new, 1)
			diff(t, "file", want, text(t, f))
		})
	}
}

func TestFirstRelations(t *testing.T) {
	t.Parallel()
	f := parse(t, sample(t, "plain.md"))
	p := item.Patch{Parent: new(item.ID(9)), DependsOn: new([]item.ID{8})}
	if err := f.Update(1, p, "2026-03-02T08:00:00.000Z"); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(sample(t, "plain.md"), "---\nOne", "parent: \"9\"\ndepends_on:\n  - \"8\"\n---\nOne", 1)
	diff(t, "file", want, text(t, f))
	if err := errors.Join(f.DependOn(8), f.DependOn(7), f.Forget(9), f.Forget(8), f.Forget(1)); err != nil {
		t.Fatal(err)
	}
	want = strings.Replace(sample(t, "plain.md"), "---\nOne", "depends_on:\n  - \"7\"\n---\nOne", 1)
	diff(t, "after forgetting", want, text(t, f))
}

func TestFirstComment(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"---\nid: 1\n---\ntext\n":   "---\nid: 1\nupdated: D\n---\ntext\n\n## Comments\n\n---\nauthor: A\ndate: D\n\nB\n",
		"---\nid: 1\n---\ntext":     "---\nid: 1\nupdated: D\n---\ntext\n\n## Comments\n\n---\nauthor: A\ndate: D\n\nB\n",
		"---\nid: 1\n---\n\n":       "---\nid: 1\nupdated: D\n---\n\n\n## Comments\n\n---\nauthor: A\ndate: D\n\nB\n",
		"---\nid: 1\n---":           "---\nid: 1\nupdated: D\n---\n\n\n## Comments\n\n---\nauthor: A\ndate: D\n\nB\n",
		"---\r\nid: 1\r\n---\r\nt":  "---\r\nid: 1\r\nupdated: D\r\n---\r\nt\r\n\r\n## Comments\r\n\r\n---\r\nauthor: A\r\ndate: D\r\n\r\nB\r\n",
		"---\nid: 1\n---\na\r\nb\n": "---\nid: 1\nupdated: D\n---\na\r\nb\n\n## Comments\n\n---\nauthor: A\ndate: D\n\nB\n",
	} {
		f := parse(t, source)
		before := read(t, f)
		if err := f.AddComment(1, item.Comment{Author: "A", Date: "D", Body: "B"}); err != nil {
			t.Fatal(err)
		}
		diff(t, source, want, text(t, f))
		after := read(t, parse(t, text(t, f)))
		diff(t, "description of "+source, before.Description, after.Description)
		diff(t, "comments of "+source, []item.Comment{{Author: "A", Date: "D", Body: "B"}}, after.Comments)
	}
}

func TestDescriptionOfAFileWithoutEnd(t *testing.T) {
	t.Parallel()
	f := parse(t, "---\nid: 1\nupdated: D\n---")
	if err := f.Update(1, item.Patch{Description: new("text")}, "D"); err != nil {
		t.Fatal(err)
	}
	diff(t, "file", "---\nid: 1\nupdated: D\n---\ntext\n", text(t, f))
}

// What tic writes without care is read in full.
func TestReadsWhatTicCutsShort(t *testing.T) {
	t.Parallel()
	const head = "---\nid: 1\n---\n"
	tests := map[string]struct {
		body        string
		description string
		comments    []item.Comment
	}{
		"heading in a line":       {"see ## Comments below\n", "see ## Comments below", nil},
		"heading without comment": {"a\n\n## Comments\n\nnot one\n", "a\n\n## Comments\n\nnot one", nil},
		"heading before heading": {
			"a\n## Comments\nb\n\n## Comments\n\n---\nauthor: x\ndate: y\n\nc\n", "a\n## Comments\nb",
			[]item.Comment{{Author: "x", Date: "y", Body: "c"}},
		},
		"line in a comment": {
			"\n\n## Comments\n\n---\nauthor: x\ndate: y\n\na\n---\nb\n\n---\n\n---\nauthor: z\ndate: y\n\nc\n", "",
			[]item.Comment{{Author: "x", Date: "y", Body: "a\n---\nb\n\n---"}, {Author: "z", Date: "y", Body: "c"}},
		},
		"empty comment": {
			"\n## Comments\n\n---\nauthor: \ndate: \n\n\n\n---\nauthor: z\ndate: y\n\nc\n", "",
			[]item.Comment{{}, {Author: "z", Date: "y", Body: "c"}},
		},
		"name in quotes": {
			"\n## Comments\n\n---\nauthor: \"Bob\"\ndate: y\n\nc\n", "", []item.Comment{{Author: `"Bob"`, Date: "y", Body: "c"}},
		},
		"name with a backslash": {
			"\n## Comments\n\n---\nauthor: CORP\\nancy\ndate: y\n\nc\n", "", []item.Comment{{Author: `CORP\nancy`, Date: "y", Body: "c"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			it := read(t, parse(t, head+test.body))
			diff(t, "description", test.description, it.Description)
			diff(t, "comments", test.comments, it.Comments)
		})
	}
}

func TestNoItem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"empty":            {"", "has no front matter: its first line is not ---"},
		"no front matter":  {"# Notes\n", "has no front matter: its first line is not ---"},
		"open":             {"---\nid: 1\n", "has no line --- after the front matter"},
		"empty front":      {"---\n---\n", "has empty front matter"},
		"only comments":    {"---\n# x\n---\n", "has empty front matter"},
		"more on the line": {"---\nid: 1\n--- x\n", "has more than --- on the line after the front matter"},
		"bad YAML":         {"---\nid: 1\ntitle: a: b\n---\n", "has invalid front matter: line 3: mapping value is not allowed in this context"},
		"key twice":        {"---\nid: 1\nid: 2\n---\n", `has invalid front matter: line 3: the key "id" appears twice`},
		"title is a list":  {"---\ntitle: [a]\n---\n", "has invalid front matter: title is not text"},
		"too large":        {"---\nid: 1\n---\n" + strings.Repeat("x", ticfile.MaxSize), "has 8388622 bytes; the limit is 8388608"},
		"conflict": {
			"---\nid: 1\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> other\n---\n",
			"has merge conflict markers; run `copse item doctor --repair`",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := ticfile.Parse(test.text)
			if err == nil {
				_, _, err = f.Item()
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"parent":       {"id: 1\nparent: local-3\n", `has the parent "local-3", which is not the number of an item; copse ignores it`},
		"dependency":   {"id: 1\ndepends_on: [x]\n", `has the depends_on "x", which is not the number of an item; copse ignores it`},
		"dependencies": {"id: 1\ndepends_on: 3\n", "has a depends_on that is not a list; copse ignores it"},
		"labels":       {"id: 1\nlabels: {a: b}\n", "has labels that are not a list of strings; copse ignores them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems, err := parse(t, "---\n"+test.text+"---\n").Item()
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "problems", []string{test.want}, problems)
		})
	}
}

func TestTooLargeToWrite(t *testing.T) {
	t.Parallel()
	for want, it := range map[string]item.Item{
		"(8 MiB)":   {Summary: item.Summary{ID: 1, Title: "x"}, Description: strings.Repeat("x", ticfile.MaxSize)},
		"(256 KiB)": {Summary: item.Summary{ID: 1, Title: "x", DependsOn: slices.Repeat([]item.ID{1_000_000}, 20_000)}},
	} {
		f, err := ticfile.New(it)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Text(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Ten thousand dependencies are fine. A front matter of megabytes is refused before it is read.
func TestLargeFrontMatter(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return "---\nid: 1\ndepends_on:\n" + strings.Repeat("- \"12345\"\n", n) + "---\n" }
	it, problems, err := parse(t, text(10_000)).Item()
	if err != nil || len(problems) > 0 || len(it.DependsOn) != 10_000 {
		t.Errorf("%d dependencies, %v, %v", len(it.DependsOn), problems, err)
	}
	if _, err := ticfile.Parse(text(100_000)); err == nil || !strings.Contains(err.Error(), "bytes of front matter; the limit is 262144") {
		t.Errorf("error is %v", err)
	}
}

func TestDeletedAndRestored(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"written": sample(t, "full.md"), "edited": edited} {
		f := parse(t, source)
		lost := ticfile.Lost{Children: []item.ID{4, 5}, Dependents: []item.ID{6}}
		if err := f.Delete("2026-05-05T05:05:05.005Z", lost); err != nil {
			t.Fatal(err)
		}
		f = parse(t, text(t, f))
		diff(t, name+": lost", lost, f.Lost())
		if err := f.Restore(); err != nil {
			t.Fatal(err)
		}
		diff(t, name+": restored", source, text(t, f))
		diff(t, name+": lost, restored", ticfile.Lost{}, f.Lost())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, ours, theirs string
		ok                 bool
	}{
		"none":       {"a\n", "a\n", "a\n", false},
		"one":        {"a\n<<<<<<< H\nb\n=======\nc\n>>>>>>> x\nd\n", "a\nb\nd\n", "a\nc\nd\n", true},
		"with base":  {"<<<<<<< H\nb\n||||||| p\nx\n=======\n>>>>>>> x\n", "b\n", "", true},
		"unfinished": {"<<<<<<< H\nb\n=======\nc\n", "b\n", "c\n", false},
		"other line": {"=======\n>>>>>>> x\n", "=======\n>>>>>>> x\n", "=======\n>>>>>>> x\n", false},
		"renamed":    {"<<<<<<<< H:a\nb\n=======\n========\nc\n>>>>>>>> x:d\n", "b\n=======\n", "c\n", true},
		"DOS":        {"<<<<<<< H\r\nb\r\n=======\r\nc\r\n>>>>>>> x\r\n", "b\r\n", "c\r\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs, ok := ticfile.Versions(test.text)
			if ours != test.ours || theirs != test.theirs || ok != test.ok {
				t.Errorf("got %q, %q, %v", ours, theirs, ok)
			}
		})
	}
}
