package joblog

import (
	"strings"
	"testing"
)

// The end of a log begins with a line, or with the mark of a cut, next to which a part of a secret is recognized.
func TestLastBytes(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"abc": "abc", "abcd\nefghi": "efghi", "abcdefghijklm": "…defghijklm", "abcdefghij": "…abcdefghij", "a\nbcdefghij": "bcdefghij",
	} {
		if got, err := lastBytes(strings.NewReader(log), 10); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", log, got, err, want)
		}
	}
}
