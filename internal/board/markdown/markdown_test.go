package markdown_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/board/markdown"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"**Keep** the *session*":                "<p><strong>Keep</strong> the <em>session</em></p>\n",
		"# Why":                                 "<h4>Why</h4>\n",
		"- a\n- b":                              "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"`a<b`":                                 "<p><code>a&lt;b</code></p>\n",
		"[docs](https://example.com/a)":         `<p><a href="https://example.com/a" rel="nofollow noreferrer noopener" target="_blank">docs</a></p>` + "\n",
		"![shot](https://evil.example/x.png)":   `<p><a href="https://evil.example/x.png" rel="nofollow noreferrer noopener" target="_blank">shot</a></p>` + "\n",
		"[x](javascript:alert(1))":              "<p>x</p>\n",
		"[x](/board/secret)":                    "<p>x</p>\n",
		"[x](https://github.com@evil.example/)": "<p>x</p>\n",
		"*":                                     "<ul>\n<li></li>\n</ul>\n",
		"plain\x1b[31m red":                     "<p>plain red</p>\n",
		"a\\*b\\* &copy; &#65; &nosuch; \\q &":  "<p>a*b* © A &amp;nosuch; \\q &amp;</p>\n",
		"\\&lt; &#38;lt; &amp;lt;":              "<p>&amp;lt; &amp;lt; &amp;lt;</p>\n",
		"a&#8203;b&ZeroWidthSpace;c&shy;d&#0;e": "<p>abcde</p>\n",
		"a&#x202e;b&#27;[31mc&#9;d&nbsp;e":      "<p>ab[31mc\td\u00a0e</p>\n",
		"a <b>c</b>":                            "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n",
		"<!-- told to\nagents -->":              "<p>&lt;!-- told to\nagents --&gt;</p>\n",
		"3. a\n4. b":                            "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n",
		"a  \nb\nc":                             "<p>a<br>\nb\nc</p>\n",
		"```go\nif a < b\n```":                  "<pre><code>if a &lt; b\n</code></pre>\n",
		"| a | b |\n|---|:-:|\n| 1 | <i> |":     "<pre>| a | b |\n|---|:-:|\n| 1 | &lt;i&gt; |</pre>\n",
		"- [ ] ~~x~~":                           "<ul>\n<li>[ ] ~~x~~</li>\n</ul>\n",
		"[![x](https://a.example/i)](https://b.example)": `<p>` + link("https://b.example", "x") + "</p>\n",
		"![](https://a.example/i)":                       `<p>` + link("https://a.example/i", "image") + "</p>\n",
		"<me@example.com>":                               `<p>` + link("mailto:me@example.com", "me@example.com") + "</p>\n",
		"See https://a.example/x_y_z?a=1&b=(2). (https://b.example/c) xhttps://c.example": `<p>See ` +
			link("https://a.example/x_y_z?a=1&amp;b=(2)", "https://a.example/x_y_z?a=1&amp;b=(2)") + ". (" +
			link("https://b.example/c", "https://b.example/c") + ") xhttps://c.example</p>\n",
		"https://?!": "<p>https://?!</p>\n",
	} {
		if got, cut := markdown.HTML(source); string(got) != want || cut {
			t.Errorf("%q\n got %q\nwant %q", source, got, want)
		}
	}
}

func link(to, text string) string {
	return `<a href="` + to + `" rel="nofollow noreferrer noopener" target="_blank">` + text + `</a>`
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

// attributes are the attributes that each element may have.
var attributes = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "ul": nil, "ol": {"start"}, "li": nil,
	"pre": nil, "code": nil, "em": nil, "strong": nil, "a": {"href", "rel", "target"},
}

// safe reports what must not be in a page, as a browser reads it: an element or attribute that
// is not allowed, an address that is not of the web or of mail, a link in a link, a comment,
// and an element that does not end, or that ends outside.
func safe(t interface {
	Helper()
	Errorf(format string, args ...any)
}, source, got string) {
	t.Helper()
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(got))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		token := tokens.Token()
		allowed, known := attributes[token.Data]
		switch kind {
		case html.TextToken:
			continue
		case html.StartTagToken:
			if !known || token.Data == "a" && slices.Contains(open, "a") {
				t.Errorf("%q gives <%s> in %v", source, token.Data, open)
			}
			for _, a := range token.Attr {
				if !slices.Contains(allowed, a.Key) || a.Key == "href" && !leadsOut(a.Val) {
					t.Errorf("%q gives %s=%q in <%s>", source, a.Key, a.Val, token.Data)
				}
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Errorf("%q closes <%s> in %v", source, token.Data, open)
				return
			}
			open = open[:len(open)-1]
		default:
			t.Errorf("%q gives %v", source, token)
		}
	}
	if len(open) > 0 {
		t.Errorf("%q does not close %v", source, open)
	}
}

