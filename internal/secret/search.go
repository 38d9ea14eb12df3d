package secret

import "slices"

// patterns finds any of several texts in one pass, which examines only a part of the bytes (the
// algorithm of Wu and Manber, with blocks of two bytes).
type patterns struct {
	texts  []string // the longest first
	minLen int      // the length of the shortest
	// shift is how far a window of minLen bytes can move if its last block has a given hash.
	shift [1 << 12]uint8
	// matters are the characters in texts, and in escapes: an escape of another one hides nothing.
	matters [256]bool
}

// none finds nothing.
var none patterns

const block = 2

func hash(a, b byte) int { return (int(a)<<5 ^ int(b)) & (1<<12 - 1) }

// compile accepts texts of at least two bytes, the longest first.
func compile(texts []string) *patterns {
	p := &patterns{texts: texts, minLen: min(len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) })), 0xff)}
	for i := range p.shift {
		p.shift[i] = uint8(p.minLen - block + 1)
	}
	for c := range p.matters {
		p.matters[c] = inEscapes(byte(c))
	}
	for _, text := range texts {
		for i := range len(text) {
			p.matters[text[i]] = true
		}
		for i := range p.minLen - block + 1 {
			h := hash(text[i], text[i+1])
			p.shift[h] = min(p.shift[h], uint8(p.minLen-block-i))
		}
	}
	return p
}

// find returns the first position of one of the patterns, and the length of the longest one there;
// 0 if there is none.
func find[T string | []byte](p *patterns, text T) (at, length int) {
	if len(p.texts) == 0 {
		return 0, 0
	}
	for end := p.minLen; end <= len(text); {
		if s := p.shift[hash(text[end-2], text[end-1])]; s > 0 {
			end += int(s)
			continue
		}
		start := end - p.minLen
		for _, pattern := range p.texts {
			if len(pattern) <= len(text)-start && string(text[start:start+len(pattern)]) == pattern {
				return start, len(pattern)
			}
		}
		end++
	}
	return 0, 0
}
