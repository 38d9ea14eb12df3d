package cleantext_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/xec"
)

// Whatever a stranger chose as a name, the command gets it as one argument, and runs nothing else.
func TestCommand(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "main", "x;touch${IFS}PWNED", "$(touch PWNED)", "`id`", "it's", "a b", "~", "*", "#x", "!x", "ä", "a\nb", "\x1b[31m"} {
		want := cleantext.Line(word)
		ran, err := xec.Run(t.Context(), xec.Command{
			Name: "sh", Args: []string{"-c", "printf '%s|' " + cleantext.Command(word, "end")}, Dir: t.TempDir(), Env: xec.Env(os.Environ()), MaxOutput: 1 << 10,
		})
		if err != nil {
			t.Skip("no shell:", err)
		}
		if out := ran.Stdout; string(out) != want+"|end|" {
			t.Errorf("%q is %q", word, out)
		}
	}
	if got := cleantext.Command("copse", "branch", "parent", "feature/a", "PARENT"); got != "copse branch parent feature/a PARENT" {
		t.Error(got)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"main", "feature/login-1.2", "Ada Lovelace", "überarbeitet", "a@b.example", "--status", ":4", ""} {
		if !cleantext.Completion(plain) {
			t.Errorf("%q is refused", plain)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOf(rapid.SampledFrom([]rune("ab -;&|<>()$`\\\"'*?[]#~!{}^\t\n\x1b\u202e"))).Draw(t, "value")
		if cleantext.Completion(value) && (strings.ContainsAny(value, ";&|<>()$`\\\"'*?[]#~!{}^\t\n\x1b\u202e") || strings.Contains(value, " -")) {
			t.Errorf("%q is offered", value)
		}
	})
}
