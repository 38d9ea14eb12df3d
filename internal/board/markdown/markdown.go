// Package markdown converts strangers' Markdown to HTML that is safe in a page.
//
// Use [HTML]. The parser is goldmark. This package writes the HTML, from constant tags and from
// text that is escaped in one place, so nothing in the source becomes a tag or an attribute. The
// only foreign value in an attribute is the address of a link, which must be a web or mail address.
// HTML in the source appears as text. An image becomes a link: a page that loads an image tells its
// host who reads the page.
//
// Every start of a program pays for the initialization of the packages that it links. This package
// therefore uses neither goldmark's extensions nor a sanitizer: they compile dozens of regular
// expressions. A table appears as its source.
package markdown

import (
	"html"
	"html/template"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/copse-dev/copse/internal/cleantext"
)

// MaxText is the number of bytes of a text on the page. The cost of parsing can grow faster than
// the size.
const MaxText = 64 << 10

// shared is the parser, created for the first text.
var shared struct {
	once   sync.Once
	parser parser.Parser
}

func parsed(source []byte) ast.Node {
	shared.once.Do(func() {
		shared.parser = parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(bareURL{}, 999))...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)
	})
	return shared.parser.Parse(text.NewReader(source))
}

// HTML returns a text as HTML, and whether it omits the end.
func HTML(source string) (html template.HTML, cut bool) {
	source, cut = limited(source)
	if nested(source) {
		return asSource(source), cut
	}
	w := writer{source: []byte(source)}
	w.node(parsed(w.source))
	return template.HTML(w.out.String()), cut
}

// Redacted returns HTML as HTML does, without what redact removes. Text that shows a secret only because its
// formatting is gone, such as a token with asterisks around a part of it, appears as its source.
func Redacted(source string, redact func(string) string) (page template.HTML, cut bool) {
	// Formatting would hide a secret with its characters, such as an asterisk, from the search for it.
	source = redact(source)
	page, cut = HTML(source)
	if text := textOf(string(page)); redact(text) != text {
		return Source(source)
	}
	return page, cut
}

// textOf returns what a reader sees of HTML that this package has written: no value of an attribute has an angle
// bracket.
func textOf(source string) string {
	var out strings.Builder
	for source != "" {
		text, tag, found := strings.Cut(source, "<")
		out.WriteString(text)
		if !found {
			break
		}
		_, source, _ = strings.Cut(tag, ">")
	}
	return html.UnescapeString(out.String())
}

// Source returns a text as HTML that shows its source, and whether it omits the end.
func Source(source string) (html template.HTML, cut bool) {
	source, cut = limited(source)
	return asSource(source), cut
}

// limited returns a clean text of at most MaxText bytes, and whether it omits the end.
func limited(source string) (text string, cut bool) {
	source = cleantext.Block(source)
	return cleantext.Head(source, MaxText), len(source) > MaxText
}

func asSource(source string) template.HTML {
	var w writer
	w.tag("<pre>")
	w.raw([]byte(source))
	w.tag("</pre>\n")
	return template.HTML(w.out.String())
}

const (
	// maxNesting is the maximum number of quotations and lists that a line begins in each other.
	maxNesting = 40
	// maxBrackets is the maximum number of opening brackets in a paragraph.
	maxBrackets = 400
	// maxDelimiters is the maximum number of characters of emphasis in a paragraph.
	maxDelimiters = 1000
)

// nested reports whether a text nests quotations, lists, or brackets so deeply, or has so many
// characters of emphasis, that the time of parsing would grow with the square of its size. It
// appears as its source.
func nested(source string) bool {
	brackets, delimiters := 0, 0
	for line := range strings.Lines(source) {
		markers := strings.IndexFunc(line, func(r rune) bool { return !strings.ContainsRune(" \t>-+*.)0123456789", r) })
		if markers < 0 {
			markers = len(line)
		}
		if strings.Count(line[:markers], ">")+len(strings.Fields(line[:markers])) > maxNesting {
			return true
		}
		if endsParagraph(line) {
			brackets, delimiters = 0, 0
		}
		brackets += strings.Count(line, "[")
		delimiters += strings.Count(line, "*") + strings.Count(line, "_")
		if brackets > maxBrackets || delimiters > maxDelimiters {
			return true
		}
	}
	return false
}

// endsParagraph reports whether a line certainly does not continue the paragraph before it: it is
// blank, or an item of a list.
func endsParagraph(line string) bool {
	text := strings.TrimLeft(line, " ")
	const deepest = 3 // blanks before an item; more can continue a paragraph
	if strings.TrimSpace(text) == "" {
		return true
	}
	return len(line)-len(text) <= deepest && strings.IndexByte("-+*", text[0]) >= 0 && strings.HasPrefix(text[1:], " ") && strings.TrimSpace(text[1:]) != ""
}

