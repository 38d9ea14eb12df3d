package foreign

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// maxNotice is the maximum number of characters of a message in Notice. noticeEnd is how many of
// them come from its end, where a message names the next step.
const (
	maxNotice = 4000
	noticeEnd = 1000
)

// Notice returns an error or a warning of copse, which may contain foreign text, as one line.
// Whatever that text is, the line has no control or invisible characters, begins no heading, list,
// fence, or other block of Markdown, and has a limited length. The places that show errors and
// warnings call it, so the places that create them can use any name.
func Notice(message string) string {
	line := shorten(message, maxNotice, noticeEnd)
	if !plainStart(line) {
		return Own("Message: ").Name(line).Markdown()
	}
	return line
}

// maxReason is the maximum number of characters of a message in a line, and reasonEnd how many of
// them come from its end.
const (
	maxReason = 500
	reasonEnd = 250
)

// Notice adds an error or a warning of copse, which may contain foreign text, to a line that begins
// with copse's own words. What the message quotes becomes a name. Other foreign text in it can contain
// Markdown that affects the rest of the paragraph, so the line must end its paragraph.
func (l Line) Notice(message string) Line {
	text := shorten(message, maxReason, reasonEnd)
	for {
		at := strings.IndexByte(text, '"')
		if at < 0 {
			return l.with(part{text: text})
		}
		l = l.with(part{text: text[:at]})
		quoted, err := strconv.QuotedPrefix(text[at:])
		if err != nil { // the end is missing
			return l.Name(text[at+1:])
		}
		name, _ := strconv.Unquote(quoted) // it is quoted
		l, text = l.Name(name), text[at+len(quoted):]
	}
}

// shorten returns a message as one clean line of about n characters. If that cuts the message, the
// last end characters come from its end. What is quoted remains quoted, also if the cut is in it.
func shorten(message string, n, end int) string {
	line := strings.TrimSpace(cleantext.Line(message))
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	runes := []rune(line)
	head := strings.TrimSuffix(cleantext.Cut(string(runes[:n-end]), n-end-1), "…")
	inside, escaped := quotation(head)
	if escaped {
		head = head[:len(head)-1]
	}
	if head += "…"; inside {
		head += `"`
	}
	from := len(runes) - end
	inside, escaped = quotation(string(runes[:from]))
	if escaped {
		from++
	}
	tail := strings.TrimSpace(string(runes[from:]))
	if inside {
		tail = `"` + tail
	}
	return head + " " + tail
}

// quotation reports whether a text ends inside quotation marks, and there after a backslash.
func quotation(text string) (inside, escaped bool) {
	for i := range len(text) {
		switch {
		case escaped:
			escaped = false
		case text[i] == '"':
			inside = !inside
		default:
			escaped = inside && text[i] == '\\'
		}
	}
	return inside, escaped
}

// maxPlain is the maximum number of characters of a name that a message shows without marks.
const maxPlain = 32

// Mention returns names as an error or a warning shows them, with commas between them. Each is in
// quotation marks, which [Line.Notice] replaces with those of a name, unless it is one short word of
// plain characters.
func Mention(names ...string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		if shown[i] = name; quoted(name) {
			continue
		}
		if name == "" || len(name) > maxPlain || strings.IndexFunc(name, notInWord) >= 0 {
			shown[i] = strconv.Quote(name)
		}
	}
	return strings.Join(shown, ", ")
}

// Path returns a path that the caller has named as an error shows it: like [Mention], but of any length.
func Path(path string) string {
	if path == "" || !quoted(path) && strings.IndexFunc(path, notInWord) >= 0 {
		return strconv.Quote(path)
	}
	return path
}

// Branch returns a name as the messages of twig-mcp show it: in apostrophes, or in quotation marks if it has
// an apostrophe itself or anything invisible.
func Branch(name string) string {
	if strings.Contains(name, "'") || Hidden(name) {
		return strconv.Quote(name)
	}
	return "'" + name + "'"
}

// quoted reports whether a name has the form that [Spell] gives it.
func quoted(name string) bool {
	_, spelled := Unspell(name)
	return spelled && !Hidden(name)
}

func notInWord(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r)
}

// plainStart reports whether a line with this beginning is a paragraph of Markdown.
func plainStart(line string) bool {
	if line == "" {
		return true
	}
	switch first := line[0]; first {
	case '#':
		rest := strings.TrimLeft(line, "#")
		return rest != "" && rest[0] != ' '
	case '-', '+', '*', '_', '=':
		return len(line) > 1 && line[1] != ' ' && strings.Trim(line, string(first)+" ") != ""
	case '`', '~':
		return !strings.HasPrefix(line, strings.Repeat(string(first), 3))
	case '[':
		return !strings.Contains(line, "]:")
	case '<', '>', '|':
		return false
	}
	rest := strings.TrimLeft(line, "0123456789")
	return rest == line || rest == "" || rest[0] != '.' && rest[0] != ')'
}
