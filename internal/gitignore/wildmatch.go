package gitignore

import "strings"

// maxSteps is how many comparisons a match may take. Patterns that people write
// take fewer than a hundred.
const maxSteps = 100_000

// verdict is the result of matching a part.
type verdict int

const (
	no       verdict = iota
	yes              // pattern and text are used up
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
func wildmatch(pattern, text string, path, fold bool) bool {
	m := matcher{path: path, fold: fold, steps: maxSteps}
	return m.match(pattern, text) == yes
}

// match compares from the start of both.
func (m *matcher) match(p, text string) verdict {
	pattern := p // whether ** stands at the beginning is judged by the part that is left
	for ; p != ""; p, text = p[1:], text[1:] {
		if m.steps--; m.steps < 0 {
			return never
		}
		if text == "" && p[0] != '*' {
			return never
		}
		switch p[0] {
		case '*':
			return m.star(pattern, p, text)
		case '?':
			if m.path && text[0] == '/' {
				return no
			}
		case '[':
			rest, found, ok := m.class(p[1:], text[0])
			if !ok {
				return never
			}
			if !found || m.path && text[0] == '/' {
				return no
			}
			p = rest
		case '\\':
			if p = p[1:]; p == "" {
				return no
			}
			if m.byte(p[0]) != m.byte(text[0]) {
				return no
			}
		default:
			if m.byte(p[0]) != m.byte(text[0]) {
				return no
			}
		}
	}
	if text != "" {
		return no
	}
	return yes
}

// star matches p, which begins with a star, and is a part of pattern.
func (m *matcher) star(pattern, p, text string) verdict {
	rest := strings.TrimLeft(p, "*")
	slashes := !m.path
	if m.path && len(p)-len(rest) > 1 {
		before := len(pattern) - len(p)
		bounded := before == 0 || pattern[before-1] == '/'
		if bounded && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
			// Between slashes it can also be no folder at all.
			if rest != "" && rest[0] == '/' && m.match(rest[1:], text) == yes {
				return yes
			}
			slashes = true
		}
	}
	if rest == "" {
		if !slashes && strings.Contains(text, "/") {
			return notInDir
		}
		return yes
	}
	if !slashes && rest[0] == '/' {
		slash := strings.IndexByte(text, '/')
		if slash < 0 {
			return never
		}
		return m.match(rest[1:], text[slash+1:])
	}
	for ; text != ""; text = text[1:] {
		if !strings.ContainsRune(`*?[\`, rune(rest[0])) {
			if skipped, ok := m.find(rest[0], text, slashes); ok {
				text = skipped
			} else if slashes {
				return never
			} else {
				return notInDir
			}
		}
		if v := m.match(rest, text); v != no && (!slashes || v != notInDir) {
			return v
		} else if v == no && !slashes && text[0] == '/' {
			return notInDir
		}
		if m.steps--; m.steps < 0 {
			return never
		}
	}
	return never
}

// find returns text from the first c on, not beyond a slash unless slashes.
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

// class matches c with a set in brackets, of which p is what follows the opening
// one. It returns the rest of the pattern from the closing bracket on; ok is false
// if there is none.
func (m *matcher) class(p string, c byte) (rest string, found, ok bool) {
	c = m.byte(c)
	negated := false
	if p != "" && (p[0] == '!' || p[0] == '^') {
		negated, p = true, p[1:]
	}
	var previous byte // what a range would begin with
	for first := true; ; first = false {
		if p == "" {
			return "", false, false
		}
		switch {
		case p[0] == ']' && !first:
			return p, found != negated, true
		case p[0] == '\\':
			if p = p[1:]; p == "" {
				return "", false, false
			}
			found = found || p[0] == c
			previous = p[0]
		case p[0] == '-' && previous != 0 && len(p) > 1 && p[1] != ']':
			high := p[1]
			p = p[1:]
			if high == '\\' {
				if p = p[1:]; p == "" {
					return "", false, false
				}
				high = p[0]
			}
			found = found || previous <= c && c <= high || m.fold && 'a' <= c && c <= 'z' && previous <= c&^0x20 && c&^0x20 <= high
			previous = 0
		case p[0] == '[' && len(p) > 1 && p[1] == ':':
			end := strings.IndexByte(p[2:], ']')
			if end < 0 {
				return "", false, false
			}
			name, named := strings.CutSuffix(p[2:2+end], ":")
			if !named || end == 0 {
				// It only looked like a named class: the bracket stands for itself.
				found = found || c == '['
				previous = '['
				break
			}
			is, known := classes[name]
			if !known {
				return "", false, false
			}
			found = found || is(c) || m.fold && name == "upper" && 'a' <= c && c <= 'z'
			p = p[2+end:]
			previous = 0
		default:
			found = found || p[0] == c
			previous = p[0]
		}
		p = p[1:]
	}
}

// classes are the named sets, of ASCII.
//
//nolint:gochecknoglobals // a table that nothing changes
var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isLetter(c) || isDigit(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7f },
	"punct":  func(c byte) bool { return ' ' < c && c < 0x7f && !isLetter(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
