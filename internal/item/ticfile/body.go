package ticfile

import (
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// The lines that make the structure of a body.
const (
	heading    = "## Comments"
	authorMeta = "author:"
	dateMeta   = "date:"
)

// body is the part after the front matter.
type body struct {
	text    string
	newline string
	// split is where the line of the heading begins, -1 if there are no comments.
	split int
}

// find finds the heading.
func (b *body) find() {
	b.split = -1
	for at := 0; at < len(b.text); {
		i := strings.Index(b.text[at:], heading)
		if i < 0 {
			return
		}
		at += i
		line, rest := cutLine(b.text[at:])
		if (at == 0 || b.text[at-1] == '\n') && b.bare(line) == heading && b.opens(skipBlank(rest)) {
			b.split = at
			return
		}
		at += len(heading)
	}
}

// bare returns a line without the break that lines have in this file.
func (b *body) bare(line string) string {
	if b.newline == "\n" {
		return strings.TrimSuffix(line, "\n")
	}
	return bare(line)
}

// opens reports whether text begins as a comment does.
func (b *body) opens(text string) bool {
	line, rest := cutLine(text)
	return b.bare(line) == fence && (strings.HasPrefix(rest, authorMeta) || strings.HasPrefix(rest, dateMeta))
}

func skipBlank(text string) string {
	for text != "" {
		line, rest := cutLine(text)
		if strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	return text
}

// described returns the part of the text that has the description.
func (b *body) described() string {
	if b.split < 0 {
		return b.text
	}
	return b.text[:b.split]
}

func (b *body) description() string {
	return unescapeDescription(item.Text(b.decode(b.described())))
}

func (b *body) setDescription(description string) {
	if description == b.description() {
		return
	}
	text := b.encode(escapeDescription(description)) + b.newline
	rest := b.text[len(b.described()):]
	if rest != "" {
		text += b.newline
	}
	b.text = text + rest
	b.find()
}

func (b *body) comments() []item.Comment {
	if b.split < 0 {
		return nil
	}
	_, text := cutLine(b.text[b.split:])
	_, text = cutLine(skipBlank(text)) // the fence of the first
	var comments []item.Comment
	for begin, at := 0, 0; ; {
		line, rest := cutLine(text[at:])
		if end := at == len(text); end || b.opens(text[at:]) {
			comments = append(comments, b.comment(text[begin:at]))
			if end {
				return comments
			}
			begin = len(text) - len(rest)
		}
		at += len(line)
	}
}

// comment reads the part after the fence of a comment.
func (b *body) comment(text string) item.Comment {
	var c item.Comment
	for {
		line, rest := cutLine(text)
		line = bare(line)
		if author, ok := strings.CutPrefix(line, authorMeta); ok {
			c.Author = decodeAuthor(strings.TrimSpace(author))
		} else if date, ok := strings.CutPrefix(line, dateMeta); ok {
			c.Date = strings.TrimSpace(date)
		} else {
			break
		}
		text = rest
	}
	c.Body = unescapeComment(item.Text(b.decode(text)))
	return c
}

func (b *body) addComment(c item.Comment) {
	b.text = strings.TrimSuffix(b.text, b.newline) // which is not part of it
	if b.split < 0 {
		b.text += b.newline + b.newline + heading
	}
	lines := []string{"", "", fence, "author: " + encodeAuthor(c.Author), "date: " + c.Date, "", b.encode(escapeComment(c.Body)), ""}
	b.text += strings.Join(lines, b.newline)
	b.find()
}

// decode turns text with the line ends of the file into text with line feeds,
// and encode back.
func (b *body) decode(text string) string {
	if b.newline == "\n" {
		return text
	}
	return strings.ReplaceAll(text, b.newline, "\n")
}

func (b *body) encode(text string) string {
	if b.newline == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", b.newline)
}

// What is escaped: with the backslash that it has or gets.
var (
	headingEscape = lazyregexp.New(`#(\\*)# Comments`)
	fenceEscape   = lazyregexp.New(`(?m)^(\\*)---$`)
)

func escapeDescription(s string) string {
	if !strings.Contains(s, "# Comments") {
		return s
	}
	return headingEscape.Get().ReplaceAllString(s, `#\$1# Comments`)
}

func unescapeDescription(s string) string {
	if !strings.Contains(s, `\# Comments`) {
		return s
	}
	return headingEscape.Get().ReplaceAllStringFunc(s, dropBackslash)
}

func escapeComment(s string) string {
	if !strings.Contains(s, fence) {
		return s
	}
	return fenceEscape.Get().ReplaceAllString(s, `\$1---`)
}

func unescapeComment(s string) string {
	if !strings.Contains(s, `\`+fence) {
		return s
	}
	return fenceEscape.Get().ReplaceAllStringFunc(s, dropBackslash)
}

func dropBackslash(s string) string { return strings.Replace(s, `\`, "", 1) }

// encodeAuthor writes an author so that it fits on a line.
func encodeAuthor(author string) string {
	if needsQuotes(author) {
		return strconv.Quote(author)
	}
	return author
}

func decodeAuthor(line string) string {
	if author, ok := quotedAuthor(line); ok {
		return author
	}
	return line
}

// needsQuotes reports whether an author would be read as another one from a
// line of its own.
func needsQuotes(author string) bool {
	if author != strings.TrimSpace(author) || strings.ContainsAny(author, "\n\r") {
		return true
	}
	_, ok := quotedAuthor(author)
	return ok
}

// quotedAuthor reads an author in quotes, if they are such as we write. Those
// that somebody gave himself are part of his name.
func quotedAuthor(line string) (string, bool) {
	if !strings.HasPrefix(line, `"`) {
		return "", false
	}
	author, err := strconv.Unquote(line)
	if err != nil || strconv.Quote(author) != line || !needsQuotes(author) {
		return "", false
	}
	return author, true
}
