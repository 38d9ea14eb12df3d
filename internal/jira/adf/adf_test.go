package adf_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/jira/adf"
)

// The golden file is written again with: go test ./internal/jira/adf -update
var update = flag.Bool("update", false, "write the golden files")

func TestEverything(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/everything.json")
	if err != nil {
		t.Fatal(err)
	}
	got := adf.Markdown(raw) + "\n"
	const golden = "testdata/everything.md"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// doc returns a document of the given nodes.
func doc(nodes string) string { return `{"type":"doc","version":1,"content":[` + nodes + `]}` }

// para returns a document of one paragraph with one text.
func para(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return doc(`{"type":"paragraph","content":[{"type":"text","text":` + string(b) + `}]}`)
}

// inline returns a document of one paragraph.
func inline(nodes string) string { return doc(`{"type":"paragraph","content":[` + nodes + `]}`) }

// text returns a text node with marks, each named or an object.
func text(s string, marks ...string) string {
	for i, m := range marks {
		if !strings.HasPrefix(m, "{") {
			marks[i] = `{"type":"` + m + `"}`
		}
	}
	return `{"type":"text","text":"` + s + `","marks":[` + strings.Join(marks, ",") + `]}`
}

func link(href string) string { return `{"type":"link","attrs":{"href":"` + href + `"}}` }

func TestMarkdown(t *testing.T) {
	t.Parallel()
	item := func(content string) string { return `{"type":"listItem","content":[` + content + `]}` }
	p := func(s string) string { return `{"type":"paragraph","content":[{"type":"text","text":"` + s + `"}]}` }
	bullets := func(items ...string) string {
		return `{"type":"bulletList","content":[` + strings.Join(items, ",") + `]}`
	}
	numbers := func(items ...string) string {
		return `{"type":"orderedList","content":[` + strings.Join(items, ",") + `]}`
	}
	br := `{"type":"hardBreak"}`
	tests := map[string]struct{ raw, want string }{
		"null":         {`null`, ""},
		"nothing":      {``, ""},
		"broken":       {`{"type":"doc","content":[`, ""},
		"number":       {`7`, ""},
		"list":         {`[` + p("x") + `]`, ""},
		"empty object": {`{}`, ""},
		"string":       {`"h1. *Wiki*\r\n{code}  x\u0007{code} \u001b[1m_y_"`, "h1. *Wiki*\n{code}  x{code} _y_"},
		"not a doc":    {p("x"), "x"},
		"null content": {`{"type":"doc","content":null}`, ""},
		"wrong types":  {doc(`null,1,"x",[],{"type":7,"content":"x"},{"type":"heading","attrs":[],"content":[{"type":"text","text":["x"],"marks":"strong"}]},` + p("kept")), "kept"},
		"empty blocks": {doc(`{"type":"paragraph"},{"type":"codeBlock"},{"type":"blockquote"},{"type":"panel"},{"type":"table"},{"type":"bulletList"},{"type":"heading"},{"type":"expand"}`), ""},

		"marks join":              {inline(text("a", "strong") + "," + text("b", "strong", "em") + "," + text("c", "em")), "**a*b***" + "*c*"},
		"space goes outside":      {inline(text("a") + "," + text(" b ", "strong") + "," + text("c")), "a **b** c"},
		"space alone has no mark": {inline(text("a", "em") + "," + text("  ", "strong") + "," + text("b")), "*a*  b"},
		"pieces of one text":      {inline(text("a", "code") + "," + text("b", "code")), "`ab`"},
		"ignored marks":           {inline(text("a", "underline", "annotation", `{"type":"textColor","attrs":{"color":"#fff"}}`)), "a"},
		"code beats escapes":      {inline(text("*a*_b_", "code")), "`*a*_b_`"},
		"code of a tick":          {inline(text("`", "code")), "`` ` ``"},
		"code in a link":          {inline(text("x", "code", link("https://e.x"))), "[`x`](https://e.x)"},
		"link to itself":          {inline(text("https://e.x/a_b", link("https://e.x/a_b"))), "<https://e.x/a_b>"},
		"link over formats":       {inline(text("a", link("https://e.x")) + "," + text("b", "strong", link("https://e.x"))), "[a**b**](https://e.x)"},
		"brackets in a link":      {inline(text("[a](b)", link("https://e.x"))), `[\[a\](b)](https://e.x)`},
		"parentheses and spaces":  {inline(text("a", link(" https://e.x/(a) b<c> "))), "[a](https://e.x/%28a%29%20b%3Cc%3E)"},
		"entity in a link":        {inline(text("a", link("https://e.x/?a=1&amp;b=2&c=3"))), `[a](https://e.x/?a=1\&amp;b=2&c=3)`},
		"script link":             {inline(text("a", link("JavaScript:alert(1)"))), "a"},
		"no href":                 {inline(text("a", `{"type":"link"}`)), "a"},
		"no image":                {inline(text("wow!") + "," + text("a", link("https://e.x"))), `wow\![a](https://e.x)`},
		"no link by neighbours":   {inline(`{"type":"status","attrs":{"text":"a"}},` + text("(b)")), `[a]\(b)`},

		"one break":        {inline(text("a") + "," + br + "," + text("b")), "a\\\nb"},
		"two breaks":       {inline(text("a", "strong") + "," + br + "," + br + "," + text("b", "strong")), "**a**\n\n**b**"},
		"breaks at edges":  {inline(br + "," + text("a ") + "," + br), "a"},
		"newline in text":  {inline(text(`a\nb`)), "a\\\nb"},
		"break in heading": {doc(`{"type":"heading","attrs":{"level":3},"content":[` + text("a") + "," + br + "," + text("b #") + `]}`), `### a b \#`},
		"heading level":    {doc(`{"type":"heading","attrs":{"level":99},"content":[` + text("a") + `]},{"type":"heading","attrs":{"level":"x"},"content":[` + text("b") + `]}`), "###### a\n\n# b"},

		"list in a list":                {doc(bullets(item(p("a")+","+numbers(item(p("b")))) + "," + numbers(item(p("c"))) + "," + bullets(item(p("d"))))), "- a\n  1. b\n  1. c\n  - d"},
		"blank lines of code in a cell": {doc(`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","content":[{"type":"codeBlock","content":[{"type":"text","text":"a\n\nb"}]}]}]}]}`), "| `a`<br>`b` |\n| --- |"},
		"lists in a row":                {doc(bullets(item(p("a"))) + "," + bullets(item(p("b"))) + "," + bullets(item(p("c"))) + "," + numbers(item(p("d"))) + "," + numbers(item(p("e")))), "- a\n\n+ b\n\n- c\n\n1. d\n\n1) e"},
		"empty items":                   {doc(bullets(item(``), item(p("a")), item(p("")))), "- a"},
		"item without list":             {doc(item(p("a"))), "a"},
		"text in a list":                {doc(bullets(text("a"), p("b"))), "- a\n- b"},
		"item with code":                {doc(bullets(item(`{"type":"codeBlock","content":[` + text("x") + `]}`))), "- ```\n  x\n  ```"},
		"ten items":                     {doc(`{"type":"orderedList","attrs":{"order":9},"content":[` + item(p("a")+","+p("a2")) + "," + item(p("b")+","+p("b2")) + `]}`), "9. a\n\n   a2\n10. b\n\n    b2"},
		"absurd start":                  {doc(`{"type":"orderedList","attrs":{"order":99999999999},"content":[` + item(p("a")) + `]}`), "1. a"},
		"task with a block":             {doc(`{"type":"taskList","content":[{"type":"blockTaskItem","attrs":{"state":"DONE"},"content":[{"type":"codeBlock","content":[` + text("x") + `]}]}]}`), "- [x]\n\n  ```\n  x\n  ```"},

		"fence":              {doc(`{"type":"codeBlock","attrs":{"language":"a b"},"content":[{"type":"text","text":"\n` + "````" + `\n  x\n"}]}`), "`````\n````\n  x\n`````"},
		"panel of a list":    {doc(`{"type":"panel","attrs":{"panelType":"custom"},"content":[` + bullets(item(p("a"))) + `]}`), "> [!NOTE]\n>\n> - a"},
		"table without head": {doc(`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","content":[` + p("a") + `]},{"type":"tableCell","content":[` + p("b") + `]}]}]}`), "|  |  |\n| --- | --- |\n| a | b |"},
		"greedy spans":       {doc(`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","attrs":{"colspan":1e9,"rowspan":-1},"content":[` + p("a") + `]}]}]}`), "|  |\n| --- |\n| a |"},
		"pipes and ticks":    {doc(`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","content":[{"type":"paragraph","content":[` + text("a|b", "code") + `]}]}]}]}`), "| `a\\|b` |\n| --- |"},

		"mention without text":  {inline(`{"type":"mention","attrs":{"id":"u1"}}`), "@u1"},
		"emoji without text":    {inline(`{"type":"emoji","attrs":{"shortName":":thumbs_up:"}}`), ":thumbs_up:"},
		"date as a number":      {inline(`{"type":"date","attrs":{"timestamp":1767225600000}}`), "2026-01-01"},
		"date that is none":     {inline(`{"type":"date","attrs":{"timestamp":"soon_*"}}`), `soon\_\*`},
		"relative card":         {inline(`{"type":"inlineCard","attrs":{"url":"/browse/P-1"}}`), "[/browse/P-1](/browse/P-1)"},
		"card with a script":    {inline(`{"type":"inlineCard","attrs":{"url":"javascript:x"}}`), "javascript:x"},
		"card in a link":        {inline(`{"type":"inlineCard","attrs":{"url":"https://e.x"},"marks":[` + link("https://f.x") + `]}`), "<https://e.x>"},
		"card without anything": {inline(`{"type":"inlineCard"}`), ""},
		"media without name":    {doc(`{"type":"mediaSingle","content":[{"type":"media"}]}`), "[attachment:]"},
		"app with a text":       {doc(`{"type":"extension","attrs":{"extensionKey":"k","text":"shown"}}`), "shown"},
		"placeholder":           {inline(`{"type":"placeholder","attrs":{"text":"type here"}}`), "type here"},
		"unknown inline":        {inline(text("a ") + `,{"type":"sparkle","content":[` + text("b") + `]},` + text(" c")), "a b c"},
		"unknown with text":     {doc(`{"type":"banner","text":"x"},{"type":"banner","attrs":{"text":"y"},"content":[` + p("z") + `]}`), "x\n\ny\n\nz"},
		"block within a line":   {inline(p("a") + "," + text(" b")), "a b"},
		"caption":               {doc(`{"type":"mediaSingle","content":[{"type":"media","attrs":{"alt":"a]b"}},{"type":"caption","content":[` + text("c") + `]}]}`), "[attachment: a\\]b]\n\nc"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, adf.Markdown([]byte(tt.raw))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, same := range []string{
		"snake_case_name", "2 * 3 = 6", "C:\\Users\\x", "a < b > c", "AT&T", "wow! (really) [sic]", "50% #3 -x +y", "x=1;y=2", "a ~ b ~5", "it's \"q\"",
		"#hashtag", "--verbose", "1.5 times", "-1", "2026-01-01", "a - b", "x | y", "{code}",
	} {
		if got := adf.Markdown([]byte(para(same))); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	for in, want := range map[string]string{
		"*a*":               `\*a\*`,
		"_a_":               `\_a\_`,
		"`a`":               "\\`a\\`",
		"[a](b)":            `[a\](b)`,
		"[a]: b":            `[a\]: b`,
		"<b>":               `\<b>`,
		"a <!-- b":          `a \<!-- b`,
		"&lt;":              `\&lt;`,
		"&#60;":             `\&#60;`,
		"~~a~~":             `\~\~a\~\~`,
		`\*`:                `\\\*`,
		"# a":               `\# a`,
		"> a":               `\> a`,
		"- a":               `\- a`,
		"+ a":               `\+ a`,
		"* a":               `\* a`,
		"1. a":              `1\. a`,
		"12) a":             `12\) a`,
		"---":               `\---`,
		"_ _ _":             `_ _ \_`,
		"| a |":             `\| a |`,
		"[ ] a":             `\[ ] a`,
		"    indented":      "indented",
		"a\n# b":            "a\\\n\\# b",
		"a\n===":            "a\\\n\\===",
		"a | b\n:-- | --":   "a | b\\\n\\:-- | --",
		"a\x1b[31mb\u202ec": "abc",
		"\u200b# a":         `\# a`,
		"\x00- a":           `\- a`,
		"a\r\nb":            "a\\\nb",
	} {
		if got := adf.Markdown([]byte(para(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestDeep keeps the text of documents that nest very deeply.
func TestDeep(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"blockquote", "bulletList", "listItem", "table", "paragraph", "panel", "hologram", "taskItem", "tableCell"} {
		const depth = 4000
		raw := strings.Repeat(`{"type":"`+kind+`","content":[`, depth) + `{"type":"text","text":"needle"}` + strings.Repeat(`]}`, depth)
		got := adf.Markdown([]byte(raw))
		if !strings.Contains(got, "needle") {
			t.Errorf("%s: the text is lost", kind)
		}
		if len(got) > len(raw) {
			t.Errorf("%s: %d bytes became %d", kind, len(raw), len(got))
		}
	}
}

// TestHuge holds what is small in JSON and could be large in Markdown.
func TestHuge(t *testing.T) {
	t.Parallel()
	rows := func(row string) string {
		return `{"type":"tableRow","content":[` + strings.Repeat(`{},`, 2000) + `{}]},` + strings.Repeat(row+",", 5000) + row
	}
	for name, raw := range map[string]string{
		"empty rows":   doc(`{"type":"table","content":[` + rows(`{}`) + `]}`),
		"short rows":   doc(`{"type":"table","content":[` + rows(`{"type":"tableRow","content":[{}]}`) + `]}`),
		"greedy spans": doc(`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","attrs":{"colspan":1000000,"rowspan":1000000000}}]},` + rows(`{"type":"tableRow","content":[{}]}`) + `]}`),
		"long spans":   doc(`{"type":"table","content":[{"type":"tableRow","content":[` + strings.Repeat(`{"attrs":{"rowspan":1e9}},{"attrs":{"rowspan":999999}},`, 5000) + `{}]},` + strings.Repeat(`{"type":"tableRow","content":[{}]},`, 15000) + `{}]}`),
		"kept claims":  doc(`{"type":"table","content":[{"type":"tableRow","content":[` + strings.Repeat(`{"attrs":{"rowspan":9999}},`, 5000) + `{}]},` + strings.Repeat(`{"type":"tableRow","content":[{}]},`, 5000) + `{}]}`),
		"quoted lines": doc(strings.Repeat(`{"type":"blockquote","content":[`, 40) + `{"type":"codeBlock","content":[{"type":"text","text":"` + strings.Repeat(`a\n`, 100_000) + `"}]}` + strings.Repeat(`]}`, 40)),
		"long quotes":  doc(`{"type":"blockquote","content":[{"type":"codeBlock","content":[{"type":"text","text":"` + strings.Repeat(`a\n`, 1_000_000) + `"}]}]}`),
		"many marks":   inline(strings.Repeat(text(" ", "strong")+","+text(" ", "em")+",", 20000) + text("x")),
		"many texts":   inline(strings.Repeat(text("x")+",", 50000) + text("x")),
		"many lists":   doc(strings.Repeat(`{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"rule"}]}]},`, 20000) + `{"type":"rule"}`),
	} {
		if got := adf.Markdown([]byte(raw)); len(got) > 35*len(raw) {
			t.Errorf("%s: %d bytes became %d", name, len(raw), len(got))
		}
	}
}

// Levels of quotes do not multiply a long text.
func TestNestedIsLimited(t *testing.T) {
	t.Parallel()
	raw := doc(strings.Repeat(`{"type":"blockquote","content":[`, 28) + `{"type":"codeBlock","content":[{"type":"text","text":"` + strings.Repeat(`a\n`, 60_000) + `"}]}` + strings.Repeat(`]}`, 28))
	if got := adf.Markdown([]byte(raw)); len(got) > 200_000 {
		t.Errorf("%d bytes became %d", len(raw), len(got))
	}
}

var kinds = []string{
	"paragraph", "heading", "bulletList", "orderedList", "listItem", "taskList", "taskItem", "blockTaskItem", "decisionList", "decisionItem", "codeBlock",
	"blockquote", "panel", "expand", "nestedExpand", "table", "tableRow", "tableHeader", "tableCell", "mediaSingle", "mediaGroup", "caption",
	"layoutSection", "layoutColumn", "bodiedExtension", "hologram", "doc", "",
}

// TestWordsSurvive builds documents that no editor would, and looks for every
// word in its place.
func TestWordsSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var words []string
		var node func(depth int) string
		nodes := func(depth, n int) string {
			var out []string
			for range n {
				out = append(out, node(depth))
			}
			return strings.Join(out, ",")
		}
		node = func(depth int) string {
			if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
				word := "w" + rapid.StringMatching(`[a-z]{3}`).Draw(t, "word") + "w"
				words = append(words, word)
				marks := rapid.SliceOfN(rapid.SampledFrom([]string{"strong", "em", "strike", "code", "underline", link("https://e.x")}), 0, 3).Draw(t, "marks")
				return text(rapid.SampledFrom([]string{"", " ", `\n`, "*", "#", "- ", "> ", "[", "1. "}).Draw(t, "before")+word, marks...)
			}
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			return `{"type":"` + kind + `","attrs":{"state":"DONE","order":2,"level":3,"rowspan":2,"colspan":2},"content":[` + nodes(depth-1, rapid.IntRange(0, 3).Draw(t, "n")) + `]}`
		}
		raw := doc(nodes(5, 3))
		got := adf.Markdown([]byte(raw))
		rest := got
		for _, w := range words {
			_, after, ok := strings.Cut(rest, w)
			if !ok {
				t.Fatalf("%s is missing or out of place\n%s\n%s", w, raw, got)
			}
			rest = after
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	everything, err := os.ReadFile("testdata/everything.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(everything)
	for _, s := range []string{`null`, `"x"`, para("*a*\x1b[31m"), inline(text("a", link("javascript:x"))), doc(`{"type":"table","content":[{"content":[{"attrs":{"colspan":9,"rowspan":9}}]},{"content":[{}]}]}`)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := adf.Markdown(raw)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if clean := cleantext.Block(got); clean != got {
			t.Fatalf("%q is not clean", got)
		}
		if len(got) > 100*len(raw) {
			t.Fatalf("%d bytes became %d", len(raw), len(got))
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	raw, err := os.ReadFile("testdata/everything.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		adf.Markdown(raw)
	}
}
