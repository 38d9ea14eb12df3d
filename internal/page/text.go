package page

import (
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

// Sizes returns the size of a list in JSON in bytes, with a separator for each item.
func Sizes[T any](items []T) int {
	n := 0
	for _, item := range items {
		n += Size(item) + 1
	}
	return n
}

// Head removes the known secrets from a text, cuts it so that it takes at most budget bytes in JSON, and returns
// the number of omitted bytes.
func Head(known *secret.Set, text string, budget int) (string, int) {
	text = known.Redact(text) // a part of a secret would remain after a cut
	cut := text
	for size := Size(cut); size > budget && cut != ""; size = Size(cut) {
		n := utf8.RuneCountInString(cut)
		cut = cleantext.Cut(cut, min(n-1, n*budget/size))
	}
	if cut == text {
		return text, 0
	}
	return cut, len(text) - len(strings.TrimSuffix(cut, "…"))
}

// Tail removes the known secrets from a text, cuts lines from its front so that it takes at most budget bytes in
// JSON, and returns the number of omitted bytes. If the last line alone is too long, its end stays.
func Tail(known *secret.Set, text string, budget int) (string, int) {
	text = known.Redact(text)
	cut := text
	for size := Size(cut); size > budget && cut != ""; size = Size(cut) {
		from := max(len(cut)-len(cut)*max(budget, 0)/size, 1)
		for from < len(cut) && !utf8.RuneStart(cut[from]) {
			from++
		}
		if next := strings.IndexByte(cut[from-1:], '\n'); next >= 0 && from+next < len(cut) {
			from += next
		}
		cut = cut[from:]
	}
	return cut, len(text) - len(cut)
}
