package ticfile

import "strings"

// The marks that git leaves around the versions of a conflict.
const (
	markOurs   = "<<<<<<< "
	markBase   = "||||||| "
	markSplit  = "======="
	markTheirs = ">>>>>>> "
)

// hasConflict reports whether text has all marks of a conflict, in their order.
func hasConflict(text string) bool {
	for _, mark := range []string{markOurs, markSplit, markTheirs} {
		at := 0
		if !strings.HasPrefix(text, mark) {
			if at = strings.Index(text, "\n"+mark); at < 0 {
				return false
			}
		}
		text = text[at+1:]
	}
	return true
}

// Versions returns the two texts that git could not merge, ours and theirs. If
// text is not of an unfinished merge, ok is false.
func Versions(text string) (ours, theirs string, ok bool) {
	var a, b strings.Builder
	in := "" // the mark that we are behind
	for text != "" {
		line, rest := cutLine(text)
		text = rest
		next, isMark := markOf(line, in)
		switch {
		case isMark:
			in = next
			ok = ok || next == ""
		case in == markBase:
		default:
			if in != markSplit {
				a.WriteString(line)
			}
			if in != markOurs {
				b.WriteString(line)
			}
		}
	}
	return a.String(), b.String(), ok && in == ""
}

// markOf reports whether a line that comes behind the mark in is the next mark;
// the one at the end of a conflict counts as none.
func markOf(line, in string) (mark string, ok bool) {
	switch {
	case in == "" && strings.HasPrefix(line, markOurs):
		return markOurs, true
	case in == markOurs && strings.HasPrefix(line, markBase):
		return markBase, true
	case (in == markOurs || in == markBase) && bare(line) == markSplit:
		return markSplit, true
	case in == markSplit && strings.HasPrefix(line, markTheirs):
		return "", true
	}
	return "", false
}
