package yamlmap

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are the characters with a short escape, and the letters of these.
// A backslash before a tab is the tab, too.
const escapes = "\x00" + "0" + "\a" + "a" + "\b" + "b" + "\t" + "t" + "\n" + "n" + "\v" + "v" + "\f" + "f" +
	"\r" + "r" + "\x1b" + "e" + `"` + `"` + `\` + `\`

// unquoteDouble returns the meaning of the text between double quotes, on one or several lines.
func unquoteDouble(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return unfold(s), true
	}
	var b strings.Builder
	solid := 0 // white space before this is not a margin
	for i := 0; i < len(s); {
		switch s[i] {
		case '\n':
			held := b.String()
			held = held[:max(solid, len(strings.TrimRight(held, " \t")))]
			b.Reset()
			b.WriteString(held)
			breaks, n := skipBreaks(s[i:])
			b.WriteString(joint(breaks))
			i += n
			solid = b.Len()
		case '\\':
			n, ok := unescape(&b, s[i+1:])
			if !ok {
				return "", false
			}
			i += 1 + n
			solid = b.Len()
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String(), true
}

// skipBreaks returns the number of line breaks at the beginning of s, and of bytes up to the text
// after them.
func skipBreaks(s string) (breaks, n int) {
	for n < len(s) && strings.IndexByte(" \t\n", s[n]) >= 0 {
		if s[n] == '\n' {
			breaks++
		}
		n++
	}
	return breaks, n
}

// unescape writes what the escape with the letter at the beginning of s stands
// for, and returns the length of the consumed text.
func unescape(b *strings.Builder, s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	var digits int
	switch c := s[0]; c {
	case '\n':
		breaks, n := skipBreaks(s)
		b.WriteString(strings.Repeat("\n", breaks-1))
		return n, true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case ' ', '/', '\t':
		b.WriteByte(c)
		return 1, true
	case 'N':
		b.WriteRune('\u0085')
		return 1, true
	case '_':
		b.WriteRune('\u00a0')
		return 1, true
	case 'L':
		b.WriteRune('\u2028')
		return 1, true
	case 'P':
		b.WriteRune('\u2029')
		return 1, true
	default:
		for i := 0; i < len(escapes); i += 2 {
			if escapes[i+1] == c {
				b.WriteByte(escapes[i])
				return 1, true
			}
		}
		return 0, false
	}
	if len(s) <= digits {
		return 0, false
	}
	code, ok := hex(s[1 : 1+digits])
	n := 1 + digits
	if half := s[n:]; digits == 4 && utf16.IsSurrogate(code) {
		// JavaScript's strings can hold half of a pair, as where an emoji was cut in
		// two, and its YAML libraries write it. What no UTF-8 can hold is replaced.
		second := rune(-1)
		if len(half) >= 6 && half[:2] == `\u` {
			second, _ = hex(half[2:6])
		}
		if code = utf16.DecodeRune(code, second); code != utf8.RuneError {
			n += 6
		}
	}
	if !ok || !utf8.ValidRune(code) {
		return 0, false
	}
	b.WriteRune(code)
	return n, true
}

func hex(digits string) (rune, bool) {
	code, err := strconv.ParseUint(digits, 16, 32)
	return rune(code), err == nil && code <= utf8.MaxRune
}

// quoteDouble returns s in double quotes.
func quoteDouble(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			b = append(b, c)
			continue
		}
		if at := strings.IndexByte(escapes, c); at >= 0 && at%2 == 0 {
			b = append(b, '\\', escapes[at+1])
		} else {
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '"'))
}
