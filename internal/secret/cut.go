package secret

import "bytes"

// mark is where programs cut a text.
const mark = "…"

const (
	// shortestPart is the minimum length of a part of a secret that is removed.
	shortestPart = 8
	// maxEffort is the maximum number of bytes to compare in a text. Where more are necessary,
	// everything next to a mark counts as a part of a secret.
	maxEffort = 16 << 20
)

// effort counts the compared bytes.
type effort int

// spend counts n bytes, and reports whether there are any left.
func (e *effort) spend(n int) bool {
	*e += effort(n)
	return *e <= maxEffort
}

// hasMark reports whether a text has the mark of a cut.
func hasMark[T string | []byte](text T) bool {
	for i := 0; i+len(mark) <= len(text); i++ {
		if text[i] == mark[0] && text[i+1] == mark[1] && text[i+2] == mark[2] {
			return true
		}
	}
	return false
}

// cuts adds the parts of secrets next to marks in a text. Its time grows with the size of the text,
// however many marks that has.
func (p *patterns) cuts(text []byte, all []span) []span {
	var spent effort
	for at, first := 0, true; ; first = false {
		length := bytes.Index(text[at:], []byte(mark))
		last := length < 0
		if last {
			length = len(text) - at
		}
		between := text[at : at+length]
		if n := p.endAt(between, &spent); n > 0 && !first {
			all = append(all, span{at, at + n})
		}
		if last {
			return all
		}
		if n := p.beginningAt(between, &spent); n > 0 {
			all = append(all, span{at + length - n, at + length})
		}
		at += length + len(mark)
	}
}

// beginningAt returns the length of the longest end of text that is the beginning of a secret, with
// an escape or a character at its end that the cut has left incomplete.
func (p *patterns) beginningAt(text []byte, spent *effort) int {
	if n := p.beginsIn(text, spent); n > 0 {
		return n
	}
	for i := len(text) - 1; i >= max(0, len(text)-maxEscape); i-- {
		if p.introduces(text[i]) || bytes.HasPrefix(text[i:], []byte("\uFFFD")) {
			if n := p.beginsIn(text[:i], spent); n > 0 {
				return len(text) - i + n
			}
		}
	}
	return 0
}

// longest returns the length of the longest text.
func (p *patterns) longest() int { return len(p.texts[0]) }

func (p *patterns) beginsIn(text []byte, spent *effort) int {
	for from := max(0, len(text)-p.longest()); from+shortestPart <= len(text); from++ {
		for _, form := range p.beginnings[string(text[from:from+shortestPart])] {
			rest := text[from:]
			if !spent.spend(len(rest)) {
				return len(rest)
			}
			if len(form) > len(rest) && form[:len(rest)] == string(rest) {
				return len(rest)
			}
		}
	}
	return 0
}

// endAt returns the length of the longest beginning of text that is the end of a secret, with the
// rest of an escape before it.
func (p *patterns) endAt(text []byte, spent *effort) int {
	for rest := range min(maxEscape, len(text)) {
		if n := p.endsIn(text[rest:], spent); n > 0 {
			return rest + n
		}
	}
	return 0
}

func (p *patterns) endsIn(text []byte, spent *effort) int {
	for to := min(len(text), p.longest()); to >= shortestPart; to-- {
		for _, form := range p.ends[string(text[to-shortestPart:to])] {
			if !spent.spend(to) {
				return to
			}
			if len(form) > to && form[len(form)-to:] == string(text[:to]) {
				return to
			}
		}
	}
	return 0
}