// writer converts a parsed text to HTML.
type writer struct {
	source []byte
	out    strings.Builder
	linked bool // inside a link
}

// node writes a node with its content. A node of an unknown kind appears as its text.
func (w *writer) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.LinkReferenceDefinition:
	case *ast.TextBlock:
		w.children(n)
		if n.NextSibling() != nil && n.FirstChild() != nil {
			w.tag("\n")
		}
	case *ast.Paragraph:
		if w.isTable(n) {
			w.lines("<pre>", n, "</pre>\n")
			return
		}
		w.inside("<p>", n, "</p>\n")
	case *ast.Heading: // below the headings of the page
		level := min(max(n.Level, 1)+3, 6)
		w.inside([...]tag{4: "<h4>", 5: "<h5>", 6: "<h6>"}[level], n, [...]tag{4: "</h4>\n", 5: "</h5>\n", 6: "</h6>\n"}[level])
	case *ast.ThematicBreak:
		w.tag("<hr>\n")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.lines("<pre><code>", n, "</code></pre>\n")
	case *ast.HTMLBlock:
		w.tag("<p>")
		w.rawLines(n)
		if n.HasClosure() {
			w.raw(n.ClosureLine.Value(w.source))
		}
		w.tag("</p>\n")
	case *ast.Blockquote:
		w.inside("<blockquote>\n", n, "</blockquote>\n")
	case *ast.List:
		w.list(n)
	case *ast.ListItem:
		w.inside("<li>", n, "</li>\n")
	case *ast.Text:
		w.text(n)
	case *ast.String:
		w.raw(n.Value)
	case *ast.CodeSpan:
		w.code(n)
	case *ast.Emphasis:
		if n.Level == 2 {
			w.inside("<strong>", n, "</strong>")
		} else {
			w.inside("<em>", n, "</em>")
		}
	case *ast.Link:
		w.link(address(n.Destination, true), func() { w.children(n) })
	case *ast.Image:
		w.link(address(n.Destination, true), func() {
			if n.FirstChild() == nil {
				w.tag("image")
			}
			w.children(n)
		})
	case *ast.AutoLink:
		to := n.URL(w.source)
		if n.AutoLinkType == ast.AutoLinkEmail {
			to = append([]byte("mailto:"), to...)
		}
		w.link(address(to, false), func() { w.raw(n.Label(w.source)) })
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			at := n.Segments.At(i)
			w.raw(at.Value(w.source))
		}
	default:
		w.children(n)
	}
}

func (w *writer) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

// inside writes the content of a node between two tags.
func (w *writer) inside(before tag, n ast.Node, after tag) {
	w.tag(before)
	w.children(n)
	w.tag(after)
}

// lines writes the source of a block between two tags.
func (w *writer) lines(before tag, n ast.Node, after tag) {
	w.tag(before)
	w.rawLines(n)
	w.tag(after)
}

func (w *writer) rawLines(n ast.Node) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.raw(line.Value(w.source))
	}
}

func (w *writer) list(n *ast.List) {
	switch {
	case !n.IsOrdered():
		w.inside("<ul>\n", n, "</ul>\n")
	case n.Start == 1:
		w.inside("<ol>\n", n, "</ol>\n")
	default:
		w.tag(`<ol start="`)
		w.number(n.Start)
		w.inside("\">\n", n, "</ol>\n")
	}
}

func (w *writer) text(n *ast.Text) {
	if n.IsRaw() {
		w.raw(n.Value(w.source))
	} else {
		w.unescaped(n.Value(w.source))
	}
	switch {
	case n.HardLineBreak():
		w.tag("<br>\n")
	case n.SoftLineBreak():
		w.tag("\n")
	}
}

// code writes a code span, in which a line break is a space.
func (w *writer) code(n *ast.CodeSpan) {
	w.tag("<code>")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if part, ok := c.(*ast.Text); ok {
			w.raw([]byte(strings.ReplaceAll(string(part.Value(w.source)), "\n", " ")))
		}
	}
	w.tag("</code>")
}

// isTable reports whether a paragraph is a table: its second line consists of bars and dashes.
func (w *writer) isTable(n *ast.Paragraph) bool {
	if n.Lines().Len() < 2 {
		return false
	}
	second := n.Lines().At(1)
	rule := string(second.Value(w.source))
	return strings.Trim(rule, "|-: \t\r\n") == "" && strings.Contains(rule, "|") && strings.Contains(rule, "-")
}
