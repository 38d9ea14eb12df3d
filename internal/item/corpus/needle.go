package corpus

import "strings"

// Fold returns a text in which letters that differ only in case are the same, character by
// character.
func Fold(s string) string { return strings.ToLower(s) }

// frequencies are approximate frequencies of bytes in a text.
type frequencies [256]uint16

// newFrequencies samples some bytes of a text.
func newFrequencies(text string) *frequencies {
	const step = 16
	f := new(frequencies)
	for i := step / 2; i < len(text); i += step {
		if n := &f[text[i]]; *n < 1<<16-1 {
			*n++
		}
	}
	return f
}

// needle is a text to search for. The search jumps between occurrences of its rarest byte, which is
// several times faster than using the first byte, as strings.Index does.
type needle struct {
	text string
	rare int // offset of the rarest byte
}

// newNeedle returns a text to be looked for where bytes are so frequent.
func newNeedle(text string, in *frequencies) needle {
	n := needle{text: text}
	for i := range len(text) {
		if in[text[i]] < in[text[n.rare]] {
			n.rare = i
		}
	}
	return n
}

// index returns the first position of the needle in s, which must not be empty; -1 if there is
// none.
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
