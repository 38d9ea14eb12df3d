package copse_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
)

// A command that is named first is made without most of the others, so it does not pay for
// them at each start.
func TestOnlyTheNamedCommandIsMade(t *testing.T) {
	t.Parallel()
	all := copse.Command(app.EmptyEnv()).Commands()
	for _, c := range all {
		env := app.EmptyEnv()
		env.Args = []string{c.Name(), "--help"}
		made := copse.Command(env).Commands()
		found := false
		for _, m := range made {
			found = found || m.Name() == c.Name()
		}
		if !found || len(made) > len(all)/2 {
			t.Errorf("%q makes %d of %d commands, found itself: %v", c.Name(), len(made), len(all), found)
		}
	}
}
