package ticfile

import "strings"

// The characters of the marks that git leaves around the versions of a conflict, and
// how many of them a mark has at least. One that is inside another, or of a file that both
// sides renamed, has more.
const (
	markOurs   = '<'
	markBase   = '|'
	markSplit  = '='
	markTheirs = '>'
	markSize   = 7
)

// hasConflict reports whether text has all marks of a conflict, in their order.
func hasConflict(text string) bool {
	if !strings.Contains(text, "<<<<<<< ") {
		return false
	}
	in := conflict{}
	for text != "" {
		line, rest := cutLine(text)
		text = rest
		if next, ok := in.next(line); ok {
			if in = next; in.mark == 0 {
				return true
			}
		}
	}
	return false
}

// Versions returns the two texts that git could not merge, ours and theirs. If
// text is not of an unfinished merge, ok is false.
func Versions(text string) (ours, theirs string, ok bool) {
	var a, b strings.Builder
	in := conflict{}
	for text != "" {
		line, rest := cutLine(text)
		text = rest
		next, isMark := in.next(line)
		switch {
		case isMark:
			in = next
			ok = ok || in.mark == 0
		case in.mark == markBase:
		default:
			if in.mark != markSplit {
				a.WriteString(line)
			}
			if in.mark != markOurs {
				b.WriteString(line)
			}
		}
	}
	return a.String(), b.String(), ok && in.mark == 0
}

// conflict is where a line is: behind a mark of a size, or behind none.
type conflict struct {
	mark rune
	size int
}

// next returns what a line that is a mark leads to; ok is false if it is none.
func (c conflict) next(line string) (next conflict, ok bool) {
	if line == "" {
		return conflict{}, false
	}
	mark := rune(line[0])
	rest := strings.TrimLeft(line, line[:1])
	size := len(line) - len(rest)
	if size < markSize || c.mark != 0 && size != c.size {
		return conflict{}, false
	}
	labeled := strings.HasPrefix(rest, " ")
	switch {
	case c.mark == 0 && mark == markOurs && labeled, c.mark == markOurs && mark == markBase && labeled:
		return conflict{mark, size}, true
	case (c.mark == markOurs || c.mark == markBase) && mark == markSplit && bare(rest) == "":
		return conflict{mark, size}, true
	case c.mark == markSplit && mark == markTheirs && labeled:
		return conflict{}, true
	}
	return conflict{}, false
}
