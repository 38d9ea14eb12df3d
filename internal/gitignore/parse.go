package gitignore

import (
	"bytes"
	"strings"
)

// MaxSize is the maximum size of a file of patterns: git has no limit, but nobody writes as many.
const MaxSize = 1 << 20

// MaxPatterns is the maximum number of patterns in a file.
const MaxPatterns = 20_000

// maxPattern is the maximum length of a pattern in bytes, which is that of the longest path.
// Otherwise, each name could cost a search through a long class.
const maxPattern = 4096

// pattern is one line of a file.
type pattern struct {
	text     string // without the marks that the other fields represent
	literal  int    // the number of literal bytes at the start of the text
	negative bool   // matches are not ignored
	dirOnly  bool
	anywhere bool // it has no slash, and applies to names in any directory
}

// Parse reads the text of a file.
func Parse(text []byte) *Patterns {
	p := &Patterns{}
	for line := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\n")) {
		// For git, a line ends at a NUL.
		line, _, _ = bytes.Cut(line, []byte("\x00"))
		one, ok := parseLine(string(line))
		if !ok {
			continue
		}
		if len(p.all) == MaxPatterns {
			p.cut = true
			break
		}
		p.all = append(p.all, one)
		index := len(p.all) - 1
		switch {
		case one.anywhere && one.literal == len(one.text):
			if p.names == nil {
				p.names = make(map[string][]int)
			}
			p.names[lower(one.text)] = append(p.names[lower(one.text)], index)
		case one.anywhere && one.text[0] == '*' && literalLength(one.text[1:]) == len(one.text)-1:
			p.endings = append(p.endings, index)
		default:
			p.relative = append(p.relative, index)
		}
	}
	return p
}

// parseLine reads a line; ok is false if it has no pattern.
func parseLine(line string) (p pattern, ok bool) {
	if line == "" || line[0] == '#' {
		return pattern{}, false
	}
	text := trimSpaces(strings.TrimSuffix(line, "\r"))
	if rest, found := strings.CutPrefix(text, "!"); found {
		p.negative, text = true, rest
	}
	if rest, found := strings.CutSuffix(text, "/"); found {
		p.dirOnly, text = true, rest
	}
	p.anywhere = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" || len(text) > maxPattern {
		return pattern{}, false
	}
	p.text, p.literal = text, literalLength(text)
	return p, true
}

// trimSpaces cuts the spaces at the end that are not escaped.
func trimSpaces(s string) string {
	end := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = -1
	}
	if end >= 0 {
		return s[:end]
	}
	return s
}

// literalLength returns the number of literal bytes at the start.
func literalLength(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

// match reports whether the pattern matches the path, relative to the pattern's directory, whose
// last part is name.
func (p *pattern) match(path, name string, fold bool, effort *Effort) bool {
	if p.anywhere {
		return wildmatch(p.text, name, false, fold, effort)
	}
	if len(path) < p.literal || !same(path[:p.literal], p.text[:p.literal], fold) {
		return false
	}
	return wildmatch(p.text[p.literal:], path[p.literal:], true, fold, effort)
}
