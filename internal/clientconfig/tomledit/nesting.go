package tomledit

import "fmt"

// maxNesting limits how deep a text may nest values, and how many parts a key may have. The library
// that reads it needs a kilobyte for each level and has no limit of its own.
const maxNesting = 1000

// checkNesting refuses a text that nests too deep. Keys nest by their dots. What is in strings and
// comments does not count.
func checkNesting(text []byte) error {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = endOfString(text, i)
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			dots++
		case '\n', ',':
			dots = 0
		}
		if max(depth, dots) > maxNesting {
			return fmt.Errorf("it nests more than %d values", maxNesting)
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
