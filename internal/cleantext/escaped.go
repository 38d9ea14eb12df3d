package cleantext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character is a control character, breaks a line, or is a format
// character, such as those that change the direction of text.
func Hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// JSON returns the same JSON with escapes in place of hidden characters. Only strings can contain
// them, and encoding/json escapes no others than ASCII's.
func JSON(data []byte) []byte {
	if !hasHidden(data) {
		return data
	}
	var b strings.Builder
	b.Grow(len(data))
	for _, r := range string(data) {
		if r < utf8.RuneSelf-1 || !Hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return []byte(b.String())
}

// hasHidden reports whether JSON contains characters to escape. Line feeds between values stay.
func hasHidden(data []byte) bool {
	for _, r := range string(data) {
		if r >= utf8.RuneSelf-1 && Hidden(r) {
			return true
		}
	}
	return false
}
