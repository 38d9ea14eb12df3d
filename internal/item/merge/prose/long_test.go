package prose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/merge/prose"
)

// Long lines that differ only at their ends cost no more than short ones.
func TestLongLines(t *testing.T) {
	t.Parallel()
	text := func(kind string) string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "%s%s%04d\n", strings.Repeat("x", 4000), kind, i)
		}
		return b.String()
	}
	begun := time.Now()
	if merged, both := prose.Merge(text("a"), text("b"), text("c")); !both || len(merged) < len(text("b"))+len(text("c")) {
		t.Errorf("both is %t, and the result has %d bytes", both, len(merged))
	}
	if took := time.Since(begun); took > 5*time.Second { // 16 s, if each comparison reads the lines
		t.Errorf("it took %s", took)
	}
}
