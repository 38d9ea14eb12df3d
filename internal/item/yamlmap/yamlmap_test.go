package yamlmap_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item/yamlmap"
)

func parse(t *testing.T, text string, order ...string) *yamlmap.Map {
	t.Helper()
	m, err := yamlmap.Parse(text, order...)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return m
}

func scalar(text string) yamlmap.Value { return yamlmap.Value{Kind: yamlmap.Scalar, Text: text} }

func list(items ...string) yamlmap.Value { return yamlmap.Value{Kind: yamlmap.List, Items: items} }

// npm-style.json holds texts and what version 2.8.2 of the yaml package of npm
// writes for them as a title.
func TestStyleOfNPM(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/npm-style.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Text, YAML string }
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if got := parse(t, v.YAML).Get("title"); !cmp.Equal(got, scalar(v.Text)) {
			t.Errorf("%q is read as %+v", v.YAML, got)
		}
		m := parse(t, "")
		if err := m.SetText("title", v.Text); err != nil {
			t.Fatal(err)
		}
		if got := m.Get("title"); !cmp.Equal(got, scalar(v.Text)) {
			t.Errorf("%q is written as %q and read as %+v", v.Text, m.Text(), got)
		}
		severalLines := strings.Contains(v.Text, "\n") && !strings.Contains(v.Text, "\r")
		if got := m.Text(); got != v.YAML && !severalLines {
			t.Errorf("%q is written\n%q, want\n%q", v.Text, got, v.YAML)
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want yamlmap.Value
	}{
		"missing":                 {"a: 1", yamlmap.Value{}},
		"nothing":                 {"k:\na: 1", yamlmap.Value{Kind: yamlmap.Null}},
		"null":                    {"k: ~", yamlmap.Value{Kind: yamlmap.Null}},
		"null in quotes":          {`k: "null"`, scalar("null")},
		"number":                  {"k: 1_000", scalar("1_000")},
		"integer":                 {"k: 007", scalar("007")},
		"tabs":                    {"k: a\tb", scalar("a\tb")},
		"comment":                 {"k: a # b", scalar("a")},
		"comment after quotes":    {`k: "a"  # b`, scalar("a")},
		"no comment":              {"k: a#b", scalar("a#b")},
		"space before the colon":  {"k : a", scalar("a")},
		"key in quotes":           {`"k": a`, scalar("a")},
		"escapes":                 {`k: "\x41\u00e9\U0001F600\t\/\_"`, scalar("Aé😀\t/\u00a0")},
		"surrogates":              {`k: "\ud83d\ude00"`, scalar("😀")},
		"single quotes":           {"k: 'it''s'", scalar("it's")},
		"folded":                  {"k: a\n  - b\n\n\n  c", scalar("a - b\n\nc")},
		"folded in quotes":        {"k: 'a \n   b\n\n  c '", scalar("a b\nc ")},
		"folded with escapes":     {"k: \"a\\\n   b\\  \n  c\\n\n  d\"", scalar("ab  c\n d")},
		"block":                   {"k: |\n  a\n   b\n", scalar("a\n b\n")},
		"block ending the text":   {"k: |\n 0", scalar("0\n")},
		"folded block":            {"k: >-\n  a\n  b\n", scalar("a b")},
		"list":                    {"k:\n  - a\n  - \"b\"\n  - ~\n", list("a", "b", "")},
		"list without indent":     {"k:\n- a\n- b\nl: c", list("a", "b")},
		"list with comments":      {"k:\n  - a # one\n\n# two\n  - b\n", list("a", "b")},
		"flow list":               {"k: [a, 'b c', 1]", list("a", "b c", "1")},
		"flow list of lines":      {"k: [a,\n  b]", list("a", "b")},
		"empty list":              {"k: []", list()},
		"list of lists":           {"k: [[a]]", yamlmap.Value{Kind: yamlmap.Other}},
		"mapping":                 {"k:\n  a: b", yamlmap.Value{Kind: yamlmap.Other}},
		"list of mappings":        {"k:\n  - a: b", yamlmap.Value{Kind: yamlmap.Other}},
		"anchor":                  {"a: &x hello\nk: *x", scalar("hello")},
		"alias of nothing":        {"k: *x", yamlmap.Value{Kind: yamlmap.Other}},
		"tag":                     {"k: !!str 3", scalar("3")},
		"flow mapping":            {"{k: a, l: b}", scalar("a")},
		"line ends of DOS":        {"k: a\r\nl:\r\n  - b\r\n", scalar("a")},
		"folded, DOS":             {"k: a\r\n  b\r\nl: c\r\n", scalar("a b")},
		"line separators in text": {"k: a\u2028b\u0085c", scalar("a\u2028b\u0085c")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, parse(t, test.text).Get("k")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		line int
	}{
		"key twice":          {"a: 1\nb: 2\na: 3", 3},
		"no mapping":         {"- a\n- b", 0},
		"text":               {"hello", 0},
		"open quote":         {"a: 1\nb: \"x", 2},
		"open bracket":       {"a: [", 1},
		"mapping in a text":  {"a: b: c", 1},
		"conflict":           {"a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n", 0},
		"deep":               {"a: " + strings.Repeat("[", 1<<15), 0},
		"many keys":          {manyKeys(), 0},
		"alias of itself":    {"k: &x [*x]", 1},
		"many aliases":       {"a: &x " + strings.Repeat("x", 1000) + "\nk: [" + strings.Repeat("*x, ", 100) + "*x]", 2},
		"long and difficult": {"a: [b]\nc: " + strings.Repeat("x", 1<<17), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := yamlmap.Parse(test.text)
			syntax, ok := errors.AsType[*yamlmap.SyntaxError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if test.line > 0 && syntax.Line != test.line {
				t.Errorf("line %d, want %d: %v", syntax.Line, test.line, err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %v", err)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := range 1 << 15 {
		b.WriteString("k" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + ": 1\n")
	}
	return b.String()
}

func TestSet(t *testing.T) {
	t.Parallel()
	const source = `# head
id: "3" # keep
title: A title that
  goes on
empty:
labels:
  - a # one
  # two
  - b

types: [x, y]
nested:
  k: v # deep
next_id: 7 # tail
`
	tests := map[string]struct {
		set  func(*yamlmap.Map) error
		old  string
		want string
	}{
		"text":              {text("id", "4"), `"3"`, `"4"`},
		"text plain":        {text("id", "x"), `"3"`, `x`},
		"text of lines":     {text("title", "new"), "A title that\n  goes on", "new"},
		"text was empty":    {text("empty", "x"), "empty:", "empty: x"},
		"text was list":     {text("labels", "x"), "labels:\n  - a # one\n  # two\n  - b", "labels: x"},
		"text is new":       {text("z", "- x"), "# tail\n", "# tail\nz: \"- x\"\n"},
		"text has place":    {text("status", "x"), "goes on\n", "goes on\nstatus: x\n"},
		"text is first":     {text("zero", "x"), "id:", "zero: x\nid:"},
		"number":            {number("next_id", 8), "7", "8"},
		"number is new":     {number("n", 8), "# tail\n", "# tail\nn: 8\n"},
		"number was text":   {number("title", 8), "A title that\n  goes on", "8"},
		"list":              {items("labels", "x", "1"), "  - a # one\n  # two\n  - b\n", "  - x\n  - \"1\"\n"},
		"list is empty":     {items("labels"), "labels:\n  - a # one\n  # two\n  - b", "labels: []"},
		"append":            {item("labels", "c: d"), "  - b\n", "  - b\n  - \"c: d\"\n"},
		"append to flow":    {item("types", "z"), "types: [x, y]", "types:\n  - x\n  - y\n  - z"},
		"append to nothing": {item("empty", "z"), "empty:", "empty:\n  - z"},
		"append to new":     {item("n", "z"), "# tail\n", "# tail\nn:\n  - z\n"},
		"delete":            {remove("labels"), "labels:\n  - a # one\n  # two\n  - b\n", ""},
		"delete nothing":    {remove("missing"), "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, newline := range []string{"\n", "\r\n"} {
				dos := strings.NewReplacer("\n", newline)
				m := parse(t, dos.Replace(source), "zero", "id", "title", "status")
				if err := test.set(m); err != nil {
					t.Fatal(err)
				}
				want := dos.Replace(strings.Replace(source, test.old, test.want, 1))
				if diff := cmp.Diff(want, m.Text()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func text(key, s string) func(*yamlmap.Map) error {
	return func(m *yamlmap.Map) error { return m.SetText(key, s) }
}

func number(key string, n int64) func(*yamlmap.Map) error {
	return func(m *yamlmap.Map) error { return m.SetInt(key, n) }
}

func items(key string, s ...string) func(*yamlmap.Map) error {
	return func(m *yamlmap.Map) error { return m.SetList(key, s) }
}

func item(key, s string) func(*yamlmap.Map) error {
	return func(m *yamlmap.Map) error { return m.Append(key, s) }
}

func remove(key string) func(*yamlmap.Map) error {
	return func(m *yamlmap.Map) error { return m.Delete(key) }
}

func TestSetAtTheEnd(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                "k: v\n",
		"# c":             "# c\nk: v\n",
		"a: b":            "a: b\nk: v\n",
		"a: [b]":          "a: [b]\nk: v\n",
		"a:\n  - b":       "a:\n  - b\nk: v\n",
		"a: b\r\nc: d":    "a: b\r\nc: d\r\nk: v\r\n",
		"a: |\n  b\n\n\n": "a: |\n  b\n\n\nk: v\n",
	} {
		m := parse(t, source)
		if err := m.SetText("k", "v"); err != nil {
			t.Fatal(err)
		}
		if m.Text() != want {
			t.Errorf("%q became %q, want %q", source, m.Text(), want)
		}
	}
	m := parse(t, "a:\n  - b")
	if err := m.Append("a", "c"); err != nil {
		t.Fatal(err)
	}
	if want := "a:\n  - b\n  - c\n"; m.Text() != want {
		t.Errorf("became %q, want %q", m.Text(), want)
	}
}

func TestForeignFormIsNotEdited(t *testing.T) {
	t.Parallel()
	const source = "{id: a, title: b}"
	m := parse(t, source)
	if err := m.SetText("id", "c"); !errors.Is(err, yamlmap.ErrNotEditable) {
		t.Errorf("editing a flow mapping gives %v", err)
	}
	if m.Text() != source || m.Get("id").Text != "a" {
		t.Errorf("it became %q", m.Text())
	}
}

// texts draws texts that meet the rules of YAML in every way.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", "  ", "\n", "\r\n", "\t", ":", ": ", " #", "#", "-", "- ", "---", "...", "?", "'", "\"", "\\", "[", "]", "{", "}",
			",", "&", "*", "!", "|", ">", "%", "@", "`", "~", "null", "true", "yes", "1_000", "0x1f", "1e3", ".5", "2026-01-01",
			"word", "日本語", "😀", "\u0085", "\u2028", "\ufeff", "\x00", "\x1b", "\x7f", "<<", "=",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
	})
}

// Whatever is set is read back, by us and by the library, and nothing else
// changes.
func TestSetAndGet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		before := strings.Join([]string{"a: 'x'  # c", "l:", "- 1", "z: \"y\"", ""}, newline)
		m, err := yamlmap.Parse(before)
		if err != nil {
			t.Fatal(err)
		}
		one, many := texts().Draw(t, "text"), rapid.SliceOfN(texts(), 1, 4).Draw(t, "list")
		if err := errors.Join(m.SetText("k", one), m.SetList("m", many), m.Append("m", one)); err != nil {
			t.Fatalf("%q: %v", m.Text(), err)
		}
		added, ok := strings.CutPrefix(m.Text(), before)
		if !ok {
			t.Fatalf("the lines before have changed: %q", m.Text())
		}
		want := map[string]yamlmap.Value{"k": scalar(one), "m": list(append(slices.Clone(many), one)...)}
		check(t, m, want)
		if strings.Contains(added, "\t") {
			return // the library loses tabs in plain text
		}
		byLibrary, err := yamlmap.ByLibrary(added)
		if err != nil {
			t.Fatalf("the library refuses %q: %v", added, err)
		}
		check(t, byLibrary, want)
	})
}

func check(t *rapid.T, m *yamlmap.Map, want map[string]yamlmap.Value) {
	for key, value := range want {
		if diff := cmp.Diff(value, m.Get(key)); diff != "" {
			t.Fatalf("%s of %q (-want +got):\n%s", key, m.Text(), diff)
		}
	}
}

// FuzzParse looks for texts that are read wrongly, or changed beyond what is set.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"id: \"3\"\ntitle: 'x \"y\"'\nlabels:\n  - a\n  - b\nupdated: 2026-01-01T00:00:00.000Z\n",
		"a: |\n  b\nc: [d, e] # f\n", "a: &x b\nc: *x\n", "\"k\": 'it''s'\r\nl: \"\\x41\\\n  b\"\r\n", "a: b\n  - c\n\n  d\n", "{a: b}",
		"? a\n: b\n", "a:\n- b\n-\n", "a: !!str 3\n", "a: >-\n\n  b\n   c\n", "%YAML 1.2\n---\na: b\n...\n",
		"a: |\n 0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m, err := yamlmap.Parse(source, "id", "title")
		if err != nil {
			if _, ok := errors.AsType[*yamlmap.SyntaxError](err); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		if m.Text() != source {
			t.Fatal("reading changes the text")
		}
		agree(t, m, source)
		edits(t, m, source)
	})
}

