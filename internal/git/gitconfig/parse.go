package gitconfig

import (
	"bytes"
	"fmt"
	"slices"
)

// SyntaxError names the line that git would not read.
type SyntaxError struct{ Line int }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d is not valid git configuration", e.Line)
}

const (
	// maxEntries is the maximum number of variables in a file: ten thousand branches are forty
	// thousand.
	maxEntries = 1 << 18
	// maxKeys is the maximum size in bytes of all their names. A long header is part of each name
	// below it.
	maxKeys = 64 << 20
)

func errTooMuch() error {
	return fmt.Errorf("sets more than %d variables, or has %d MB of names", maxEntries, maxKeys>>20)
}

// Parse reads the text of a configuration file. Its error is a *SyntaxError, or reports that the
// text sets more than any repository needs.
func Parse(text []byte) (Config, error) {
	if before, _, ok := bytes.Cut(text, []byte{0}); ok {
		// In some places, git takes it as the end of a name, and ignores it in others.
		return nil, &SyntaxError{1 + bytes.Count(before, []byte("\n"))}
	}
	p := parser{rest: bytes.TrimPrefix(text, []byte("\ufeff")), line: 1}
	cfg := slices.Grow(Config(nil), min(bytes.Count(p.rest, []byte("=")), maxEntries)) // growing it later takes five times the memory
	keys := 0
	stem := "" // the prefix that a header adds to the names below it
	for {
		c := p.next()
		switch {
		case p.ended:
			return cfg, nil
		case isSpace(c):
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			var ok bool
			if stem, ok = p.header(); !ok {
				return cfg, &SyntaxError{p.lastLine}
			}
		case isAlpha(c):
			e, ok := p.variable(stem, c)
			if !ok {
				return cfg, &SyntaxError{p.lastLine}
			}
			if keys += len(e.Key); keys > maxKeys || len(cfg) == maxEntries {
				return nil, errTooMuch()
			}
			cfg = append(cfg, e)
		default:
			return cfg, &SyntaxError{p.lastLine}
		}
	}
}

type parser struct {
	rest     []byte
	line     int
	lastLine int    // the line of the last byte from next
	ended    bool   // next gave the newline at the end of the text
	out      []byte // the value that is read; it is reused, as a configuration can have thousands
}

// next returns the next byte, with CR LF as one newline and a newline at the end of the text.
func (p *parser) next() byte {
	p.lastLine = p.line
	if bytes.HasPrefix(p.rest, []byte("\r\n")) {
		p.rest = p.rest[1:]
	}
	if len(p.rest) == 0 {
		p.ended = true
		return '\n'
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	if c == '\n' {
		p.line++
	}
	return c
}

func (p *parser) skipLine() {
	for p.next() != '\n' {
	}
}

// header reads the text after the opening bracket of a section, and returns "section." or
// "section.subsection.".
func (p *parser) header() (stem string, ok bool) {
	var name []byte
	for {
		c := p.next()
		switch {
		case c == ']':
			return string(name) + ".", len(name) > 0
		case isSpace(c):
			sub, ok := p.subsection(c)
			return string(name) + "." + sub + ".", ok
		case isKey(c) || c == '.':
			name = append(name, lower(c))
		default:
			return "", false
		}
	}
}

// subsection reads a quoted name and the closing bracket; c is the blank before it.
func (p *parser) subsection(c byte) (string, bool) {
	for isSpace(c) {
		if c == '\n' {
			return "", false
		}
		c = p.next()
	}
	if c != '"' {
		return "", false
	}
	var sub []byte
	for {
		c := p.next()
		switch c {
		case '"':
			return string(sub), p.next() == ']'
		case '\\':
			c = p.next()
		}
		if c == '\n' {
			return "", false
		}
		sub = append(sub, c)
	}
}

// variable reads a name that begins with first, and its value.
func (p *parser) variable(stem string, first byte) (e Entry, ok bool) {
	key := append([]byte(stem), lower(first))
	c := p.next()
	for ; isKey(c); c = p.next() {
		key = append(key, lower(c))
	}
	e.Key = string(key)
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	switch c {
	case '\n':
		e.NoValue = true
		return e, true
	case '=':
		e.Value, e.Older, ok = p.value()
		return e, ok
	default:
		return e, false
	}
}

// value reads to the end of the line or, after a backslash or in quotes, beyond it. It drops
// comments, and blanks around the value. older is the value in older releases of git, if it differs.
func (p *parser) value() (value, older string, ok bool) {
	var (
		keep  int   // out without the blanks at its end
		tabs  []int // the positions of blanks other than spaces in out
		quote bool
	)
	p.out = p.out[:0]
	for {
		c := p.next()
		switch {
		case c == '\n':
			return string(p.out[:keep]), spaced(p.out[:keep], tabs), !quote
		case isSpace(c) && !quote:
			if len(p.out) > 0 {
				if c != ' ' {
					tabs = append(tabs, len(p.out))
				}
				p.out = append(p.out, c)
			}
			continue
		case (c == '#' || c == ';') && !quote:
			p.skipLine()
			return string(p.out[:keep]), spaced(p.out[:keep], tabs), true
		case c == '"':
			quote = !quote
		case c == '\\':
			switch c = p.next(); c {
			case '\n':
			case 't':
				p.out = append(p.out, '\t')
			case 'b':
				p.out = append(p.out, '\b')
			case 'n':
				p.out = append(p.out, '\n')
			case '\\', '"':
				p.out = append(p.out, c)
			default:
				return "", "", false
			}
		default:
			p.out = append(p.out, c)
		}
		keep = len(p.out)
	}
}

// spaced returns a value with spaces at some positions, "" if there are none.
func spaced(value []byte, at []int) string {
	if len(at) == 0 || at[0] >= len(value) {
		return ""
	}
	value = bytes.Clone(value)
	for _, i := range at {
		if i < len(value) {
			value[i] = ' '
		}
	}
	return string(value)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isAlpha(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isKey(c byte) bool   { return isAlpha(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
