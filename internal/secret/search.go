package secret

import "slices"

// patterns finds any of several texts in one pass, which examines only a part of the bytes (the
// algorithm of Wu and Manber, with blocks of two bytes).
type patterns struct {
	texts  []string // the longest first
	minLen int      // the length of the shortest
	// shift is how far a window of minLen bytes can move if its last block has a given hash.
	shift [1 << 12]uint8
	// matters are the characters in texts, in escapes, and in invisible characters: an escape of
	// another one hides nothing.
	matters [256]bool
	quotes  bool // a text has a quotation mark
	// beginnings and ends are the texts by their first and last bytes.
	beginnings, ends map[string][]string
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
		p.matters[c] = inEscapes(byte(c)) || unusual(byte(c))
	}
	p.beginnings, p.ends = make(map[string][]string), make(map[string][]string)
	for _, text := range texts {
		for i := range len(text) {
			p.matters[text[i]] = true
			p.quotes = p.quotes || quote(text[i])
		}
		if last := len(text) - shortestPart; last > 0 {
			p.beginnings[text[:shortestPart]] = append(p.beginnings[text[:shortestPart]], text)
			p.ends[text[last:]] = append(p.ends[text[last:]], text)
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

// span is a part of a text.
type span struct{ from, to int }

// spans returns the parts of a text that reveal a secret: also one with escaped characters, and a
// part of one next to the mark of a cut. They are in order and do not overlap. Each level of escapes
// is decoded once, so the time grows with the size of the text and not with the number of secrets
// in it.
func spans[T string | []byte](p *patterns, text T) []span {
	if len(p.texts) == 0 {
		return nil
	}
	all := collect(p, text, nil, nil)
	d, ok := decode(p, text)
	for level := 0; ok && level < maxLevels; level++ {
		all = collect(p, d.text, &d, all)
		d, ok = d.again(p)
	}
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	merged := all[:0]
	for _, s := range all {
		if last := len(merged) - 1; last >= 0 && s.from < merged[last].to {
			merged[last].to = max(merged[last].to, s.to)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// collect adds the parts of a text, which was decoded unless d is nil.
func collect[T string | []byte](p *patterns, text T, d *decoded, all []span) []span {
	first := len(all)
	for at := 0; ; {
		from, length := find(p, text[at:])
		if length == 0 {
			break
		}
		all = append(all, span{at + from, at + from + length})
		at += from + length
	}
	if hasMark(text) {
		all = p.cuts([]byte(text), all)
	}
	if d != nil {
		for i, s := range all[first:] {
			all[first+i] = span{d.original(s.from), d.ending(s.to)}
		}
	}
	return all
}
