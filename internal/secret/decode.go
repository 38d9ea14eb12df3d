package secret

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// maxLevels limits how often escapes inside escapes are decoded.
const maxLevels = 3

// decoded is a text without its escapes.
type decoded struct {
	text    []byte
	escapes []escape
	from    *decoded // the text that was decoded if it has escapes itself
}

// escape is the place of a decoded escape.
type escape struct {
	at      int // in the decoded text
	removed int // the bytes that this escape and all before it had more than their characters
}

// decode returns text with the escapes of URLs, JSON, programming languages, and HTML replaced by
// the ASCII characters that they mean. It returns false, and allocates nothing, if it has none.
// Programs differ in which characters they escape, and how, so it accepts all escapes in any
// mixture. It leaves escapes of characters that are in no pattern, such as quotes in JSON.
func decode[T string | []byte](p *patterns, text T) (decoded, bool) {
	var d decoded
	done, removed := 0, 0
	for i := 0; i < len(text); i++ {
		if !introduces(text[i]) {
			continue
		}
		c, n := escaped(string(text[i:min(len(text), i+maxEscape)]))
		if n == 0 || !p.matters[c] {
			continue
		}
		if d.text == nil {
			d.text = make([]byte, 0, len(text))
		}
		d.text = append(d.text, text[done:i]...)
		removed += n - 1
		d.escapes = append(d.escapes, escape{len(d.text), removed})
		d.text = append(d.text, c)
		done = i + n
		i = done - 1
	}
	if done == 0 {
		return decoded{}, false
	}
	d.text = append(d.text, text[done:]...)
	return d, true
}

// again decodes the escapes in a decoded text.
func (d decoded) again(p *patterns) (decoded, bool) {
	next, ok := decode(p, d.text)
	next.from = &d
	return next, ok
}

// origin returns the position in the original text of a position in the decoded one.
func (d decoded) origin(at int) int {
	before := sort.Search(len(d.escapes), func(i int) bool { return d.escapes[i].at >= at })
	if before > 0 {
		at += d.escapes[before-1].removed
	}
	if d.from == nil {
		return at
	}
	return d.from.origin(at)
}

// introduces reports whether c can begin an escape.
func introduces(c byte) bool { return c == '%' || c == '\\' || c == '&' }

// inEscapes reports whether c can be a part of an escape.
func inEscapes(c byte) bool {
	return introduces(c) || c == '#' || c == ';' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// maxEscape is the maximum length of an escape.
const maxEscape = 10

// escaped returns the ASCII character that an escape at the beginning of text means, and the length
// of the escape; 0 if there is none.
func escaped(text string) (c byte, length int) {
	switch {
	case len(text) < 2:
		return 0, 0
	case text[0] == '%':
		return numbered(text, 1, 3)
	case text[0] == '&':
		return entity(text)
	case text[1] == 'u':
		return numbered(text, 2, 6)
	case text[1] == 'x':
		return numbered(text, 2, 4)
	case strings.IndexByte("/\\\"'`$", text[1]) >= 0:
		return text[1], 2
	}
	return 0, 0
}

// numbered returns the character whose hexadecimal code is text[from:to], and to.
func numbered(text string, from, to int) (byte, int) {
	if len(text) < to {
		return 0, 0
	}
	if c := printable(text[from:to], 16); c != 0 {
		return c, to
	}
	return 0, 0
}

// printable returns the ASCII character with the code, 0 if that is not one.
func printable(code string, base int) byte {
	n := 0
	for i := range len(code) {
		digit := strings.IndexByte("0123456789abcdef0123456789ABCDEF", code[i])
		if digit < 0 || digit%16 >= base {
			return 0
		}
		n = min(n*base+digit%16, utf8.RuneSelf)
	}
	if n <= ' ' || n >= utf8.RuneSelf-1 {
		return 0
	}
	return byte(n)
}

// entity returns the character of an entity of HTML, and the length of the entity.
func entity(text string) (c byte, length int) {
	name, _, ended := strings.Cut(text[1:], ";")
	if !ended {
		return 0, 0
	}
	length = len("&;") + len(name)
	if code, found := strings.CutPrefix(name, "#"); !found {
		c = characters(name)
	} else if hex := strings.TrimLeft(code, "xX"); hex != code {
		c = printable(hex, 16)
	} else {
		c = printable(code, 10)
	}
	if c == 0 {
		return 0, 0
	}
	return c, length
}

// characters returns the ASCII character with a name of HTML, 0 if there is none.
func characters(name string) byte {
	const names = "amp& lt< gt> quot\" apos' sol/ plus+ equals= percnt% num# excl! dollar$ lpar( rpar) ast* comma, period. " +
		"colon: semi; quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ grave` lcub{ lbrace{ vert| verbar| rcub} rbrace}"
	for entry := range strings.FieldsSeq(names) {
		if last := len(entry) - 1; entry[:last] == name {
			return entry[last]
		}
	}
	return 0
}

// locate returns the first position of one of the patterns, also of one with escaped characters,
// and its length; 0 if there is none.
func locate[T string | []byte](p *patterns, text T) (at, length int) {
	at, length = find(p, text)
	if len(p.texts) == 0 {
		return at, length
	}
	before := text
	if length > 0 {
		before = text[:at]
	}
	d, ok := decode(p, before)
	for level := 0; ok && level < maxLevels; level++ {
		if from, n := find(p, d.text); n > 0 {
			at = d.origin(from)
			length = d.origin(from+n) - at
			d.text = d.text[:from] // another one can begin before it
		}
		d, ok = d.again(p)
	}
	return at, length
}

// unfinished returns the length of the longest end of a line that can be the beginning of one of the
// patterns, also if characters are escaped, or the beginning of an escape.
func unfinished(p *patterns, line string) int {
	keep := beginning(line, p.texts)
	if !strings.ContainsFunc(line, func(r rune) bool { return r < utf8.RuneSelf && introduces(byte(r)) }) {
		return keep
	}
	d := decoded{text: []byte(line)}
	for ok, level := true, 0; ok && level <= maxLevels; level++ {
		d.text = d.text[:complete(d.text)]
		keep = max(keep, len(line)-d.origin(len(d.text)-beginning(string(d.text), p.texts)))
		d, ok = d.again(p)
	}
	return keep
}

// complete returns the length of text without an escape at its end that can be incomplete.
func complete(text []byte) int {
	for i := max(0, len(text)-maxEscape); i < len(text); i++ {
		if introduces(text[i]) {
			if _, n := escaped(string(text[i:])); n == 0 {
				return i
			}
		}
	}
	return len(text)
}
