package cleantext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis marks a cut. It counts as one character.
const ellipsis = "…"

// Cut shortens s to at most n characters (code points). "…", which is one of the n, replaces the
// removed text and the spaces before it. Cut does not separate a character from its marks and
// joiners, nor the two halves of a flag, unless nothing else would remain. It returns text that
// fits unchanged; for n below 1, the result is empty.
func Cut(s string, n int) string {
	if n < 1 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	end, count := len(s), 0 // end is the start of character n
	for i := range s {
		count++
		if count == n {
			end = i
		}
		if count > n {
			at := boundary(s, end)
			return strings.TrimRightFunc(s[:at], unicode.IsSpace) + ellipsis
		}
	}
	return s
}

// boundary returns the last place at or before end where s may be cut.
func boundary(s string, end int) int {
	for at := end; at > 0; {
		next, _ := utf8.DecodeRuneInString(s[at:])
		prev, size := utf8.DecodeLastRuneInString(s[:at])
		if !extends(next) && prev != 0x200d && (!isRegional(next) || regionals(s[:at])%2 != 1) {
			return at
		}
		at -= size
	}
	return end
}

// extends reports whether r belongs to the character before it.
func extends(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == 0x200c || r == 0x200d:
		return true
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return true
	}
	return unicode.Is(unicode.M, r)
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// regionals counts the regional indicators at the end of s; two make a flag.
func regionals(s string) int {
	n := 0
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !isRegional(r) {
			break
		}
		n++
		s = s[:len(s)-size]
	}
	return n
}

// Head returns the beginning of a text, of at most n bytes and valid UTF-8. "…" is in place of the rest, so
// that what a cut leaves of a secret is recognized (package secret). Use it where a text is cut before its
// secrets are removed, such as for names that others choose and that copse stores.
func Head(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "")
	}
	if n < len(ellipsis) {
		return ""
	}
	return strings.ToValidUTF8(s[:n-len(ellipsis)], "") + ellipsis
}

// Tail returns the end of a text, of at most n bytes, as [Head] returns its beginning.
func Tail(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "")
	}
	if n < len(ellipsis) {
		return ""
	}
	return ellipsis + strings.ToValidUTF8(s[len(s)-n+len(ellipsis):], "")
}
