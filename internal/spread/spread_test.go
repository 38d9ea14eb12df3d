package spread_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/spread"
)

// All of a list is gone through, once and in order, and no part is too small.
func TestCollect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int(), 0, 50).Draw(t, "list")
		share := rapid.IntRange(0, 60).Draw(t, "share")
		got := spread.Collect(list, share, func(part []int) []int {
			if len(part) < share && len(part) != len(list) {
				t.Errorf("a part of %d items; %d are worth one", len(part), share)
			}
			return slices.Clone(part)
		})
		if !slices.Equal(got, list) {
			t.Fatalf("got %v of %v", got, list)
		}
	})
}
