package yamlmap

import (
	"strings"
	"unicode/utf8"
)

// span is the position of a value in an entry, counted from after the colon.
type span struct {
	// inline is a scalar on the line of the key: [start:end], with its quotes.
	// An empty value has both 0.
	inline     bool
	start, end int
	// lastItem is the end of the line of the last item of a block list, and
	// indent how far its dashes are indented. It is 0 if there is none.
	lastItem, indent int
}

// split appends to entries those of a block mapping whose keys are scalars at
// the beginning of a line. It reports whether the text is one. A text with NUL is left to
// the library, because YAML does not allow it.
func split(text string, entries []entry) ([]entry, bool) {
	if strings.IndexByte(text, 0) >= 0 {
		return entries, false
	}
	keeps := false // the last value has a block scalar that keeps the breaks at its end
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		switch first := line[0]; {
		case blank(line), first == '#':
			// It belongs to the previous value only if that continues after it, or
			// keeps it.
			if keeps && line[0] != '#' {
				entries[len(entries)-1].end = end
			}
		case first == ' ', first == '\t', first == '-' && followedBySpace(line, 1):
			if len(entries) == 0 {
				return entries, false
			}
			entries[len(entries)-1].end = end
			if item := strings.TrimLeft(line, " "); item[0] == '-' {
				keeps = keeps || keepsBreaks(item[1:])
			}
		default:
			key, after, ok := keyOf(line)
			if !ok {
				return entries, false
			}
			entries = append(entries, entry{key: key, start: at, end: end, after: at + after})
			keeps = keepsBreaks(line[after:])
		}
		at = end
	}
	return entries, len(entries) > 0
}

// lineEnd returns the offset behind the line at offset at.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func blank(line string) bool { return strings.TrimLeft(line, " \t\r\n") == "" }

// followedBySpace reports whether the line ends at i, or has white space there.
func followedBySpace(line string, i int) bool {
	return i >= len(line) || strings.IndexByte(" \t\r\n", line[i]) >= 0
}

// keyOf returns the key at the beginning of a line, and the end of its colon.
func keyOf(line string) (key string, after int, ok bool) {
	var colon int
	if line[0] == '"' || line[0] == '\'' {
		colon = quotedLength(line)
	} else {
		colon = plainKeyLength(line)
	}
	after = colon + len(line[colon:]) - len(strings.TrimLeft(line[colon:], " "))
	if colon == 0 || after == len(line) || line[after] != ':' || !followedBySpace(line, after+1) {
		return "", 0, false
	}
	v, ok := scalar(line[:colon])
	return v.Text, after + 1, ok && v.Kind == Scalar
}

// plainKeyLength returns the length of the plain key at the beginning of a line, 0 if there is none. One that does not begin with a letter
// is left to the library.
func plainKeyLength(line string) int {
	if c := line[0] | 0x20; (c < 'a' || c > 'z') && line[0] != '_' && line[0] < utf8.RuneSelf {
		return 0
	}
	for i := range len(line) {
		if line[i] == ':' && followedBySpace(line, i+1) {
			return len(strings.TrimRight(line[:i], " "))
		}
	}
	return 0
}

// decode returns the value of an entry from the part after its colon, false if this is
// neither a scalar nor a block list of scalars.
func decode(s string) (Value, span, bool) {
	first := s[:lineEnd(s, 0)]
	if _, ok := headerOf(first); ok {
		text, ok := blockScalar(s, 0)
		return Value{Kind: Scalar, Text: text}, span{}, ok
	}
	start, end, ok := inlineScalar(first)
	if !ok {
		return multiline(s)
	}
	if len(first) < len(s) { // there are more lines
		if start == end && end == 0 {
			return blockList(s, len(first))
		}
		return multiline(s)
	}
	if strings.TrimRight(first[start:end], " ") == "[]" {
		return Value{Kind: List}, span{}, true
	}
	v, ok := scalar(first[start:end])
	return v, span{inline: true, start: start, end: end}, ok
}

// inlineScalar returns the position of the text on a line after a colon or dash, which may not be
// a valid scalar. For an empty line, start and end are 0.
func inlineScalar(line string) (start, end int, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	for start < len(line) && line[start] == ' ' {
		start++
	}
	if start == len(line) {
		return 0, 0, true
	}
	if line[start] == '\t' || start == 0 || line[start] == '#' {
		return 0, 0, false
	}
	switch line[start] {
	case '"', '\'':
		n := quotedLength(line[start:])
		if n == 0 {
			return 0, 0, false
		}
		end = start + n
	default:
		end = start + plainLength(line[start:])
	}
	rest := line[end:]
	comment := strings.TrimLeft(rest, " \t")
	if comment != "" && (comment[0] != '#' || len(comment) == len(rest)) {
		return 0, 0, false
	}
	return start, end, true
}

// quotedLength returns the length of the quoted scalar at the beginning of s, 0 if it does not end
// there.
func quotedLength(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] != quote:
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return 0
}

// plainLength returns the length of the plain scalar at the beginning of s: up to a comment,
// without trailing white space.
func plainLength(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') {
			s = s[:i]
			break
		}
	}
	return len(strings.TrimRight(s, " \t"))
}

