package session

import "testing"

// Parts that were read at the same time have no order.
func TestLastSpan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		one, other span
		want       bool
	}{
		"alone":    {span{1, 2}, span{}, true},
		"after":    {span{3, 4}, span{1, 2}, true},
		"before":   {span{1, 2}, span{3, 4}, false},
		"overlaps": {span{2, 4}, span{1, 3}, false},
		"within":   {span{2, 3}, span{1, 4}, false},
	} {
		if got := tt.one.last(tt.one, tt.other); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
