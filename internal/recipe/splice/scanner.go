package splice

import (
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// scanner follows a POSIX shell script, as far as is necessary to decide whether a word that begins
// at the current position, in single quotation marks, is read as one word.
type scanner struct {
	// open are the constructs that are open: single quotation marks ('), double ones ("),
	// parentheses (() and braces of a parameter ({).
	open string
	last byte
	// inWord means that a word has begun, in which # starts no comment.
	inWord  bool
	escaped bool
	comment bool
	// unsupported means that the script has something that the scanner does not support.
	unsupported bool
	// large means that the text is too long to scan.
	large bool
	// other means that it is not a POSIX shell script at all.
	other bool
	// patterns means that there was a case statement, whose patterns end with a parenthesis.
	patterns bool
}

// protects reports whether quote() protects a value at the current position.
func (s *scanner) protects() bool {
	return !s.unsupported && !s.large && !s.escaped && !s.comment && s.last != '$' && (s.open == "" || s.top() == '(')
}

// value skips a value that does not change the open constructs.
func (s *scanner) value() {
	s.last, s.inWord, s.escaped = 'x', true, false
}

// insert skips a value. An unknown value can change the open constructs.
func (s *scanner) insert(unknown bool) {
	s.value()
	s.unsupported = s.unsupported || unknown
}

func (s *scanner) top() byte {
	if s.open == "" {
		return 0
	}
	return s.open[len(s.open)-1]
}

func (s *scanner) push(c byte) {
	if len(s.open) == evaluation.MaxNesting {
		s.unsupported = true
		return
	}
	s.open += string(c)
}

func (s *scanner) pop() { s.open = s.open[:len(s.open)-1] }

// feed reads text.
func (s *scanner) feed(text string) {
	if strings.Contains(text, "case") {
		s.patterns = true
	}
	for i := 0; i < len(text) && !s.unsupported && !s.large; i++ {
		s.next(text[i])
	}
}

func (s *scanner) next(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
		if c != '\n' {
			s.last, s.inWord = 'x', true
		}
		return
	case s.comment:
		s.comment = c != '\n'
	default:
		switch s.top() {
		case '\'':
			if c == '\'' {
				s.pop()
			}
		case '{':
			s.inBraces(c)
		case '"':
			s.inDouble(c)
		default:
			s.inCode(c)
		}
	}
	s.inWord = !strings.ContainsRune(" \t\n;&|()<>", rune(c))
	s.last = c
}

// inBraces reads ${…}, of which only the plain forms are supported.
func (s *scanner) inBraces(c byte) {
	switch c {
	case '}':
		s.pop()
	case '\'', '"', '`', '\\', '$', '{':
		s.unsupported = true
	}
}

func (s *scanner) inDouble(c byte) {
	switch c {
	case '"':
		s.pop()
	case '\\':
		s.escaped = true
	case '`':
		s.unsupported = true
	default:
		s.expansion(c)
	}
}

// expansion reads an expansion, which begins with a dollar sign.
func (s *scanner) expansion(c byte) {
	if s.last != '$' {
		return
	}
	switch c {
	case '(':
		s.push('(')
		s.unsupported = s.unsupported || s.patterns
	case '{':
		s.push('{')
	case '[':
		s.unsupported = true
	}
}

func (s *scanner) inCode(c byte) {
	switch c {
	case '\\':
		s.escaped = true
	case '`':
		s.unsupported = true
	case '\'':
		if s.last == '$' {
			s.unsupported = true // other escapes
		}
		s.push('\'')
	case '"':
		s.push('"')
	case '(':
		if s.last == '(' {
			s.unsupported = true // arithmetic
		}
		s.push('(')
		s.unsupported = s.unsupported || s.patterns
	case ')':
		if s.top() == '(' {
			s.pop()
		}
	case '<':
		if s.last == '<' {
			s.unsupported = true // a here-document
		}
	case '#':
		s.comment = !s.inWord
	default:
		s.expansion(c)
	}
}

// merge returns the state after one of two texts.
func merge(a, b scanner) scanner {
	special := func(c byte) bool { return strings.IndexByte("$(<", c) >= 0 }
	if a.open != b.open || a.escaped != b.escaped || a.comment != b.comment || a.last != b.last && (special(a.last) || special(b.last)) {
		a.unsupported = true
	}
	if a.last != b.last {
		a.last = 'x'
	}
	a.inWord = a.inWord && b.inWord
	a.unsupported = a.unsupported || b.unsupported
	a.patterns = a.patterns || b.patterns
	a.large = a.large || b.large
	return a
}
