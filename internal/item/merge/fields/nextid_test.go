package fields_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// The larger number for the next item counts, except that a correction on one side lasts.
func TestNextID(t *testing.T) {
	t.Parallel()
	at := func(id item.ID) *ticfile.Config {
		if id == 0 {
			return nil
		}
		c, err := ticfile.ParseConfig(ticfile.NewConfig)
		if err == nil {
			err = c.SetNextID(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const spoiled = item.MaxID + 1
	for _, tt := range []struct{ base, ours, theirs, want item.ID }{
		{5, 5, 7, 7}, {5, 7, 5, 7}, {5, 6, 7, 7}, {5, 9, 7, 9}, {0, 3, 4, 4}, {0, 3, 0, 3}, {5, 0, 5, 5}, {5, 5, 0, 5},
		{spoiled, 8, spoiled, 8}, {spoiled, spoiled, 8, 8}, {spoiled, 8, 9, 9},
	} {
		if got := fields.NextID(at(tt.base), at(tt.ours), at(tt.theirs)); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}
