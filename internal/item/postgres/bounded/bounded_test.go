package bounded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item/postgres/bounded"
)

func TestCheckRows(t *testing.T) {
	t.Parallel()
	if err := bounded.CheckRows(bounded.MaxRows); err != nil {
		t.Error(err)
	}
	err := fmt.Errorf("read items: %w", bounded.CheckRows(bounded.MaxRows+1))
	if !bounded.Exceeded(err) || !strings.Contains(err.Error(), "more than 500000 rows") {
		t.Error(err)
	}
}
