package yamlmap

import (
	"strings"
	"unicode/utf8"
)

// header is the first line of a block scalar.
type header struct {
	folded bool
	chomp  byte // '-' strips the line breaks at the end, '+' keeps them; 0 keeps one
	indent int  // of the content, beyond that of the parent; 0 if the content shows it
}

// headerOf returns the header after a colon or dash, false if no block scalar begins there.
func headerOf(line string) (header, bool) {
	line = strings.TrimRight(line, "\r\n")
	s := strings.TrimLeft(line, " ")
	if s == "" || len(s) == len(line) || s[0] != '|' && s[0] != '>' {
		return header{}, false
	}
	h := header{folded: s[0] == '>'}
	for s = s[1:]; s != "" && s[0] != ' ' && s[0] != '\t'; s = s[1:] {
		switch c := s[0]; {
		case (c == '-' || c == '+') && h.chomp == 0:
			h.chomp = c
		case '1' <= c && c <= '9' && h.indent == 0:
			h.indent = int(c - '0')
		default:
			return header{}, false
		}
	}
	rest := strings.TrimLeft(s, " \t")
	return h, rest == "" || rest[0] == '#'
}

// keepsBreaks reports whether a block scalar begins on a line, after a colon or
// dash, that keeps the line breaks at its end.
func keepsBreaks(line string) bool {
	h, _ := headerOf(line)
	return h.chomp == '+'
}

// blockScalar returns the text of a block scalar whose header is the first line of s. The line
// of its parent is indented by parent columns.
func blockScalar(s string, parent int) (string, bool) {
	first, rest := s[:lineEnd(s, 0)], s[lineEnd(s, 0):]
	h, ok := headerOf(first)
	if !ok || !utf8.ValidString(rest) {
		return "", false
	}
	lines, ok := h.lines(rest, parent)
	if !ok {
		return "", false
	}
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	text := strings.Join(lines[:end], "\n")
	if h.folded {
		text = foldBlock(lines[:end])
	}
	switch breaks := len(lines) - end; {
	case h.chomp == '-':
		return text, true
	case h.chomp == '+':
		if end > 0 {
			breaks++ // the one that ends the last line
		}
		return text + strings.Repeat("\n", breaks), true
	case end > 0:
		text += "\n"
	}
	return text, true
}

// lines returns the lines of the content without their indent.
func (h header) lines(s string, parent int) ([]string, bool) {
	indent := 0
	if h.indent > 0 {
		indent = parent + h.indent
	}
	var lines []string
	for s != "" {
		end := lineEnd(s, 0)
		line := strings.TrimSuffix(strings.TrimSuffix(s[:end], "\n"), "\r")
		s = s[end:]
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		content := spaces < len(line)
		if content && indent == 0 {
			if indent = spaces; indent <= parent {
				return nil, line[spaces] == '#' && onlyComments(s)
			}
		}
		switch {
		case indent > 0 && spaces >= indent:
			lines = append(lines, line[indent:])
		case !content:
			lines = append(lines, "")
		default: // a comment can follow the block
			return lines, line[spaces] == '#' && onlyComments(s)
		}
	}
	return lines, true
}

// onlyComments reports whether s has only comments and blank lines.
func onlyComments(s string) bool {
	for line := range strings.Lines(s) {
		if !blank(line) && !strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
			return false
		}
	}
	return true
}

// foldBlock joins the lines of a folded block: a single break between two lines of
// text is a space, and lines that begin with white space keep the breaks around
// them.
func foldBlock(lines []string) string {
	var b strings.Builder
	breaks, begun, kept := 0, false, false
	for _, line := range lines {
		if line == "" {
			breaks++
			continue
		}
		keeps := isMargin(line[0])
		switch {
		case !begun:
			b.WriteString(strings.Repeat("\n", breaks))
		case kept || keeps:
			b.WriteString(strings.Repeat("\n", breaks+1))
		default:
			b.WriteString(joint(breaks + 1))
		}
		b.WriteString(line)
		breaks, begun, kept = 0, true, keeps
	}
	return b.String()
}
