package evaluation_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// canary is a program that evaluates what a program could: the value of an option for commands, each
// argument that is more than a plain word, and all arguments from the name of a shell on.
const canary = `
tool() {
	run=
	for word; do
		case $run$word in yes*\$*) sh -c "$word" ;; esac
		run=
		case $word in
		-c | -ec | -x | --exec | --command) run=yes ;;
		-c*\$* | --exec=*\$*) sh -c "${word#*[=c]}" ;;
		*[\ \;]*) sh -c "$word" ;;
		esac
	done 2>/dev/null
	while [ $# -gt 0 ]; do
		case $1 in sh | bash | /bin/sh) case "$*" in *\$*) "$@" 2>/dev/null </dev/null ;; esac ;; esac
		shift
	done
}
`

// Whatever the words of a command are, a value runs in no script that is accepted. The seed is constant.
func TestCanary(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("bash"); err != nil {
		need.Skip(t, "bash is not installed")
	}
	words := []string{
		"X", "X", "\"$x\"", "\"a;$x\"", "'a '\"$x\"", "a/X.b", "--name=X", "--exec=X", "-cX", "$x", "\"${x:+b;$x}\"",
		"a", "b.c", "--name", "-v", "-c", "-ec", "-x", "--exec", "--command", "--", "sh", "bash", "/bin/sh", "-o",
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same commands each time
	var accepted, refused strings.Builder
	for range 1000 {
		command := "tool"
		for range 1 + random.IntN(5) {
			command += " " + words[random.IntN(len(words))]
		}
		from := evaluation.Script{Text: strings.ReplaceAll(command, "X", "'"+evaluation.Value+"'"), Shell: "sh", Exported: map[string]bool{"x": true}}
		inserted, variables := from.Evaluates(nil)
		to := &refused
		if inserted+variables == "" {
			to = &accepted
		}
		to.WriteString(strings.ReplaceAll(command, "X", "'$(>RAN)'") + "\n")
	}
	runs := func(commands string) bool {
		dir := t.TempDir()
		script := "x='$(>RAN)'" + canary + commands
		_, _ = xec.Run(t.Context(), xec.Command{Name: "bash", Args: []string{"-c", script}, Dir: dir, Env: xec.Env(os.Environ())})
		_, err := os.Stat(filepath.Join(dir, "RAN"))
		return err == nil
	}
	some := strings.SplitAfterN(refused.String(), "\n", 41)
	if runs(accepted.String()) || !runs(strings.Join(some[:40], "")) {
		t.Errorf("a value ran in one of these, or in none of the refused commands:\n%s", accepted.String())
	}
	if n := strings.Count(accepted.String(), "\n"); n < 100 || n > 500 {
		t.Errorf("%d of 1000 commands are accepted", n)
	}
}