// leadsOut reports whether an address is complete, and of the web or of mail.
func leadsOut(address string) bool {
	u, err := url.Parse(address)
	return err == nil && ((u.Scheme == "http" || u.Scheme == "https") && u.Host != "" || u.Scheme == "mailto") &&
		!strings.ContainsAny(address, "\\ \t\n\"'<>")
}

// Pieces of Markdown and HTML in any order give a safe page.
func TestAnyTextIsSafe(t *testing.T) {
	t.Parallel()
	pieces := append([]string{
		"<", ">", "\"", "'", "&", "\\", "`", "```", "*", "**", "_", "[", "]", "(", ")", "![", "](", "!", "#", "- ", "1. ", "> ", "|", "\n", "\n\n", "    ", "\t", " ",
		"javascript:", "&#x6a;avascript:", "data:text/html,", "https://a.example", "http://", "mailto:a@b.example", "//a.example", "/", "@", ":", "%0a", "%22", "\x00", "ü", "\u2028",
		"<script>", "</p>", "</div>", "<a href=x>", "<!--", "-->", "<?", "<![CDATA[", "]]>", "onload=x", "style=x", "[a]: ", "|---|", "---", "~~", "&lt;", "&quot;", "&#34;", "&NewLine;",
	}, hostile...)
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 24).Draw(t, "pieces"), "")
		got, _ := markdown.HTML(source)
		safe(t, source, string(got))
	})
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

// A text whose parsing would take quadratic time appears as its source, and an ordinary long one
// does not.
func TestNested(t *testing.T) {
	t.Parallel()
	for _, deep := range []string{"> ", "[a](", "1. ", "- ", ">", "![", "1) - > ", "*a_ ", "a**b_", "-[[[[[[[[\n", "x\n    - [[\n", "> *a_\n"} {
		if got, _ := markdown.HTML(strings.Repeat(deep, 20_000)); !strings.HasPrefix(string(got), "<pre>") {
			t.Errorf("%q is parsed", deep)
		}
	}
	for _, ordinary := range []string{"- [ ] a task with a [link](https://example.com)\n", "[a](https://example.com) text\n\n", "> > quoted\n> once\n\n", "1. one\n   - two\n", "*a* and **b** and _c_\n\n", "- *a* and **b**\n"} {
		if got, _ := markdown.HTML(strings.Repeat(ordinary, 1000)); strings.HasPrefix(string(got), "<pre>") {
			t.Errorf("%q appears as its source", ordinary)
		}
	}
}

func TestLongText(t *testing.T) {
	t.Parallel()
	if got, cut := markdown.HTML(strings.Repeat("ü", markdown.MaxText)); !cut || len(got) > markdown.MaxText+20 || !strings.Contains(string(got), "ü…") {
		t.Errorf("%d bytes, cut %v", len(got), cut)
	}
	for _, deep := range []string{strings.Repeat("> ", 20000), strings.Repeat("[", 60000), strings.Repeat("*a ", 20000), strings.Repeat("- ", 20000),
		"https://a" + strings.Repeat(")", 60000), strings.Repeat("(https://", 6000), strings.Repeat("&", 60000)} {
		markdown.HTML(deep)
	}
}

// Formatting does not put a secret together. Other text keeps its formatting.
func TestRedacted(t *testing.T) {
	t.Parallel()
	const word = "ghp_Zk9fjQ2mVx7LpT4wRb8Nc"
	redact := func(text string) string { return strings.ReplaceAll(text, word, "[redacted]") }
	for _, source := range []string{
		"ghp_Zk9f`jQ2m`Vx7LpT4wRb8Nc", "**ghp_Zk9f**jQ2mVx7LpT4wRb8Nc", "ghp_Zk9fjQ2m*Vx7*LpT4wRb8Nc", "[ghp_Zk9f](https://x.example)jQ2mVx7LpT4wRb8Nc",
		"ghp_Zk9fjQ2m[](https://x.example)Vx7LpT4wRb8Nc", "![ghp_Zk9f](https://x.example/a.png)jQ2mVx7LpT4wRb8Nc", "# ghp_Zk9f`jQ2mVx7LpT4wRb8Nc`", "ghp\\_Zk9fjQ2mVx7LpT4wRb8Nc",
		"ghp&#95;Zk9fjQ2mVx7LpT4wRb8Nc", "> - ghp_Zk9fj__Q2m__Vx7LpT4wRb8Nc *ghp_*Zk9fjQ2mVx7LpT4wRb8Nc", word,
	} {
		page, _ := markdown.Redacted(source, redact)
		text := html.UnescapeString(regexp.MustCompile("<[^>]*>").ReplaceAllString(string(page), ""))
		if strings.Contains(text, word) {
			t.Errorf("%s shows it: %s", source, page)
		}
	}
	for _, source := range []string{"*a* `b`", "ghp_Zk9f *a*"} {
		page, cut := markdown.Redacted(source, redact)
		if want, _ := markdown.HTML(source); page != want || cut {
			t.Errorf("%s: %s, want %s", source, page, want)
		}
	}
}
