package secret

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLevels limits how often escapes inside escapes are decoded.
const maxLevels = 3

// decoded is a text without its escapes.
type decoded struct {
	text []byte
	// at are the positions of the bytes of text in the original, and the length of that.
	at []int
}

// decode returns text with the escapes of URLs, JSON, programming languages, and HTML replaced by
// the ASCII characters that they mean; false if it has none. Programs differ in which characters
// they escape, and how, so it accepts all escapes in any mixture.
func decode[T string | []byte](text T) (decoded, bool) {
	first := 0
	for first < len(text) && !introduces(text[first]) {
		first++
	}
	if first == len(text) {
		return decoded{}, false
	}
	d := decoded{text: make([]byte, 0, len(text)), at: make([]int, 0, len(text)+1)}
	changed := false
	for i := 0; i < len(text); {
		c, length := text[i], 1
		if introduces(c) {
			if means, n := escaped(string(text[i:min(len(text), i+maxEscape)])); n > 0 {
				c, length, changed = means, n, true
			}
		}
		d.text, d.at = append(d.text, c), append(d.at, i)
		i += length
	}
	d.at = append(d.at, len(text))
	return d, changed
}

// again decodes the escapes in a decoded text.
func (d decoded) again() (decoded, bool) {
	next, ok := decode(d.text)
	for i, from := range next.at {
		next.at[i] = d.at[from]
	}
	return next, ok
}

// introduces reports whether c can begin an escape.
func introduces(c byte) bool { return c == '%' || c == '\\' || c == '&' }

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
	n, err := strconv.ParseUint(code, base, 32)
	if err != nil || n <= ' ' || n >= utf8.RuneSelf-1 {
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
	d, ok := decode(before)
	for level := 0; ok && level < maxLevels; level++ {
		if from, n := find(p, d.text); n > 0 {
			at, length = d.at[from], d.at[from+n]-d.at[from]
			d.text = d.text[:from] // another one can begin before it
		}
		d, ok = d.again()
	}
	return at, length
}

// unfinished returns the length of the longest end of a line that can be the beginning of one of
// forms, also if characters are escaped, or the beginning of an escape.
func unfinished(line string, forms []string) int {
	keep := beginning(line, forms)
	if !strings.ContainsFunc(line, func(r rune) bool { return r < utf8.RuneSelf && introduces(byte(r)) }) {
		return keep
	}
	d := decoded{text: []byte(line), at: make([]int, len(line)+1)}
	for i := range d.at {
		d.at[i] = i
	}
	for ok, level := true, 0; ok && level <= maxLevels; level++ {
		d.text = d.text[:complete(d.text)]
		keep = max(keep, len(line)-d.at[len(d.text)-beginning(string(d.text), forms)])
		d, ok = d.again()
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
