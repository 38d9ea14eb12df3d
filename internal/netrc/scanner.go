package netrc

import "strings"

// scanner splits a netrc file into words.
type scanner struct{ rest string }

const blanks = " \t\r\n\v\f"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// keyword returns the next word in lower case if a keyword is expected, and false at the end. A
// quoted word is not a keyword and is returned as "".
func (sc *scanner) keyword() (string, bool) {
	sc.skipBlanks(false)
	if sc.rest == "" {
		return "", false
	}
	word, quoted := sc.word()
	if quoted {
		return "", true
	}
	return strings.ToLower(word), true
}

// value returns the word that follows a keyword as its value. It returns false, and does not
// consume the word, if it cannot be the value.
func (sc *scanner) value() (string, bool) {
	newline := sc.skipBlanks(true)
	before := sc.rest
	if before == "" {
		return "", false
	}
	word, quoted := sc.word()
	if !quoted && (strings.EqualFold(word, "machine") || newline && isKeyword(word)) {
		sc.rest = before
		return "", false
	}
	return word, true
}

func isKeyword(word string) bool {
	switch strings.ToLower(word) {
	case "machine", "default", "macdef", "login", "password", "account":
		return true
	}
	return false
}

// skipBlanks skips blanks and comments, and reports whether it crossed a line break. With value
// set, a "#" on the current line begins a comment only if a blank follows.
func (sc *scanner) skipBlanks(value bool) (newline bool) {
	for {
		word := strings.TrimLeft(sc.rest, blanks)
		newline = newline || strings.Contains(sc.rest[:len(sc.rest)-len(word)], "\n")
		sc.rest = word
		if word == "" || word[0] != '#' {
			return newline
		}
		if value && !newline && len(word) > 1 && !isBlank(word[1]) {
			return newline
		}
		sc.skipLine()
		newline = true
	}
}

// skipLine goes to the beginning of the next line.
func (sc *scanner) skipLine() {
	_, sc.rest, _ = strings.Cut(sc.rest, "\n")
}

// skipMacro skips to the line after the next empty line.
func (sc *scanner) skipMacro() {
	sc.skipLine()
	for sc.rest != "" {
		line, rest, _ := strings.Cut(sc.rest, "\n")
		sc.rest = rest
		if line == "" || line == "\r" {
			return
		}
	}
}

// word consumes the first word of rest, which is not empty.
func (sc *scanner) word() (word string, quoted bool) {
	if sc.rest[0] == '"' {
		if word, ok := sc.quoted(); ok {
			return word, true
		}
	}
	end := strings.IndexAny(sc.rest, blanks)
	if end < 0 {
		end = len(sc.rest)
	}
	word, sc.rest = sc.rest[:end], sc.rest[end:]
	return word, false
}

// quoted consumes the quoted word at the beginning of rest, if it is well-formed.
func (sc *scanner) quoted() (string, bool) {
	var b strings.Builder
	for i := 1; i < len(sc.rest); i++ {
		switch c := sc.rest[i]; c {
		case '"':
			if i+1 < len(sc.rest) && !isBlank(sc.rest[i+1]) {
				return "", false
			}
			sc.rest = sc.rest[i+1:]
			return b.String(), true
		case '\n':
			return "", false
		case '\\':
			i++
			if i == len(sc.rest) || sc.rest[i] == '\n' {
				return "", false
			}
			b.WriteByte(unescape(sc.rest[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
