package tomledit

import (
	"bytes"
	"fmt"
)

// maxNesting limits how deep a text may nest values, and how many parts a key may have. The library
// that reads it needs a kilobyte for each level and has no limit of its own.
const maxNesting = 1000

// maxKeys limits the keys, tables, and lists of a text. The library compares each key with all others
// of its table.
const maxKeys = 10_000

// checkNesting refuses a text that nests too deep, or has too many keys. Keys nest by their dots.
// What is in strings and comments does not count.
func checkNesting(text []byte) error {
	depth, dots, keys := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = endOfString(text, i)
		case '=':
			keys++
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '[', '{':
			depth++
			keys++
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			dots++
			keys++
		case '\n', ',':
			dots = 0
		}
		if max(depth, dots) > maxNesting {
			return fmt.Errorf("it nests more than %d values", maxNesting)
		}
		if keys > maxKeys {
			return fmt.Errorf("it has more than %d keys, tables, and lists", maxKeys)
		}
	}
	return nil
}

// endOfString returns the end of the string that begins at i: its quote, or the end of the line. A
// string that begins with three quotes has several lines, and ends with three.
func endOfString(text []byte, i int) int {
	quote := text[i]
	if long := bytes.Repeat([]byte{quote}, 3); bytes.HasPrefix(text[i:], long) {
		for i += 3; i < len(text) && !bytes.HasPrefix(text[i:], long); i++ {
			if text[i] == '\\' && quote == '"' {
				i++
			}
		}
		for i += 2; i+1 < len(text) && text[i+1] == quote; i++ { // the string can end with quotes of its own
		}
		return i
	}
	for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
		if text[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}
