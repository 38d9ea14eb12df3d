package program

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/xec"
)

// The program never sees a variable that git itself would hide from a command
// it runs in another repository, but for configuration, nor one that names a program.
func TestEnvHidesLocalVariables(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	for name := range strings.FieldsSeq(g.Run(g.Home, "rev-parse", "--local-env-vars")) {
		_, set := environment(xec.Env{name + "=x"}, Repository{Dir: g.Home}).Lookup(name)
		if set != (name == "GIT_CONFIG_COUNT" || name == "GIT_NO_REPLACE_OBJECTS") {
			t.Errorf("%s is set: %v", name, set)
		}
	}
	env := environment(xec.Env{
		"HOME=/h", "LC_ALL=de_DE", "GIT_OPTIONAL_LOCKS=1", "GIT_EXTERNAL_DIFF=x", "GIT_TRACE2=/x", "GIT_SSH_COMMAND=x", "SSH_ASKPASS=x",
		"GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_KEY_0=k", "PATH=.:/bin::rel:/usr/bin",
	}, Repository{Dir: "/a/b", Root: "/a/b"})
	for name, want := range map[string]string{
		"HOME": "/h", "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
		"GIT_EXTERNAL_DIFF": "", "GIT_TRACE2": "", "GIT_SSH_COMMAND": "", "SSH_ASKPASS": "", "GIT_CONFIG_GLOBAL": "/g", "GIT_CONFIG_KEY_0": "k",
		"GIT_ALLOW_PROTOCOL": ":", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "PATH": "/bin:/usr/bin",
		"GIT_WORK_TREE": "/a/b", "GIT_CEILING_DIRECTORIES": ":/a",
	} {
		if got := env.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
