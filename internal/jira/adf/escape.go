package adf

import (
	"strings"
	"unicode"
)

// escape adds backslashes before the characters of s that would be read as inline markup. before is
// the character that precedes s, 0 if there is none. The text after s is unknown; escape assumes
// the worst.
func escape(s string, before rune, inLink bool) string {
	runes := []rune(s)
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, c := range runes {
		var after rune
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		// A bracket that existing text closes must not become a link.
		joins := i == 0 && before == ']' && strings.ContainsRune("([:", c)
		if joins || active(c, before, after, runes[i:], inLink) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
		before = c
	}
	return b.String()
}

// active reports whether c, the first of rest, would be read as markup.
func active(c, before, after rune, rest []rune, inLink bool) bool {
	switch c {
	case '`':
		return true
	case '\\':
		return after == 0 || isPunct(after)
	case '*':
		return !isEdge(before) || !unicode.IsSpace(after)
	case '_':
		return (!isEdge(before) || !unicode.IsSpace(after)) && (!isWord(before) || !isWord(after))
	case '~':
		return !isEdge(before) || after == '~' || after == 0 // one alone may close, not open
	case '<':
		return after == 0 || after < 0x80 && unicode.IsLetter(after) || strings.ContainsRune("/!?", after)
	case '&':
		return isEntity(rest)
	case '[':
		return inLink
	case ']':
		return inLink || after == '(' || after == '[' || after == ':'
	case '!':
		return after == '['
	}
	return false
}

// isEdge reports whether r is white space or the beginning.
func isEdge(r rune) bool { return r == 0 || unicode.IsSpace(r) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isPunct(r rune) bool { return r > ' ' && r < 0x7f && !isWord(r) }

// isEntity reports whether rest begins with a character reference.
func isEntity(rest []rune) bool {
	for i, c := range rest[1:min(len(rest), 40)] {
		switch {
		case c == ';':
			return i > 0
		case c == '#' && i == 0, c < 0x80 && isWord(c):
		default:
			return false
		}
	}
	return false
}

// escapeEntities keeps the ampersands of s from being read as the beginning of
// a character reference.
func escapeEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	runes := []rune(s)
	var b strings.Builder
	for i, c := range runes {
		if c == '&' && isEntity(runes[i:]) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// escapeStart escapes what at the start of a paragraph's line would make it another block; first
// reports whether it is the paragraph's first line.
func escapeStart(l string, first bool) string {
	if l == "" {
		return ""
	}
	escaped := `\` + l
	switch l[0] {
	case '#':
		if n := len(l) - len(strings.TrimLeft(l, "#")); n <= 6 && endsWord(l[n:]) {
			return escaped
		}
	case '>', '|':
		return escaped
	case '-', '+', '*':
		if endsWord(l[1:]) || strings.Trim(l, "-:| \t") == "" {
			return escaped
		}
	case '=':
		if !first && strings.Trim(l, "= \t") == "" {
			return escaped
		}
	case ':':
		if strings.Trim(l, "-:| \t") == "" {
			return escaped
		}
	case '[':
		if strings.HasPrefix(l, "[ ]") || strings.HasPrefix(l, "[x]") || strings.HasPrefix(l, "[X]") {
			return escaped
		}
	default:
		digits := len(l) - len(strings.TrimLeft(l, "0123456789"))
		if digits == 0 || digits > 9 || digits == len(l) {
			break
		}
		if c := l[digits]; (c == '.' || c == ')') && endsWord(l[digits+1:]) {
			return l[:digits] + `\` + l[digits:]
		}
	}
	return l
}

// endsWord reports whether rest is empty or begins with white space; a
// backslash alone is the break at the end of a line.
func endsWord(rest string) bool {
	return rest == "" || rest == `\` || rest[0] == ' ' || rest[0] == '\t'
}

// codeSpan returns s, one line, as inline code.
func codeSpan(s string) string {
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	switch {
	case strings.TrimSpace(s) == "":
		return s
	case s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ':
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
