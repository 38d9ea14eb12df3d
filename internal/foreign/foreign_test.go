package foreign_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/test/mdshape"
)

func TestSpell(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"feature/login":       "feature/login",
		"Ünïcode 中文 👨\u200d👩": "Ünïcode 中文 👨\u200d👩",
		"":                    `""`,
		"a b":                 "a b",
		" a":                  `" a"`,
		"a ":                  `"a "`,
		"a`b":                 `"a\u0060b"`,
		"a\u202eb":            `"a\u202eb"`,
		"a\u200bb":            `"a\u200bb"`,
		"a\nb\tc\rd":          `"a\nb\tc\u000dd"`,
		"\x1b[31mred":         `"\u001b[31mred"`,
		`"a\u202eb"`:          `"\"a\\u202eb\""`,
		`a\b"c`:               `a\b"c`,
		"tag\U000e0041":       `"tag\udb40\udc41"`,
		"bad\xff":             `"bad\ufffd"`,
	} {
		if got := foreign.Spell(name); got != want {
			t.Errorf("Spell(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	l := foreign.Own("Branch: ").Name("x").Own(", ").Int(3).Own(" ahead, ").Known("open", "open", "closed").Own(" ").Known("ready](x)", "open")
	if got, want := l.Markdown(), "Branch: `x`, 3 ahead, open `ready](x)`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := l.Plain(), "Branch: x, 3 ahead, open ready](x)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := foreign.Own("by: ").By("octocat", foreign.StandingOf("MEMBER")).Markdown(), "by: by `octocat` (member)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for words, want := range map[string]string{"3 min ago": "x 3 min ago", "1.5s": "x 1.5s", "[a](b)": "x `[a](b)`", "a\nb": "x `\"a\\nb\"`"} {
		if got := foreign.Own("x ").Word(words).Markdown(); got != want {
			t.Errorf("Word(%q): got %s, want %s", words, got, want)
		}
	}
	base := foreign.Own("a")
	one, two := base.Own("b"), base.Own("c")
	if one.Markdown() != "ab" || two.Markdown() != "ac" {
		t.Errorf("lines share their ends: %s, %s", one.Markdown(), two.Markdown())
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 50) + "x"
	line := foreign.Name(long).Own(" by ").Name("octocat").Own(" (").Name(long).Own("), checks failing")
	cut := line.Cut(150).Plain()
	if n := utf8.RuneCountInString(cut); n > 150 || n < 148 {
		t.Errorf("%d characters: %s", n, cut)
	}
	if !strings.HasPrefix(cut, "long long") || !strings.Contains(cut, "… by octocat (long") || !strings.HasSuffix(cut, "…), checks failing") {
		t.Errorf("got %s", cut)
	}
	if got := line.Cut(10).Markdown(); strings.Count(got, "`long long long") != 2 || !strings.HasSuffix(got, "), checks failing") {
		t.Errorf("got %s", got)
	}
	if got := line.Cut(10_000).Plain(); got != line.Plain() {
		t.Errorf("got %s", got)
	}
	if got := foreign.Quoted(long).Cut(60).Markdown(); !strings.HasPrefix(got, "    long") || utf8.RuneCountInString(got) > 64 {
		t.Errorf("got %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	lines := []foreign.Line{foreign.Own("## Ours"), {}, foreign.Own("The log:")}
	lines = append(lines, foreign.Quote("\n## Work items\n\n```\nrm\t-rf\x1b[31m\n")...)
	lines = append(lines, foreign.Own("Ours again"))
	want := "## Ours\n\nThe log:\n\n    ## Work items\n\n    ```\n    rm    -rf\nOurs again\n"
	if got := foreign.Markdown(lines); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestNotice(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"File not found: a.txt":             "File not found: a.txt",
		"#7: it is merged":                  "#7: it is merged",
		"--yes does it":                     "--yes does it",
		"`just` is not installed":           "`just` is not installed",
		"file \"a\n## b\tc\x1b[31m\u202e\"": `file "a ## b c"`,
		"# b":                               "Message: `# b`",
		"- b":                               "Message: `- b`",
		"***":                               "Message: `***`",
		"12. b":                             "Message: `12. b`",
		"```sh":                             "Message: `\"\\u0060\\u0060\\u0060sh\"`",
		"<div> b":                           "Message: `<div> b`",
		"[b]: http://c":                     "Message: `[b]: http://c`",
		"":                                  "",
	} {
		if got := foreign.Notice(message); got != want {
			t.Errorf("Notice(%q) = %s, want %s", message, got, want)
		}
	}
	long := foreign.Notice("It is wrong: " + strings.Repeat("long ", 10_000) + "; do something else")
	if n := utf8.RuneCountInString(long); n > 4000 || !strings.HasPrefix(long, "It is wrong: long") || !strings.HasSuffix(long, "; do something else") {
		t.Errorf("%d characters: %s", n, long)
	}
}

// A cut does not take the quotation marks from what is quoted, wherever it is.
func TestNoticeCutsQuotations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const stranger = "zqx"
		words := func(label string) string {
			return strings.Repeat("zqx", rapid.IntRange(0, 200).Draw(t, label)) + hostile().Draw(t, label+" hostile") +
				strings.Repeat(rapid.SampledFrom([]string{"zqx", `zqx"`, "zqx\\", `"zqx `, "zqx\u202e"}).Draw(t, label+" piece"), rapid.IntRange(0, 200).Draw(t, label+" more"))
		}
		message := fmt.Sprintf("It is %q, and %q, %s", words("first"), words("second"), foreign.Mention(words("third")+" ", "x "))
		message += strings.Repeat(" more", rapid.IntRange(0, 60).Draw(t, "own words"))
		got := foreign.Own("Warning: ").Notice(message).Markdown()
		for i, part := range strings.Split(got, "`") {
			if i%2 == 0 && strings.Contains(part, stranger) {
				t.Fatalf("%q is unmarked in %q", part, got)
			}
		}
	})
}

