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

// A client that starts the server waits for it, so the commands beside it are not made.
func TestOnlyTheServerIsMade(t *testing.T) {
	t.Parallel()
	beside := func(args ...string) int {
		env := app.EmptyEnv()
		env.Args = args
		mcp, _, err := copse.Command(env).Find([]string{"mcp"})
		if err != nil {
			t.Fatal(err)
		}
		return len(mcp.Commands())
	}
	if n := beside("mcp", "serve"); n != 1 {
		t.Errorf("%d commands for the server", n)
	}
	for _, args := range [][]string{{"mcp"}, {"mcp", "--help"}, {"mcp", "install"}, {"help", "mcp"}, {"__complete", "mcp", ""}} {
		if n := beside(args...); n < 5 {
			t.Errorf("%v: %d commands", args, n)
		}
	}
}
