package renumbered_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

const created = "2026-01-02T03:04:05.678Z"

// numbers returns the earlier numbers of an item.
func numbers(text string, id item.ID) []item.ID {
	var found []item.ID
	for _, r := range renumbered.Of(renumbered.Parse(text), id, created) {
		found = append(found, r.From)
	}
	return found
}

func line(from, to int) string { return fmt.Sprintf("%d\t%d\t%s\t2026-11-21\n", from, to, created) }

func TestOf(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(line(8, 5), "678Z", "999Z")
	text := line(2, 9) + line(5, 2) + line(7, 5) + line(9, 7) + line(6, 9) + other
	if diff := cmp.Diff([]item.ID{2, 6, 5, 7}, numbers(text, 9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := numbers(text, 4); got != nil {
		t.Errorf("an item that kept its number had %v", got)
	}
}

// A file of strangers with any number of records costs a look at each record, not at each
// pair of them.
func TestHostileRecords(t *testing.T) {
	t.Parallel()
	const most = 100_000
	var chain, star strings.Builder
	for i := 1; i <= most; i++ {
		chain.WriteString(line(i+1, i))
		star.WriteString(line(i+1, 1))
	}
	for name, text := range map[string]string{"chain": chain.String(), "star": star.String()} {
		if got := len(numbers(text, 1)); got != 100 {
			t.Errorf("%s: %d earlier numbers", name, got)
		}
	}
}
