package gitignore

import "strings"

// maxSteps is the maximum number of comparisons in a match. Patterns that people write take fewer
// than a hundred.
const maxSteps = 100_000

// classStep is the number of bytes of a class examined in the time of one step.
const classStep = 4

// verdict is the result of matching a part.
type verdict int

const (
	no       verdict = iota
	yes              // pattern and text are exhausted
	never            // no, and it does not help to let an earlier star take more
	notInDir         // no, and only an earlier ** can help
)

// matcher matches one text.
type matcher struct {
	path  bool // a star does not match a slash, ** does
	fold  bool
	steps int
}

// wildmatch reports whether a pattern of the shell's kind matches the whole text, as
// git understands it.
func wildmatch(pattern, text string, path, fold bool, effort *Effort) bool {
	m := matcher{path: path, fold: fold, steps: maxSteps}
	v := m.match(pattern, text)
	effort.step(maxSteps - m.steps)
	return v == yes
}

// match compares from the start of both.
func (m *matcher) match(p, text string) verdict {
	pattern := p // the whole pattern shows whether ** is at its beginning
	for p != "" {
		if m.steps--; m.steps < 0 {
			return never
		}
		if p[0] == '*' {
			return m.star(pattern, p, text)
		}
		if text == "" {
			return never
		}
		var v verdict
		if p, v = m.one(p, text[0]); v != yes {
			return v
		}
		text = text[1:]
	}
	if text != "" {
		return no
	}
	return yes
}

// one matches the beginning of p, which is not a star, with the character c. It returns
// the rest of p.
func (m *matcher) one(p string, c byte) (rest string, v verdict) {
	switch p[0] {
	case '?':
		if m.path && c == '/' {
			return "", no
		}
		return p[1:], yes
	case '[':
		rest, found, ok := m.class(p[1:], c)
		m.steps -= (len(p) - len(rest)) / classStep
		if !ok {
			return "", never
		}
		if !found || m.path && c == '/' {
			return "", no
		}
		return rest, yes
	case '\\':
		if p = p[1:]; p == "" {
			return "", no
		}
	}
	if m.byte(p[0]) != m.byte(c) {
		return "", no
	}
	return p[1:], yes
}

// star matches p, which begins with a star, and is a part of pattern.
func (m *matcher) star(pattern, p, text string) verdict {
	rest := strings.TrimLeft(p, "*")
	slashes := !m.path || len(p)-len(rest) > 1 && wholeName(pattern, p, rest)
	if m.path && slashes && strings.HasPrefix(rest, "/") && m.match(rest[1:], text) == yes {
		return yes // ** between slashes can stand for no directory at all
	}
	switch {
	case rest == "" && !slashes && strings.Contains(text, "/"):
		return notInDir
	case rest == "":
		return yes
	case rest[0] == '/' && !slashes:
		slash := strings.IndexByte(text, '/')
		if slash < 0 {
			return never
		}
		return m.match(rest[1:], text[slash+1:])
	}
	return m.anywhere(rest, text, slashes)
}

