// Package markdown turns Markdown that strangers wrote into HTML that is safe in a page.
//
// Use [HTML]. HTML in the text is shown as text or left out, links lead only to web and mail
// addresses, and nothing is loaded from another host: an image becomes a link to it. The
// parser is goldmark, and what it makes goes through the policy of bluemonday.
package markdown

import (
	"bytes"
	"html/template"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/copse-dev/copse/internal/cleantext"
)

// MaxText is how many bytes of a text are shown. What it costs to understand a text can grow
// faster than its size.
const MaxText = 64 << 10

// tools are what every text needs, made at the first one.
type tools struct {
	markdown goldmark.Markdown
	policy   *bluemonday.Policy
}

var shared = sync.OnceValue(func() tools {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "del",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return tools{
		markdown: goldmark.New(
			goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
			goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(plain{}, 1000))),
		),
		policy: p,
	}
})

// HTML returns a text as HTML, and whether its end was left out.
func HTML(source string) (html template.HTML, cut bool) {
	source = cleantext.Block(source)
	if len(source) > MaxText {
		source, cut = strings.ToValidUTF8(source[:MaxText], ""), true
	}
	t := shared()
	var b bytes.Buffer
	if t.markdown.Convert([]byte(source), &b) != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>"), cut
	}
	return template.HTML(t.policy.SanitizeReader(&b).String()), cut
}

// plain makes links of images, and puts headings below those of the page.
type plain struct{}

// Transform changes a text before it is rendered.
func (plain) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				n.Level = min(n.Level+3, 6)
			}
		case *ast.Image:
			if entering {
				images = append(images, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		link := ast.NewLink()
		link.Destination = image.Destination
		for image.FirstChild() != nil {
			link.AppendChild(link, image.FirstChild())
		}
		if link.FirstChild() == nil {
			link.AppendChild(link, ast.NewString([]byte("image")))
		}
		if image.Parent() != nil {
			image.Parent().ReplaceChild(image.Parent(), image, link)
		}
	}
}
