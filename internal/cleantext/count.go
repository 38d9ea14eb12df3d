package cleantext

import (
	"strconv"
	"strings"
)

// Count returns a number with its noun: "1 branch", "2 branches", "3 repositories".
func Count(n int, noun string) string {
	if n != 1 {
		noun = plural(noun)
	}
	return strconv.Itoa(n) + " " + noun
}

func plural(noun string) string {
	for _, end := range []string{"ch", "sh", "s", "x"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o") {
		return stem + "ies"
	}
	return noun + "s"
}
