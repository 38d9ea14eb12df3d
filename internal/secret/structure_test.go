package secret_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/secret"
)

// kept returns the characters of a text that make its structure, and the blanks that begin a line.
func kept(text, structure string) string {
	var b strings.Builder
	line := true
	for _, c := range text {
		blank := line && (c == ' ' || c == '\t') && strings.Contains(structure, "\n")
		if line = c == '\n' || blank; blank || strings.ContainsRune(structure, c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// A repository's git configuration chooses some of the secrets, so removing one must not remove what
// separates copse's own words from other texts.
func TestStructureRemains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ secret, text, want string }{
		{"\u200b      evil text", "Description:\n\n      evil text## Work items\n", "Description:\n\n      [redacted]## Work items\n"},
		{"feature1`", "- `feature1` and `two`", "- `[redacted]` and `two`"},
		{"Description:\n\n    first", "Description:\n\n    first line\n", "[redacted]\n\n    [redacted] line\n"},
		{"first\n## second", "first\n## second third", "[redacted]\n[redacted] third"},
	} {
		if got := known("", tt.secret).Redact(tt.text); got != tt.want {
			t.Errorf("%q without %q is %q", tt.text, tt.secret, got)
		}
	}
	for _, tt := range []struct{ secret, text, want string }{
		{`x" title="`, `<a href="x" title="on">`, `<a href="x" title="on">`},
		{`class="mono">`, `<b class="mono">a href=x</b>`, `<b class="mono">a href=x</b>`},
		{"aria-label=", `<b aria-label="a onclick=b">aria-label=</b>`, `<b aria-label="a onclick=b">[redacted]</b>`},
		{"12345678", `<b title="12345678 &gt;">a 12345678</b>`, `<b title="[redacted] &gt;">a [redacted]</b>`},
		{`p"a<b>cde'f`, `<i>p&#34;a&lt;b&gt;cde&#39;f</i>`, `<i>[redacted]</i>`},
	} {
		if got := known("", tt.secret).HTML(tt.text); got != tt.want {
			t.Errorf("%q without %q is %q", tt.text, tt.secret, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.StringOfN(rapid.SampledFrom([]rune("ab`\n \t<>\"'…\u200b%2&;")), 0, 40, -1)
		text := some.Draw(t, "text")
		known := secret.New(nil)
		for range rapid.IntRange(1, 3).Draw(t, "secrets") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			known.Add(text[from:rapid.IntRange(from, len(text)).Draw(t, "to")])
			known.Add(rapid.SampledFrom([]string{`<a title=`, `a" href='x'>`, `title="a`, "</a>", `" href='x`}).Draw(t, "tag"))
			known.Add(some.Draw(t, "secret"))
		}
		if got := known.Redact(text); kept(got, "\n`") != kept(text, "\n`") {
			t.Fatalf("%q became %q", text, got)
		}
		page := `<a title="` + html.EscapeString(text) + `" href='x'>` + html.EscapeString(text) + `</a>`
		if got := known.HTML(page); tags(got) != tags(page) {
			t.Fatalf("%q became %q", page, got)
		}
	})
}

// tags returns HTML without its text and the values of its attributes.
func tags(page string) string {
	return regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1), ""), `""`)
}