// scalar returns the value of a scalar on one line.
func scalar(s string) (Value, bool) {
	if s == "" {
		return Value{Kind: Null}, true
	}
	if !utf8.ValidString(s) {
		return Value{}, false
	}
	switch s[0] {
	case '"':
		text, ok := unquoteDouble(s[1 : len(s)-1])
		return Value{Kind: Scalar, Text: text}, ok
	case '\'':
		return Value{Kind: Scalar, Text: strings.ReplaceAll(s[1:len(s)-1], "''", "'")}, true
	}
	if !isPlain(s) {
		return Value{}, false
	}
	if meaningOf(s) == null {
		return Value{Kind: Null}, true
	}
	return Value{Kind: Scalar, Text: s}, true
}

// isPlain reports whether s, without leading and trailing white space, is a plain scalar. It may
// have several lines.
func isPlain(s string) bool {
	if strings.IndexByte(",[]{}#&*!|>'\"%@`", s[0]) >= 0 {
		return false
	}
	if strings.IndexByte("-?:", s[0]) >= 0 && followedBySpace(s, 1) {
		return false
	}
	for i := range len(s) {
		switch s[i] {
		case ':':
			if followedBySpace(s, i+1) {
				return false
			}
		case '#':
			if i > 0 && followedBySpace(s, i-1) {
				return false
			}
		case '\r':
			return false
		}
	}
	return true
}

// blockList returns the list of scalars at an offset.
func blockList(s string, at int) (Value, span, bool) {
	v, where := Value{Kind: List}, span{indent: -1}
	for at < len(s) {
		end := lineEnd(s, at)
		line := s[at:end]
		item := strings.TrimLeft(line, " ")
		indent := len(line) - len(item)
		switch {
		case blank(line) || item[0] == '#':
			at = end
			continue
		case item[0] != '-', where.indent >= 0 && indent != where.indent:
			return Value{}, span{}, false
		}
		end = itemEnd(s, at+indent, indent)
		one, ok := listItem(s[at+indent+1:end], indent)
		if !ok {
			return Value{}, span{}, false
		}
		v.Items = append(v.Items, one.Text)
		where.indent, where.lastItem = indent, end
		at = end
	}
	return v, where, len(v.Items) > 0
}

// itemEnd returns the end of the list item whose dash is at an offset, with this indentation.
func itemEnd(s string, at, indent int) int {
	end := lineEnd(s, at)
	h, _ := headerOf(s[at+1 : end])
	for next := end; next < len(s); {
		line := s[next:lineEnd(s, next)]
		next += len(line)
		text := strings.TrimLeft(line, " ")
		switch {
		case strings.Trim(text, "\r\n") == "":
			if h.chomp == '+' {
				end = next
			}
		case len(line)-len(text) <= indent:
			return end
		default:
			end = next
		}
	}
	return end
}

// listItem returns an item of a list from the text after its dash, which has this indentation.
func listItem(s string, indent int) (Value, bool) {
	first := s[:lineEnd(s, 0)]
	if _, ok := headerOf(first); ok {
		text, ok := blockScalar(s, indent)
		return Value{Kind: Scalar, Text: text}, ok
	}
	from, to, ok := inlineScalar(first)
	if ok && len(first) == len(s) {
		return scalar(first[from:to])
	}
	if len(first) == len(s) {
		return Value{}, false
	}
	v, _, ok := multiline(s)
	return v, ok
}

// multiline returns a scalar that begins on the line of the key and continues on the next lines.
func multiline(s string) (Value, span, bool) {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), " \t\n")
	trimmed := strings.TrimLeft(s, " ")
	if trimmed == "" || len(trimmed) == len(s) || strings.IndexByte("\t\n#", trimmed[0]) >= 0 || !continues(s) || !utf8.ValidString(s) {
		return Value{}, span{}, false
	}
	switch quote := trimmed[0]; quote {
	case '"', '\'':
		if quotedLength(trimmed) != len(trimmed) || strings.Contains(trimmed, "\r") {
			return Value{}, span{}, false
		}
		inner := trimmed[1 : len(trimmed)-1]
		if quote == '\'' {
			return Value{Kind: Scalar, Text: strings.ReplaceAll(unfold(inner), "''", "'")}, span{}, true
		}
		text, ok := unquoteDouble(inner)
		return Value{Kind: Scalar, Text: text}, span{}, ok
	}
	if !isPlain(trimmed) {
		return Value{}, span{}, false
	}
	return Value{Kind: Scalar, Text: unfold(trimmed)}, span{}, true
}

// continues reports whether all lines after the first are blank or indented.
func continues(s string) bool {
	for at := lineEnd(s, 0); at < len(s); at = lineEnd(s, at) {
		if s[at] != ' ' && !blank(s[at:lineEnd(s, at)]) {
			return false
		}
	}
	return true
}

// unfold joins the lines of a flow scalar: one line break becomes a space, and each further one
// stays.
func unfold(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) == 1 {
		return s
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(lines[0], " \t"))
	breaks := 0
	for i, line := range lines[1:] {
		line = strings.TrimLeft(line, " \t")
		if i < len(lines)-2 {
			line = strings.TrimRight(line, " \t")
		}
		breaks++
		if line == "" && i < len(lines)-2 {
			continue
		}
		b.WriteString(joint(breaks))
		b.WriteString(line)
		breaks = 0
	}
	return b.String()
}

// joint returns the text for a number of line breaks in a flow scalar.
func joint(breaks int) string {
	if breaks == 1 {
		return " "
	}
	return strings.Repeat("\n", breaks-1)
}
