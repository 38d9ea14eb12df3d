package cleantext

import "strings"

// Command returns a command as a person types it in a POSIX shell, in one line: it quotes words, so
// the name of a file or branch that a stranger chose remains one argument when somebody pastes it.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Word(Line(word))
	}
	return strings.Join(quoted, " ")
}

// Word quotes one argument for a POSIX shell, if it must be.
func Word(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether a character can have a meaning in a shell.
func special(r rune) bool {
	return !strings.ContainsRune("-_./:=,@+%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
}

// Completion reports whether a shell can insert a value as it is. The scripts of some shells insert
// what several values have in common without quotation marks, and evaluate the line again. A blank
// between words is harmless.
func Completion(value string) bool {
	if value != Line(value) {
		return false
	}
	for i, word := range strings.Split(value, " ") {
		if i > 0 && (word == "" || word[0] == '-') || strings.ContainsFunc(word, special) {
			return false
		}
	}
	return true
}
