// Package mdshape shows the structure of a Markdown text as parsed by CommonMark, without the
// contents of code. Two texts with the same shape differ only in their code spans and code blocks.
package mdshape

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Of returns the tree of a text, a line for each node. GitHub's extensions are on:
// tables, autolinks, strikethrough and task lists count as structure, too.
func Of(markdown string) string {
	source := []byte(markdown)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	var b strings.Builder
	depth := 0
	// Walk fails only if the function does.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		if words, ok := n.(*ast.Text); ok {
			fmt.Fprintf(&b, "%s%q\n", strings.Repeat(" ", depth), words.Segment.Value(source))
			depth++
			return ast.WalkContinue, nil
		}
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", depth), n.Kind())
		switch n.(type) {
		case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock:
			depth++
			return ast.WalkSkipChildren, nil
		}
		depth++
		return ast.WalkContinue, nil
	})
	return b.String()
}

var span = regexp.MustCompile("`[^`\n]*`")

// Lines returns a text as a reader who goes by lines sees it: without indented
// lines and without the contents of code spans.
func Lines(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		if !strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" {
			b.WriteString(span.ReplaceAllString(line, "``"))
		}
	}
	return b.String()
}
