package justsource_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/recipe/justsource"
)

// A message contains no line of a source, wherever just shows one.
func TestComplaint(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"error: Unknown start of token\n ——▶ /copies/a.just:3:1\n  │\n3 │ machine x password y\n  │ ^\n": "a.just, line 3: Unknown start of token",
		"error: A is wrong\n  │\n3 │ machine x password y\n  │ ^\n ——▶ /copies/a.just:3:1\n":             "A is wrong",
		"error: A is wrong\n3 | machine x password y\n":                                                  "A is wrong",
	} {
		if got := justsource.Complaint(stderr, "/copies"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
