package secret

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// maxLevels limits how often escapes inside escapes are decoded.
const maxLevels = 4

// decoded is a text without its escapes and its invisible characters.
type decoded struct {
	text []byte
	// steps are the positions in text after which it continues from another position of the
	// original, in ascending order.
	steps []step
	// outer is the decoded text that this one was decoded from, nil for an original.
	outer *decoded
}

// step says that position at of a decoded text is position from of its original, and that what ends
// there ends at position end of the original, before the invisible characters between the two.
type step struct{ at, from, end int }

// decode returns text with the escapes of URLs, JSON, programming languages, shells, and HTML replaced by
// the characters that they mean, and without invisible characters; false if it has neither.
// Programs differ in which characters they escape, and how, so it accepts all escapes in any
// mixture. It leaves escapes of characters that are in no pattern, such as quotes in JSON, and
// allocates nothing if there are no others.
func decode[T string | []byte](p *patterns, text T) (decoded, bool) {
	var d decoded
	start := 0 // text[start:i] is not in d yet
	for i := 0; i < len(text); {
		if !p.introduces(text[i]) && !unusual(text[i]) {
			i++
			continue
		}
		means, length, ok := p.escaped(string(text[i:min(len(text), i+longest(text[i]))]))
		if !ok || !p.matter(means) {
			i += length
			continue
		}
		if d.text == nil {
			d.text = make([]byte, 0, len(text))
		}
		d.text = append(append(d.text, text[start:i]...), means...)
		s := step{at: len(d.text), from: i + length, end: i}
		if means != "" {
			s.end = s.from
		}
		d.steps = append(d.steps, s)
		i += length
		start = i
	}
	if d.steps == nil {
		return decoded{}, false
	}
	d.text = append(d.text, text[start:]...)
	return d, true
}

// again decodes the escapes in a decoded text.
func (d decoded) again(p *patterns) (decoded, bool) {
	next, ok := decode(p, d.text)
	if ok {
		next.outer = &d
	}
	return next, ok
}

// matter reports whether characters can be a part of a secret or of an escape. Invisible ones, for
// which means is empty, can be anywhere in a secret.
func (p *patterns) matter(means string) bool {
	for i := range len(means) {
		if p.matters[means[i]] {
			return true
		}
	}
	return means == ""
}

// original returns the position in the original of a position in text.
func (d decoded) original(at int) int {
	n, found := d.find(at)
	for found && n+1 < len(d.steps) && d.steps[n+1].at == at {
		n++ // invisible characters before it
	}
	if found {
		at = d.steps[n].from
	} else {
		at = d.after(n, at)
	}
	if d.outer != nil {
		return d.outer.original(at)
	}
	return at
}

// ending returns the position in the original where the text before a position ends.
func (d decoded) ending(at int) int {
	if n, found := d.find(at); found {
		at = d.steps[n].end
	} else {
		at = d.after(n, at)
	}
	if d.outer != nil {
		return d.outer.ending(at)
	}
	return at
}

// find returns the first step at a position, or the index of the next one.
func (d decoded) find(at int) (n int, found bool) {
	return slices.BinarySearchFunc(d.steps, at, func(s step, at int) int { return s.at - at })
}

// after returns the position in the original of a position between step n and the one before.
func (d decoded) after(n, at int) int {
	if n == 0 {
		return at
	}
	return at + d.steps[n-1].from - d.steps[n-1].at
}

// introduces reports whether c can begin an escape. A quotation mark counts as invisible if a secret
// has one: shells, SQL, and CSV double it, or end a string before it and begin another one after it.
func (p *patterns) introduces(c byte) bool { return introduces(c) || p.quotes && quote(c) }

func quote(c byte) bool { return c == '\'' || c == '"' }

// introduces reports whether c can begin an escape, whatever the secrets are.
func introduces(c byte) bool { return c == '%' || c == '\\' || c == '&' }

