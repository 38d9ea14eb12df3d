package page

import (
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Sizes returns the size of a list in JSON in bytes, with a separator for each item.
func Sizes[T any](items []T) int {
	n := 0
	for _, item := range items {
		n += Size(item) + 1
	}
	return n
}

// Head cuts a text so that it takes at most budget bytes in JSON, and returns the number of omitted
// bytes.
func Head(text string, budget int) (string, int) {
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

// Tail cuts lines from the front of a text so that it takes at most budget bytes in JSON, and
// returns the number of omitted bytes. If the last line alone is too long, its end stays.
func Tail(text string, budget int) (string, int) {
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
