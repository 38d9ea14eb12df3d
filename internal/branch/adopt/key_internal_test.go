package adopt

import (
	"slices"
	"strings"
	"testing"
)

// Only the beginning of a message is searched, and no key is cut in two.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	begin := "AB-1: " + strings.Repeat("x", maxMessage-len("AB-1: ")-len(" CD-2"))
	if got := slices.Collect(keysIn(begin + " CD-23 " + strings.Repeat("EF-4 ", 10))); !slices.Equal(got, []string{"AB-1"}) {
		t.Errorf("got %q", got)
	}
	if got := slices.Collect(keysIn(begin[1:] + " CD-2")); !slices.Contains(got, "CD-2") {
		t.Errorf("a message that fits: %q", got)
	}
}
