package render

import (
	"fmt"
	"strings"
	"testing"
)

// A template can have a hundred thousand variables; an answer lists some.
func TestManyMissing(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxMissing {
		fmt.Fprintf(&text, "{uv-a%d}", i)
	}
	if got := missing(text.String() + "{uv-a0}"); len(got) != maxMissing || got[maxMissing-1] != fmt.Sprintf("uv-a%d", maxMissing-1) {
		t.Errorf("%d names are not all listed: %q", maxMissing, got)
	}
	if got := missing(text.String() + "{uv-more}{uv-most}"); len(got) != maxMissing+1 || got[maxMissing] != "…" {
		t.Errorf("%d more names: %q", 2, got)
	}
	if got := missing("{uv-a}{uv-" + strings.Repeat("b", maxNames) + "}"); len(got) != 2 || got[1] != "…" {
		t.Errorf("a long name: %d names", len(got))
	}
}