func TestMention(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"":                                   nil,
		"items/1.md":                         {"items/1.md"},
		`todo, "in progress"`:                {"todo", "in progress"},
		`"", "a\u202eb", "a\"b"`:             {"", "a\u202eb", `a"b`},
		`"` + strings.Repeat("a-", 17) + `"`: {strings.Repeat("a-", 17)},
	} {
		if got := foreign.Mention(names...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An error or a warning is one paragraph on one line, whatever is in it and wherever.
func TestNoticeIsALine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := hostile().Draw(t, "text")
		for _, message := range []string{text, "There is no file " + text + "; look again", text + " is wrong"} {
			got := foreign.Notice(message)
			if strings.Contains(got, "\n") || cleantext.Line(got) != got {
				t.Fatalf("%q is not one line, or not clean", got)
			}
			blocks := 0
			for line := range strings.Lines(mdshape.Of("Before.\n\n" + got + "\n\nAfter.\n")) {
				if depth := len(line) - len(strings.TrimLeft(line, " ")); depth == 1 {
					if blocks++; strings.TrimSpace(line) != "Paragraph" {
						t.Fatalf("%q begins a block: %s", got, line)
					}
				}
			}
			if want := 3; blocks != want && (got != "" || blocks != want-1) {
				t.Fatalf("%q has %d blocks around it", got, blocks)
			}
		}
	})
}

// hostile draws text that means something to Markdown, or that copse writes itself.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"a", " ", "    ", "\t", "\n", "\n\n", "\r", "`", "```", "~~~", "#", "## Work items", "- ", "1. ", "> ", "---", "===", "|", "a|b\n-|-\n",
		"*", "_", "[x](http://y)", "[x]: y", "![", "<div>", "<!--", "-->", "<a href='", "http://x.y", "www.x.y", "&#35;", "\\", "\"", "'",
		"\x00", "\x1b[31m", "\u202e", "\u200b", "\u2028", "\u0085", "\v", "\xff", "\U000e0041", "Root: /", "… 3 more lines",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
	})
}

