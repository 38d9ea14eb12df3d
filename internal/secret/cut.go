package secret

import (
	"bytes"
	"strings"
)

// mark is where programs cut a text.
const mark = "…"

// shortestPart is the minimum length of a part of a secret that is removed.
const shortestPart = 8

// redactCut returns text without the parts of secrets next to marks.
func redactCut(p *patterns, text string) string {
	if len(p.texts) == 0 || !strings.Contains(text, mark) {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, mark)
		if !found {
			return out.String() + text
		}
		if n := beginningAt(p, before); n > 0 {
			before = before[:len(before)-n] + Mask
		}
		out.WriteString(before + mark)
		if n := endAt(p, after); n > 0 {
			out.WriteString(Mask)
			after = after[n:]
		}
		text = after
	}
}

// hasCut reports whether a document has a part of a secret next to a mark.
func hasCut(p *patterns, document []byte) bool {
	if len(p.texts) == 0 {
		return false
	}
	for rest := document; ; {
		before, after, found := bytes.Cut(rest, []byte(mark))
		if !found {
			return false
		}
		longest := len(p.texts[0])
		if beginningAt(p, string(before[max(0, len(before)-longest):])) > 0 || endAt(p, string(after[:min(len(after), longest)])) > 0 {
			return true
		}
		rest = after
	}
}

// beginningAt returns the length of the longest end of text that is the beginning of a secret.
func beginningAt(p *patterns, text string) int {
	found := 0
	for _, form := range p.texts {
		for n := min(len(form)-1, len(text)); n >= shortestPart && n > found; n-- {
			if strings.HasSuffix(text, form[:n]) {
				found = n
			}
		}
	}
	return found
}

// endAt returns the length of the longest beginning of text that is the end of a secret.
func endAt(p *patterns, text string) int {
	found := 0
	for _, form := range p.texts {
		for n := min(len(form)-1, len(text)); n >= shortestPart && n > found; n-- {
			if strings.HasPrefix(text, form[len(form)-n:]) {
				found = n
			}
		}
	}
	return found
}
