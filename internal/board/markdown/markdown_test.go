package markdown_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/board/markdown"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"**Keep** the *session*":              "<p><strong>Keep</strong> the <em>session</em></p>\n",
		"# Why":                               "<h4>Why</h4>\n",
		"- a\n- b":                            "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"`a<b`":                               "<p><code>a&lt;b</code></p>\n",
		"[docs](https://example.com/a)":       `<p><a href="https://example.com/a" rel="nofollow noreferrer noopener" target="_blank">docs</a></p>` + "\n",
		"![shot](https://evil.example/x.png)": `<p><a href="https://evil.example/x.png" rel="nofollow noreferrer noopener" target="_blank">shot</a></p>` + "\n",
		"[x](javascript:alert(1))":            "<p>x</p>\n",
		"[x](/board/secret)":                  "<p>x</p>\n",
		"plain\x1b[31m red":                   "<p>plain red</p>\n",
	} {
		if got, cut := markdown.HTML(source); string(got) != want || cut {
			t.Errorf("%q\n got %q\nwant %q", source, got, want)
		}
	}
}

// Whatever a stranger writes, nothing runs, nothing is loaded, and nothing leads back into
// the page.
func TestStrangersText(t *testing.T) {
	t.Parallel()
	for _, source := range hostile {
		got, _ := markdown.HTML(source)
		safe(t, source, string(got))
	}
}

var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=https://evil.example></iframe>",
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](data:text/html,<script>alert(1)</script>)", "[a](vbscript:x)",
	"[a](&#106;avascript:alert(1))", "[a](java\nscript:alert(1))", "![a](javascript:alert(1))", "![](https://evil.example/p.png)",
	"<a href=javascript:alert(1)>x</a>", "<style>*{display:none}</style>", "<form action=items/1/delete method=post><button>x</button></form>",
	"[a]: javascript:alert(1)\n\n[a]", "<https://evil.example/?\"onmouseover=alert(1)>", "<javascript:alert(1)>", "```\" onload=alert(1)\nx\n```",
	"| a |\n|---|\n| <img src=x> |", "<base href=https://evil.example>", "<meta http-equiv=refresh content=0>", "[x](https://a\"onclick=alert(1))",
	"[![x](https://evil.example/i.png)](https://evil.example)", "<input name=csrf>", "a <!-- <img src=x> --> b", "&lt;script&gt;alert(1)&lt;/script&gt;",
}

// safe reports what must not be in a page.
func safe(t *testing.T, source, got string) {
	t.Helper()
	lower := strings.ToLower(got)
	for _, tag := range []string{"<script", "<img", "<svg", "<iframe", "<style", "<form", "<input", "<button", "<base", "<meta", "<object", "<link"} {
		if strings.Contains(lower, tag) {
			t.Errorf("%q gives %q", source, got)
		}
	}
	for part := range strings.SplitSeq(lower, "<") {
		tag, _, _ := strings.Cut(part, ">")
		if strings.Contains(tag, " on") || strings.Contains(tag, "href=") && !strings.Contains(tag, `href="http`) && !strings.Contains(tag, `href="mailto:`) {
			t.Errorf("%q gives <%s>", source, tag)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, source := range hostile {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, _ := markdown.HTML(source)
		safe(t, source, string(got))
	})
}

func TestLongText(t *testing.T) {
	t.Parallel()
	if got, cut := markdown.HTML(strings.Repeat("ü", markdown.MaxText)); !cut || len(got) > markdown.MaxText+20 {
		t.Errorf("%d bytes, cut %v", len(got), cut)
	}
	for _, deep := range []string{strings.Repeat("> ", 20000), strings.Repeat("[", 60000), strings.Repeat("*a ", 20000), strings.Repeat("- ", 20000)} {
		markdown.HTML(deep)
	}
}
