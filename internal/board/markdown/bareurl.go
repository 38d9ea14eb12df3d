package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// bareURL makes links of web addresses in text.
type bareURL struct{}

// Trigger returns the characters before an address: the beginning of a line or a space, which are
// both ' ', and an opening parenthesis.
func (bareURL) Trigger() []byte { return []byte(" (") }

// Parse returns the link at the reader's position, or nil.
func (bareURL) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if pc.IsInLinkLabel() {
		return nil
	}
	line, segment := block.PeekLine()
	before := 0
	if line[0] == ' ' || line[0] == '\t' || line[0] == '(' {
		before = 1
	}
	size := addressSize(line[before:])
	if size == 0 {
		return nil
	}
	start := segment.Start + before
	if before > 0 {
		ast.MergeOrAppendTextSegment(parent, segment.WithStop(start))
	}
	block.Advance(before + size)
	return ast.NewAutoLink(ast.AutoLinkURL, ast.NewTextSegment(text.NewSegment(start, start+size)))
}

// addressSize returns the number of bytes at the beginning of a line that form a web address. It
// excludes the punctuation of a sentence at the end.
func addressSize(line []byte) int {
	scheme := 0
	for _, s := range []string{"https://", "http://"} {
		if bytes.HasPrefix(line, []byte(s)) {
			scheme = len(s)
		}
	}
	if scheme == 0 {
		return 0
	}
	size := len(line)
	if end := bytes.IndexAny(line, " \t\r\n<>\"`"); end >= 0 {
		size = end
	}
	open := bytes.Count(line[:size], []byte("(")) - bytes.Count(line[:size], []byte(")"))
	for ; size > scheme; size-- {
		switch last := line[size-1]; {
		case last == ')' && open < 0:
			open++
		case strings.IndexByte(".,:;!?'*_~]", last) < 0:
			return size
		}
	}
	return 0
}
