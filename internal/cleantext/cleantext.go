// Package cleantext makes foreign text (from Jira, GitHub, files, tasks)
// harmless for a terminal and for a model.
//
// Use [Line] for text that must stay on one line (titles, names, authors), [Block]
// for text of several lines (descriptions, logs), and [Cut] to shorten either.
//
// Line and Block guarantee that their result is valid UTF-8 and contains
//
//   - no escape sequence, complete or partial: neither its introducer nor, if it
//     is well-formed, its parameters. A string sequence (OSC, DCS, SOS, PM, APC)
//     that is not closed on its line loses only its introducer, so an
//     unclosed one cannot hide the text after it;
//   - no C0 or C1 control and no DEL, except for the line feed and tab that
//     Block keeps;
//   - no bidirectional control, tag, zero-width, or other invisible character.
//
// Three invisible characters carry meaning and remain where they can have it:
// one variation selector after a visible character (U+E0100 and up only after
// an ideograph), and one joiner, U+200C or U+200D, after a letter of a script
// other than Latin, Greek, and Cyrillic, or after a mark or an emoji. One each
// is enough for emoji, Persian, the Indic scripts, and Mongolian, and not enough
// to hide a message. Flags written with tag characters (those of England,
// Scotland, and Wales) lose their tags and become a plain black flag.
//
// Invalid UTF-8 becomes U+FFFD, one for each run of bad bytes. Clean text is
// returned unchanged, without an allocation. Line and Block are idempotent.
package cleantext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as clean text on one line: each line break (CRLF is one) and
// each tab becomes a space.
func Line(s string) string { return clean(s, ' ', ' ') }

// Block returns s as clean text whose line breaks are line feeds. Tabs remain; CRLF, a lone CR, and
// the rarer breaks (VT, FF, NEL, U+2028, U+2029) become a line feed.
func Block(s string) string { return clean(s, '\n', '\t') }

// clean rewrites s with newline and tab as replacements for those two.
func clean(s string, newline, tab byte) string {
	var (
		out   strings.Builder
		start int  // s[start:i] is clean and not yet in out
		prev  rune // the last character kept
	)
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			prev = rune(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		var replacement string
		switch {
		case r == '\n' && newline == '\n', r == '\t' && tab == '\t':
			prev = r
			i += size
			continue
		case r == '\t':
			replacement = " "
		case isBreak(r):
			if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
				size = 2
			}
			replacement = string(newline)
		case r == utf8.RuneError && size == 1:
			size = invalidRun(s[i:])
			replacement = "\uFFFD"
		case r < ' ' || r >= 0x7f && r <= 0x9f:
			size = Sequence(s[i:])
		case keep(r, prev):
			prev = r
			i += size
			continue
		}
		if start == 0 {
			out.Grow(len(s))
		}
		out.WriteString(s[start:i])
		out.WriteString(replacement)
		if replacement != "" {
			prev, _ = utf8.DecodeRuneInString(replacement)
		}
		i += size
		start = i
	}
	if start == 0 {
		return s
	}
	out.WriteString(s[start:])
	return out.String()
}

// isBreak reports whether r ends a line for a terminal, a browser or Unicode.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\v', '\f', '\r', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// invalidRun returns the length of the run of invalid UTF-8 at the beginning of s.
func invalidRun(s string) int {
	n := 0
	for n < len(s) {
		if r, size := utf8.DecodeRuneInString(s[n:]); r != utf8.RuneError || size != 1 {
			break
		}
		n++
	}
	return n
}

// keep reports whether r, which is not a control character, may follow prev.
func keep(r, prev rune) bool {
	switch {
	case r < 0x300:
		return r != 0xad // the soft hyphen is the only invisible one
	case r >= 0x3400 && r < 0xd800 || r >= 0xe000 && r < 0xfe00 || r >= 0x1f000 && r < 0x20000:
		return true // Han, Hangul, private use, emoji: none is invisible
	case r == 0x200c || r == 0x200d:
		return joins(prev)
	case r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, prev)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.IsGraphic(prev) && !unicode.IsSpace(prev) && !unicode.Is(unicode.Variation_Selector, prev)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return true // a visible sign, although Unicode classifies it as a format character
	}
	return !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// joins reports whether a joiner after prev can have a meaning.
func joins(prev rune) bool {
	return prev >= 0x300 &&
		unicode.In(prev, unicode.L, unicode.M, unicode.So, unicode.Sk) &&
		!unicode.In(prev, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Invisible reports whether a character is a control character other than a line feed or a tab,
// stands for bytes that are not UTF-8, or shows nothing if nothing is before it.
func Invisible(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || !keep(r, 0)
}
