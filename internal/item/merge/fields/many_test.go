package fields_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
)

// A program that pushes to a branch can write an item with a hundred thousand comments, labels, or
// dependencies. Merging it takes no quadratic time.
func TestMany(t *testing.T) {
	t.Parallel()
	const many = 100_000
	comments := func(body string) (all []item.Comment) {
		for i := range many {
			all = append(all, item.Comment{Author: "a", Date: fmt.Sprintf("2026-01-01T00:00:00.%03dZ", i%1000), Body: fmt.Sprint(body, i)})
		}
		return all
	}
	labels := func(kind string) (all []string) {
		for i := range many {
			all = append(all, fmt.Sprint(kind, i))
		}
		return append(all, "shared", "shared")
	}
	begun := time.Now()
	base := comments("C")
	merged := fields.Comments(base, append(comments("A"), base[7]), append(comments("B"), base[7]))
	if n := len(merged); n < 2*many {
		t.Errorf("%d comments", n)
	}
	set := fields.Set(labels("C"), labels("A"), labels("B"), cmp.Compare)
	if len(set) != 2*many+1 || set[0] != "shared" || !slices.IsSorted(set[1:]) {
		t.Errorf("%d labels, the first is %q", len(set), set[0])
	}
	if took := time.Since(begun); took > 20*time.Second { // many minutes, if it is quadratic
		t.Errorf("it took %s", took)
	}
}
