package corpus

import (
	"strings"
	"unicode/utf8"
)

// Fold makes texts that differ in case only the same, character by character.
func Fold(s string) string { return strings.ToLower(s) }

// appendFold appends the folded text to b.
func appendFold(b []byte, s string) []byte {
	begin := len(b)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return append(b[:begin], Fold(s)...)
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// needle is a text to look for. The search goes from one occurrence of its
// rarest byte to the next, which in prose is several times faster than going by
// the first byte, as strings.Index does.
type needle struct {
	text string
	rare int // offset of the rarest byte
}

func newNeedle(text string) needle {
	n := needle{text: text}
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[n.rare]) {
			n.rare = i
		}
	}
	return n
}

// rarity is larger for bytes that are rarer in folded prose.
func rarity(b byte) int {
	const common = " etaoinsrhldcumfpgwybvkxjqz"
	switch i := strings.IndexByte(common, b); {
	case i >= 0:
		return i
	case b >= utf8.RuneSelf: // rare in one language, in every character of another
		return len(common) / 2
	default:
		return len(common)
	}
}

// index is where s has the text first, which must not be empty; -1 if nowhere.
func (n needle) index(s string) int {
	for at := n.rare; at < len(s); at++ {
		next := strings.IndexByte(s[at:], n.text[n.rare])
		if next < 0 {
			return -1
		}
		at += next
		if strings.HasPrefix(s[at-n.rare:], n.text) {
			return at - n.rare
		}
	}
	return -1
}

func (n needle) in(s string) bool { return n.index(s) >= 0 }