// document writes each kind of line twice, with foreign text of a function's choice.
func document(kinds []int, text func(i int) string, cut int) string {
	var lines []foreign.Line
	for i, kind := range kinds {
		switch kind {
		case 0:
			lines = append(lines, foreign.Own("## Ours"), foreign.Line{})
		case 1:
			lines = append(lines, foreign.Own("Branch: ").Name(text(i)).Own(" (").Word("["+text(i)).Own("), ").Known(text(i), "open").Cut(cut))
		case 2:
			lines = append(lines, foreign.Name(text(i)).Own(": ").By(text(i), foreign.Unknown))
		case 3:
			lines = append(append(lines, foreign.Own("Log:")), foreign.Quote("x"+text(i)+"\n"+text(i))...)
		case 4:
			lines = append(lines, foreign.Own("- type: ").Name(text(i)))
		case 5:
			lines = append(lines, foreign.Own("# #").Int(i).Own(" ").Name(text(i)))
		case 6:
			lines = append(lines, foreign.Line{}, foreign.Own("Description:"), foreign.Quoted("x"+text(i)))
		}
	}
	return foreign.Markdown(lines)
}

// No foreign text makes a heading, a fence, a list, or a line of ours.
func TestStructureIsOurs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(t, "kinds")
		texts := rapid.SliceOfN(rapid.OneOf(hostile(), rapid.String()), len(kinds), len(kinds)).Draw(t, "texts")
		checkStructure(t, kinds, func(i int) string { return texts[i] })
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkStructure(t fataler, kinds []int, text func(int) string) {
	harmless := func(int) string { return "[harmless]" } // Word shows it as a name
	const uncut = 1 << 20
	attacked := document(kinds, text, uncut)
	want := document(kinds, harmless, uncut)
	if got, want := mdshape.Of(attacked), mdshape.Of(want); got != want {
		t.Fatalf("the structure of\n%s\nis\n%s\nwant\n%s", attacked, got, want)
	}
	if got, want := mdshape.Lines(attacked), mdshape.Lines(want); got != want {
		t.Fatalf("the lines of\n%s\nare\n%s\nwant\n%s", attacked, got, want)
	}
	if clean := cleantext.Block(attacked); clean != attacked {
		t.Fatalf("%q has invisible characters", attacked)
	}
}

// A name that was cut is still marked.
func TestCutStructure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := hostile().Draw(t, "text")
		cut := foreign.Own("a ").Name(text).Own(" b").Cut(rapid.IntRange(4, 60).Draw(t, "n")).Markdown()
		if got, want := mdshape.Of(cut), mdshape.Of("a `x` b"); got != want {
			t.Fatalf("the structure of %q is\n%s", cut, got)
		}
	})
}

// A spelling is read back as the name it is of, and no two names have the same one.
func TestSpellIsUnambiguous(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(hostile(), rapid.String()).Draw(t, "name")
		checkSpell(t, name)
	})
}

func checkSpell(t fataler, name string) {
	spelled := foreign.Spell(name)
	if strings.Contains(spelled, "`") || cleantext.Line(spelled) != spelled {
		t.Fatalf("Spell(%q) = %q", name, spelled)
	}
	if !utf8.ValidString(name) {
		return // JSON has no form for it
	}
	if read, quoted := foreign.Unspell(spelled); quoted && read != name || !quoted && spelled != name {
		t.Fatalf("Spell(%q) = %q, which is read as %q (quoted: %v)", name, spelled, read, quoted)
	}
	if spelled != name && !json.Valid([]byte(spelled)) {
		t.Fatalf("Spell(%q) = %q is no JSON", name, spelled)
	}
}

func FuzzForeign(f *testing.F) {
	f.Add("## Work items\n```\n- [x](y)")
	f.Add("\"a\\u202eb\"\u202e`")
	f.Fuzz(func(t *testing.T, text string) {
		checkSpell(t, text)
		checkStructure(t, []int{0, 1, 2, 3, 4, 5, 6, 3, 1}, func(int) string { return text })
	})
}

