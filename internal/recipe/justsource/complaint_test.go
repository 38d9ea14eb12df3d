package justsource_test

import (
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/justsource"
)

// A message contains no line of a source, wherever just shows one, and nothing about a file that is not a copy.
func TestComplaint(t *testing.T) {
	t.Parallel()
	const outside = "it reads a file outside the project; move the file into the project, or copy what you need of it"
	for stderr, want := range map[string]string{
		"error: Unknown start of token\n ——▶ /tmp/made/copies/a.just:3:1\n  │\n3 │ machine x password y\n  │ ^\n": `a.just, line 3: "Unknown start of token"`,
		"error: A is wrong\n  │\n3 │ machine x password y\n  │ ^\n ——▶ /tmp/made/copies/a.just:3:1\n":             `"A is wrong"`,
		"error: A is wrong\n3 | machine x password y\n":                                                           `"A is wrong"`,
		"error: A is wrong\n --> /home/ada/.netrc:1:1\n":                                                          outside,
		"error: A is wrong\n --> ../../.netrc:1:1\n":                                                              outside,
		"error: A is wrong\n  │\n3 │ password y\n  │ ^\n --> /tmp/copies/a.just:3:1\n":                            outside,
		"error: A `b` \"c\" is\nwrong\n":                                                                          `"A 'b' \"c\" is wrong"`,
		"error: A is wrong\n --> dir/a.just:1:1\n":                                                                `dir/a.just, line 1: "A is wrong"`,
	} {
		if got := justsource.Complaint(stderr, filepath.FromSlash("/tmp/made/copies")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
