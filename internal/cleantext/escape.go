package cleantext

import (
	"strings"
	"unicode/utf8"
)

// The introducers and terminators of ECMA-48 sequences, as the byte after ESC
// and as C1 characters.
const (
	esc = 0x1b
	bel = 0x07

	dcs = 0x90 // ESC P
	sos = 0x98 // ESC X
	csi = 0x9b // ESC [
	st  = 0x9c // ESC \
	osc = 0x9d // ESC ]
	pm  = 0x9e // ESC ^
	apc = 0x9f // ESC _
)

// Sequence returns the length of the control function at the beginning of s: a single control
// character, or an escape sequence as a terminal would read it. A sequence never extends over a
// control character or a non-ASCII character that cannot be part of it, so a broken one removes no
// text.
func Sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == esc {
		if n == len(s) {
			return n
		}
		switch c := s[n]; {
		case c >= '@' && c <= '_':
			r = rune(c) + 0x40 // the 7-bit form of a C1 control
			n++
		case c >= '0' && c <= '~':
			return n + 1
		case c >= ' ' && c <= '/':
			return n + escape(s[n:])
		default:
			return n
		}
	}
	switch r {
	case csi:
		return n + control(s[n:])
	case osc, dcs, sos, pm, apc:
		return n + payload(s[n:])
	}
	return n
}

// escape returns the length of intermediates and final byte of an escape
// sequence such as the charset selection "ESC ( B".
func escape(s string) int {
	i := span(s, ' ', '/')
	if i < len(s) && s[i] >= '0' && s[i] <= '~' {
		i++
	}
	return i
}

// control returns the length of parameters, intermediates and final byte of a
// control sequence such as "ESC [ 31 m".
func control(s string) int {
	i := span(s, '0', '?')
	i += span(s[i:], ' ', '/')
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		i++
	}
	return i
}

// payload returns the length of a control string with its terminator, or 0 if it is not terminated
// before the next control character.
func payload(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == bel || r == st:
			return i + size
		case r == esc:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return 0
		case r < ' ' || r >= 0x7f && r <= 0x9f:
			return 0
		}
		i += size
	}
	return 0
}

// span returns how many leading bytes of s lie between lo and hi.
func span(s string, lo, hi byte) int {
	i := 0
	for i < len(s) && s[i] >= lo && s[i] <= hi {
		i++
	}
	return i
}

// Unclosed returns the index of an escape sequence that reaches the end of s and is not complete, or len(s) if there
// is none. The program that writes s can still complete it, and then a terminal shows nothing of it.
func Unclosed(s string) int {
	// ESC can be the first half of a string's terminator.
	rest := strings.TrimSuffix(s, "\x1b")
	at := strings.LastIndexFunc(rest, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f })
	if at < 0 {
		return len(rest)
	}
	r, n := utf8.DecodeRuneInString(rest[at:])
	if r == esc && at+n < len(rest) {
		if c := rest[at+n]; c >= ' ' && c <= '/' && span(rest[at+n:], ' ', '/') == len(rest)-at-n {
			return at
		}
		r = rune(rest[at+n]) + 0x40
		n++
	}
	switch r {
	case osc, dcs, sos, pm, apc:
		return at
	case csi:
		i := n + span(rest[at+n:], '0', '?')
		if i += span(rest[at+i:], ' ', '/'); at+i == len(rest) {
			return at
		}
	}
	return len(rest)
}

// Rest returns the length of the end of an escape sequence at the beginning of s, if s can begin within one: the
// parameters and the final byte of a control sequence, or the end of a string and its terminator.
func Rest(s string) int {
	for i, r := range s {
		switch {
		case r == bel || r == st:
			return i + utf8.RuneLen(r)
		case r == esc && strings.HasPrefix(s[i+1:], "\\"):
			return i + 2
		case r < ' ' || r >= 0x7f && r <= 0x9f:
			s = s[:i] // another control function
		default:
			continue
		}
		break
	}
	// The rest of U+009B, or what follows ESC.
	begin := len(s) - len(strings.TrimPrefix(strings.TrimPrefix(s, "\x9b"), "["))
	i := begin + span(s[begin:], '0', '?')
	if j := i + span(s[i:], ' ', '/'); i > begin && j < len(s) && s[j] >= '@' && s[j] <= '~' {
		return j + 1
	}
	return 0
}
