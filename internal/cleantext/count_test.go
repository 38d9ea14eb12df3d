package cleantext_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/cleantext"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 item": cleantext.Count(1, "item"), "0 items": cleantext.Count(0, "item"), "2 branches": cleantext.Count(2, "branch"),
		"3 repositories": cleantext.Count(3, "repository"), "2 days": cleantext.Count(2, "day"), "2 stashes": cleantext.Count(2, "stash"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