// misread is what the library is known to read wrongly: tabs and carriage
// returns in plain text, empty items before a key, spaces on empty lines,
// dashes at the beginning of a continued line,
// << anywhere. The library also drops the line break of a block scalar that ends
// the text without one, which the original's library keeps.
var misread = regexp.MustCompile(`(?m)[\t\r]|<<|^ *- *(#.*)?$|^ +$|:[ ]+\S.*\n(?:[ ].*\n|\n)* +-|[|>][-+0-9]*(?: .*)?\n(?:.*\n)*.+\z`)

// agree checks what was read without the library against the library.
func agree(t *testing.T, m *yamlmap.Map, source string) {
	if !yamlmap.Simple(source) || misread.MatchString(source) {
		return
	}
	other, err := yamlmap.ByLibrary(source)
	if err != nil {
		t.Fatalf("%q is read, but the library says: %v", source, err)
	}
	if diff := cmp.Diff(m.Keys(), other.Keys()); diff != "" {
		t.Fatalf("keys of %q (-ours +library's):\n%s", source, diff)
	}
	for _, key := range m.Keys() {
		if diff := cmp.Diff(m.Get(key), other.Get(key)); diff != "" {
			t.Fatalf("%s of %q (-ours +library's):\n%s", key, source, diff)
		}
	}
}

// edits sets a value and checks that the others keep theirs.
func edits(t *testing.T, m *yamlmap.Map, source string) {
	want := map[string]yamlmap.Value{}
	for _, key := range m.Keys() {
		want[key] = m.Get(key)
	}
	if err := m.SetText("title", "new: text"); err != nil {
		return
	}
	want["title"] = scalar("new: text")
	for key, value := range want {
		if diff := cmp.Diff(value, m.Get(key)); diff != "" {
			t.Fatalf("%s of %q, which was %q (-want +got):\n%s", key, m.Text(), source, diff)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	const source = "id: \"3\"\ntitle: The session cookie is dropped\ntype: issue\nstatus: in-progress\niteration: sprint-1\n" +
		"priority: high\nassignee: alice\nlabels:\n  - auth\n  - backend\n  - \"needs: review\"\n" +
		"created: 2026-11-20T23:27:20.309Z\nupdated: 2026-11-20T23:27:20.406Z\nparent: \"1\"\ndepends_on:\n  - \"2\"\n"
	b.Run("simple", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := yamlmap.Parse(source); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := yamlmap.ByLibrary(source); err != nil {
				b.Fatal(err)
			}
		}
	})
}
