package clientconfig

import "errors"

// maxNesting limits how deep a configuration may nest values, and how many parts a key may have.
// The libraries that read them need a kilobyte for each level and have no limit of their own.
const maxNesting = 1000

var errNested = errors.New("it nests more than 1000 values")

// checkNesting refuses a text for which a library would need much memory. It recognizes strings and
// comments. dotted means that the text is TOML, whose keys nest by their dots.
func checkNesting(text []byte, dotted bool) error {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || dotted && c == '\'':
			i = endOfString(text, i)
		case dotted && c == '#', !dotted && c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case !dotted && c == '/' && i+1 < len(text) && text[i+1] == '*':
			for i += 2; i+1 < len(text) && (text[i] != '*' || text[i+1] != '/'); i++ {
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(depth-1, 0)
		case dotted && c == '.':
			dots++
		case c == '\n' || c == ',':
			dots = 0
		}
		if max(depth, dots) > maxNesting {
			return errNested
		}
	}
	return nil
}

// endOfString returns the end of the string that begins at i: its quote, or the end of the line.
func endOfString(text []byte, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
		if text[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}
