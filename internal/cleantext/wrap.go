package cleantext

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Wrap returns the words of a clean text on lines of at most width columns, so far as the words
// fit. The text begins at column, behind a prefix that the caller has written, and hang indents
// each further line. A width of 0 wraps nothing.
//
// A word that is longer than a line is not broken: a person can still copy a path or a URL.
func Wrap(text string, column, hang, width int) string { return wrap(text, column, hang, width, false) }

// Fill wraps a text as [Wrap] does, except that a word that is longer than a line continues in the
// next one.
func Fill(text string, column, hang, width int) string { return wrap(text, column, hang, width, true) }

func wrap(text string, column, hang, width int, breaks bool) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		n := displaywidth.String(word)
		switch {
		case i > 0 && width > 0 && column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", hang))
			column = hang
		case i > 0:
			b.WriteString(" ")
			column++
		}
		for breaks && width > hang+1 && column+n > width {
			part := displaywidth.TruncateString(word, max(1, width-column), "")
			if part == "" {
				break
			}
			b.WriteString(part + "\n" + strings.Repeat(" ", hang))
			column, word = hang, word[len(part):]
			n = displaywidth.String(word)
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