// A message in a line stays in its paragraph, keeps its end, and quotes no words of copse.
func TestNoticeInLine(t *testing.T) {
	t.Parallel()
	line := foreign.Own("Unavailable: ").Notice("`just` is\nnot installed")
	if got, want := line.Markdown(), "Unavailable: `just` is not installed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	line = foreign.Own("Unavailable: ").Notice(`branches["call ` + "`deploy`" + `, [now](x)"] and "cut`)
	if got, want := line.Markdown(), "Unavailable: branches[`\"call \\u0060deploy\\u0060, [now](x)\"`] and `cut`"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := foreign.Own("Unavailable: ").Notice(strings.Repeat("long ", 1000) + "; do something else").Markdown()
	if n := utf8.RuneCountInString(long); n > 520 || !strings.HasSuffix(long, "; do something else") {
		t.Errorf("%d characters: %s", n, long)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := foreign.Own("Unavailable: ").Notice(hostile().Draw(t, "text"))
		got := foreign.Markdown([]foreign.Line{foreign.Own("## Before"), {}, line, {}, foreign.Name("after")})
		var blocks []string
		for node := range strings.Lines(mdshape.Of(got)) {
			if strings.HasPrefix(node, " ") && !strings.HasPrefix(node, "  ") {
				blocks = append(blocks, strings.TrimSpace(node))
			}
		}
		if !slices.Equal(blocks, []string{"Heading", "Paragraph", "Paragraph"}) {
			t.Fatalf("%q has the blocks %v", got, blocks)
		}
	})
}

// The words of a title keep their reading: only a name must be exact.
func TestProse(t *testing.T) {
	t.Parallel()
	if got, want := foreign.Own("- ").Prose("Add `x`, ``y``").Markdown(), "- `Add 'x', ''y''`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := foreign.Prose("a\u202eb`").Markdown(), "`\"a\\u202eb'\"`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHiddenIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"# A\r\n\n\tplain 中文　text": "",
		"👩\u200d💻 ❤\ufe0f می\u200cخواهم": "",
		"a\u202eb\u200bc\u202e":          "U+202E, U+200B",
		"👩\u200d💻 a\u200db":              "U+200D",
		"\x1b[2J\u009b31m\rx":            "U+001B, U+009B, U+000D",
		"run\U000e0072\U000e006d":        "U+E0072, U+E006D",
		"\xff\ufffd":                     "bytes that are not UTF-8",
		"\u2028":                         "U+2028",
	} {
		if got := foreign.HiddenIn(text); got != want {
			t.Errorf("HiddenIn(%q) = %q, want %q", text, got, want)
		}
	}
	var many strings.Builder
	for r := rune(0xe0001); r < 0xe0080; r++ {
		many.WriteRune(r)
	}
	if got := foreign.HiddenIn(many.String()); !strings.HasSuffix(got, "U+E0014, and 107 more") {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		hidden := cleantext.Block(text) != strings.ReplaceAll(text, "\r\n", "\n")
		if got := foreign.HiddenIn(text); (got != "") != hidden {
			t.Fatalf("HiddenIn(%q) = %q", text, got)
		}
	})
}

// A path or a name of a branch is plain, or in quotation marks that it cannot close.
func TestPathsAndBranches(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("dir/", 20) + "file.go"
	for got, want := range map[string]string{
		foreign.Path(long):              long,
		foreign.Path("a b"):             `"a b"`,
		foreign.Path(`"a\nb"`):          `"a\nb"`, // as it is spelled
		foreign.Path("\"a\u202eb\""):    `"\"a\u202eb\""`,
		foreign.Path(`"a" b "c"`):       `"\"a\" b \"c\""`,
		foreign.Mention("\"a\u202eb\""): `"\"a\u202eb\""`,
		foreign.Branch("feature/x"):     `'feature/x'`,
		foreign.Branch("x' is 'y"):      `"x' is 'y"`,
		foreign.Branch("x\u202ey"):      `"x\u202ey"`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A message quotes the names of a line that are more than one plain word, once.
func TestMessage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main":                 `on main.`,
		"do what I say":        `on "do what I say".`,
		"a\u202eb":             `on "a\u202eb".`,
		`"do what I say", now`: `on "\"do what I say\", now".`,
	} {
		if got := foreign.Own("on ").Name(name).Own(".").Message(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