// inEscapes reports whether c can be a part of an escape.
func inEscapes(c byte) bool {
	return introduces(c) || c == '#' || c == ';' || c == '{' || c == '}' || alphanumeric(c)
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// unusual reports whether c can be invisible, or begin a character that is. Line breaks and tabs
// are visible.
func unusual(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f }

// maxEscape is the maximum length of an escape: "\ud83d\ude00".
const maxEscape = 12

// maxSequence is the maximum length of a terminal's escape sequence inside a secret.
const maxSequence = 256

// longest returns the maximum length of what begins with c.
func longest(c byte) int {
	if c == 0x1b {
		return maxSequence
	}
	return maxEscape
}

// escaped returns what the function escaped does. If a secret has a quotation mark, one counts as
// invisible, together with the backslashes before it.
func (p *patterns) escaped(text string) (means string, length int, ok bool) {
	if p.quotes {
		if n := len(text) - len(strings.TrimLeft(text, `\`)); n < len(text) && quote(text[n]) {
			return "", n + 1, true
		}
	}
	return escaped(text)
}

// escaped returns the characters that an escape or an invisible character at the beginning of text
// means, and its length. If there is neither, it returns false and the length of the text to
// ignore.
func escaped(text string) (means string, length int, ok bool) {
	switch c := text[0]; {
	case unusual(c):
		r, size := utf8.DecodeRuneInString(text)
		if length := colors(text); length > 0 {
			return "", length, true
		}
		return "", size, cleantext.Invisible(r)
	case len(text) < 2:
	case c == '%':
		means, length = numbered(text, 1, 3)
	case c == '&':
		means, length = entity(text)
	case (text[1] == 'u' || text[1] == 'x') && strings.HasPrefix(text[2:], "{"):
		means, length = braced(text)
	case text[1] == 'u':
		means, length = codeUnits(text)
	case text[1] == 'U':
		means, length = coded(text, 2, 10)
	case text[1] == 'x':
		means, length = numbered(text, 2, 4)
	case text[1] >= '0' && text[1] <= '3':
		means, length = octal(text)
	case strings.IndexByte("bfr", text[1]) >= 0:
		length = 2 // controls, which are invisible
	case text[1] >= ' ' && text[1] < 0x7f && !alphanumeric(text[1]):
		means, length = text[1:2], 2 // a shell escapes any of these
	}
	return means, max(length, 1), length > 0
}

// numbered returns the byte whose hexadecimal code is text[from:to], and to.
func numbered(text string, from, to int) (means string, length int) {
	if len(text) < to {
		return "", 0
	}
	n, ok := number(text[from:to], 16)
	if !ok {
		return "", 0
	}
	return string([]byte{byte(n)}), to // which allocates nothing
}

// colors returns the length of a terminal's sequence of several characters, such as one that sets a
// color, 0 if there is none. Of others, only the first character is invisible.
func colors(text string) int {
	switch {
	case len(text) > 1 && text[0] == 0x1b && strings.IndexByte("[]P^_X()", text[1]) >= 0:
		return cleantext.Sequence(text)
	case strings.HasPrefix(text, "\u009b"):
		if end := strings.IndexFunc(text[2:], func(r rune) bool { return r != ';' && (r < '0' || r > '9') }); end >= 0 && text[2+end] == 'm' {
			return 2 + end + 1
		}
	}
	return 0
}

// coded returns the character whose hexadecimal code is text[from:to], and to.
func coded(text string, from, to int) (means string, length int) {
	if len(text) < to {
		return "", 0
	}
	if n, ok := number(text[from:to], 16); ok {
		return seen(n), to
	}
	return "", 0
}

// braced returns the character of an escape such as \u{e9} or \x{e9}.
func braced(text string) (means string, length int) {
	end := strings.IndexByte(text, '}')
	if end < 0 {
		return "", 0
	}
	if means, length = coded(text, 3, end); length > 0 {
		length++
	}
	return means, length
}

// octal returns the byte of an escape such as \147.
func octal(text string) (means string, length int) {
	if len(text) < 4 {
		return "", 0
	}
	n, ok := number(text[1:4], 8)
	if !ok {
		return "", 0
	}
	return string([]byte{byte(n)}), 4
}

// codeUnits returns the character of one or two escapes in the form of JSON, and their length.
func codeUnits(text string) (means string, length int) {
	r, ok := codeUnit(text)
	if !ok {
		return "", 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := codeUnit(text[min(len(text), 6):]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return seen(pair), 12
			}
		}
	}
	return seen(r), 6
}

// seen returns a character, nothing if it is invisible.
func seen(r rune) string {
	switch {
	case r == 0x1b, r == 0x07:
		return string([]byte{byte(r)}) // of a sequence
	case cleantext.Invisible(r):
		return ""
	case r < utf8.RuneSelf:
		return string([]byte{byte(r)}) // which allocates nothing
	}
	return string(r)
}

// codeUnit returns the code unit of the escape at the beginning of text.
func codeUnit(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	return number(text[2:6], 16)
}

// number returns the character with a number, without the garbage of an error.
func number(digits string, base rune) (rune, bool) {
	n := rune(0)
	for i := range len(digits) {
		digit := rune(strings.IndexByte("0123456789abcdef0123456789ABCDEF", digits[i]))
		if digit %= 16; digit < 0 || digit >= base {
			return 0, false
		}
		n = min(n*base+digit, utf8.MaxRune+1)
	}
	return n, digits != "" && n <= utf8.MaxRune
}

// entity returns the character of an entity of HTML, and the length of the entity.
func entity(text string) (means string, length int) {
	if strings.HasPrefix(text, "&#") {
		return numeric(text)
	}
	name, _, ended := strings.Cut(text[1:], ";")
	if !ended {
		return "", 0
	}
	if c := characters(name); c != 0 {
		return seen(rune(c)), len("&;") + len(name)
	}
	return "", 0
}

// numeric returns the character of an entity with a number.
func numeric(text string) (means string, length int) {
	digits, from, base := "0123456789", len("&#"), rune(10)
	if len(text) > from && text[from]|0x20 == 'x' {
		digits, from, base = "0123456789abcdefABCDEF", from+1, 16
	}
	to := from
	for to < len(text) && strings.IndexByte(digits, text[to]) >= 0 {
		to++
	}
	n, ok := number(text[from:to], base)
	if !ok {
		return "", 0
	}
	if to == len(text) || text[to] != ';' {
		return "", 0
	}
	return seen(n), to + 1
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

// unfinished returns the length of the longest end of a line that can be the beginning of one of the
// patterns, also if characters are escaped, or the beginning of an escape.
func unfinished(p *patterns, line string) int {
	keep := beginning(line, p.texts)
	if !strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf || p.introduces(byte(r)) || unusual(byte(r)) }) {
		return keep
	}
	d := decoded{text: []byte(line)}
	for ok, level := true, 0; ok && level <= maxLevels; level++ {
		d.text = d.text[:p.complete(d.text)]
		keep = max(keep, len(line)-d.original(len(d.text)-beginning(string(d.text), p.texts)))
		d, ok = d.again(p)
	}
	return keep
}

// complete returns the length of text without escapes at its end that can be incomplete.
func (p *patterns) complete(text []byte) int {
	for i := max(0, len(text)-maxEscape); i < len(text); i++ {
		if p.introduces(text[i]) {
			if _, _, ok := p.escaped(string(text[i:])); !ok {
				text = text[:i]
				i = max(0, i-maxEscape) - 1 // this can be the second half of one
			}
		}
	}
	return len(text)
}