// wholeName reports whether the stars between the beginning of p and rest are a whole
// name of the pattern, bounded by slashes or its ends.
func wholeName(pattern, p, rest string) bool {
	before := len(pattern) - len(p)
	return (before == 0 || pattern[before-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
}

// anywhere matches p, which follows a star, with text or the end of it. The text that the star
// matches has a slash only if slashes is set.
func (m *matcher) anywhere(p, text string, slashes bool) verdict {
	literal := !strings.ContainsRune(`*?[\`, rune(p[0]))
	for ; text != ""; text = text[1:] {
		if literal {
			skipped, ok := m.find(p[0], text, slashes)
			switch {
			case !ok && slashes:
				return never
			case !ok:
				return notInDir
			}
			text = skipped
		}
		switch v := m.match(p, text); {
		case v != no && (!slashes || v != notInDir):
			return v
		case v == no && !slashes && text[0] == '/':
			return notInDir
		}
		if m.steps--; m.steps < 0 {
			return never
		}
	}
	return never
}

// find returns text from the first c on, not beyond a slash unless slashes is set.
func (m *matcher) find(c byte, text string, slashes bool) (string, bool) {
	for i := range len(text) {
		if m.byte(text[i]) == m.byte(c) {
			return text[i:], true
		}
		if !slashes && text[i] == '/' {
			break
		}
	}
	return "", false
}

func (m *matcher) byte(c byte) byte {
	if m.fold && 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// class matches c with a set in brackets; p is the text after the opening one. It returns the rest
// of the pattern after the closing bracket; ok is false if there is none.
func (m *matcher) class(p string, c byte) (rest string, found, ok bool) {
	s := set{c: m.byte(c), fold: m.fold}
	negated := p != "" && (p[0] == '!' || p[0] == '^')
	if negated {
		p = p[1:]
	}
	for first := true; p != ""; first = false {
		if p[0] == ']' && !first {
			return p[1:], s.found != negated, true
		}
		if p, ok = s.element(p); !ok {
			break
		}
	}
	return "", false, false
}

// set looks for a character in a set in brackets.
type set struct {
	c        byte
	fold     bool
	found    bool
	previous byte // that a range would begin with; 0 if there is none
}

// element reads the first element of p and returns the text after it; ok is false if it has no end.
func (s *set) element(p string) (rest string, ok bool) {
	switch {
	case p[0] == '-' && s.previous != 0 && len(p) > 1 && p[1] != ']':
		high, rest, ok := unescape(p[1:])
		s.found = s.found || s.previous <= s.c && s.c <= high ||
			s.fold && 'a' <= s.c && s.c <= 'z' && s.previous <= s.c&^0x20 && s.c&^0x20 <= high
		s.previous = 0
		return rest, ok
	case strings.HasPrefix(p, "[:"):
		return s.named(p)
	}
	one, rest, ok := unescape(p)
	s.found = s.found || ok && one == s.c
	s.previous = one
	return rest, ok
}

// named reads a class such as [:alpha:].
func (s *set) named(p string) (rest string, ok bool) {
	text, rest, closed := strings.Cut(p[len("[:"):], "]")
	if !closed {
		return "", false
	}
	name, named := strings.CutSuffix(text, ":")
	if !named || text == "" {
		// It only looked like a class: the bracket is literal.
		s.found, s.previous = s.found || s.c == '[', '['
		return p[1:], true
	}
	is := class(name)
	if is == nil {
		return "", false
	}
	s.found = s.found || is(s.c) || s.fold && name == "upper" && 'a' <= s.c && s.c <= 'z'
	s.previous = 0
	return rest, true
}

// unescape returns the first character of p, which a backslash may precede, and the rest.
func unescape(p string) (c byte, rest string, ok bool) {
	if p[0] == '\\' {
		if p = p[1:]; p == "" {
			return 0, "", false
		}
	}
	return p[0], p[1:], true
}

// class returns a named set, of ASCII; nil for an unknown name.
func class(name string) func(c byte) bool {
	switch name {
	case "alnum":
		return func(c byte) bool { return isLetter(c) || isDigit(c) }
	case "alpha":
		return isLetter
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 0x7f }
	case "digit":
		return isDigit
	case "graph":
		return func(c byte) bool { return ' ' < c && c < 0x7f }
	case "lower":
		return func(c byte) bool { return 'a' <= c && c <= 'z' }
	case "print":
		return func(c byte) bool { return ' ' <= c && c < 0x7f }
	case "punct":
		return func(c byte) bool { return ' ' < c && c < 0x7f && !isLetter(c) && !isDigit(c) }
	case "space":
		return func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
	case "upper":
		return func(c byte) bool { return 'A' <= c && c <= 'Z' }
	case "xdigit":
		return func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
	}
	return nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
