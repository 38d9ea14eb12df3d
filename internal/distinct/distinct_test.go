package distinct_test

import (
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/distinct"
)

func TestList(t *testing.T) {
	t.Parallel()
	var none distinct.List[string]
	if none.Has("") || none.Values() != nil {
		t.Error("the zero value is not empty")
	}
	l := distinct.Of("b", "a", "b")
	if l.Add("a") || !l.Add("c") || !l.Has("c") || l.Has("d") {
		t.Error("a value comes twice, or is lost")
	}
	if got := l.Values(); !slices.Equal(got, []string{"b", "a", "c"}) || l.Len() != 3 {
		t.Errorf("got %q", got)
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	if got := distinct.Without([]int{1, 2, 3, 1, 4}, []int{3, 4, 5}); !slices.Equal(got, []int{1, 2, 1}) {
		t.Errorf("got %v", got)
	}
}
