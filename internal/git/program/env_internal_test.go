package program

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/xec"
)

// The program never sees a variable that git itself would hide from a command
// it runs in another repository, but for configuration.
func TestEnvHidesLocalVariables(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	for name := range strings.FieldsSeq(g.Run(g.Home, "rev-parse", "--local-env-vars")) {
		_, set := readOnly(xec.Env{name + "=x"}).Lookup(name)
		if set != (name == "GIT_CONFIG_COUNT") {
			t.Errorf("%s is set: %v", name, set)
		}
	}
	env := readOnly(xec.Env{"HOME=/h", "LC_ALL=de_DE", "GIT_OPTIONAL_LOCKS=1"})
	for name, want := range map[string]string{
		"HOME": "/h", "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
	} {
		if got := env.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
