package yamlmap

import (
	"strings"
	"unicode/utf8"
)

// meaning is the kind of value that a plain scalar has.
type meaning int

const (
	text meaning = iota
	null
	boolean
	number
)

// meaningOf returns the meaning of a plain scalar in the core schema of YAML 1.2.
func meaningOf(s string) meaning {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return boolean
	}
	if isNumber(s) {
		return number
	}
	return text
}

func isNumber(s string) bool {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return true
	}
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	if digits, ok := strings.CutPrefix(s, "0o"); ok {
		return digits != "" && strings.Trim(digits, "01234567") == ""
	}
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	switch s {
	case ".inf", ".Inf", ".INF":
		return true
	}
	whole := leadingDigits(s)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = leadingDigits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && leadingDigits(s) == len(s)
}

func leadingDigits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// encode returns s as a scalar on one line: plain if that has the same meaning, otherwise in double
// quotes, or in single quotes if that saves escapes.
func encode(s string) string {
	switch {
	case s == "":
		return `""`
	case strings.ContainsFunc(s, needsEscape):
		return quoteDouble(s)
	case s == strings.Trim(s, " \t") && isPlain(s) && meaningOf(s) == text:
		return s
	case strings.Contains(s, `"`) && !strings.Contains(s, "'"):
		return "'" + s + "'"
	default:
		return quoteDouble(s)
	}
}

// needsEscape reports whether r must, or should, be in double quotes.
func needsEscape(r rune) bool {
	return r < 0x20 && r != '\t' || 0x7f <= r && r <= 0x9f
}

// Lines are folded to this many columns, and values continue with this indent.
const (
	width  = 80
	indent = "  "
)

// fold breaks a scalar that begins at column into lines, at single spaces, the
// last that keep a line within the width. Columns are UTF-16 units, as npm's yaml
// counts, which also leaves alone what would fit on a line of its own.
func fold(scalar string, column int, newline string) string {
	const room = width - len(indent) + 1
	if len(scalar) <= room {
		return scalar
	}
	if units(scalar) <= room {
		return scalar
	}
	var b strings.Builder
	limit := width - column
	begin, space, unit, spaceUnit := 0, -1, 0, 0
	for i, r := range scalar {
		if r == ' ' && i > 0 && i+1 < len(scalar) && !isMargin(scalar[i-1]) && !isMargin(scalar[i+1]) {
			space, spaceUnit = i, unit
		}
		if unit >= limit && space >= 0 {
			b.WriteString(scalar[begin:space] + newline + indent)
			begin, limit = space+1, spaceUnit+room
			space = -1
		}
		unit += unitsOf(r)
	}
	b.WriteString(scalar[begin:])
	return b.String()
}

func isMargin(c byte) bool { return c == ' ' || c == '\t' }

func units(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xffff && r <= utf8.MaxRune {
		return 2
	}
	return 1
}
