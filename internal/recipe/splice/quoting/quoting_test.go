package quoting_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// protects reports whether Q, which is a quoted value, is protected at each place of a script, in which R is
// a value without quotation marks.
func protects(text, shell string) bool {
	var b strings.Builder
	var places []int
	for _, c := range text {
		switch c {
		case 'Q':
			places = append(places, b.Len())
			b.WriteString("'" + words.Value + "'")
		case 'R':
			b.WriteString(words.Value)
		default:
			b.WriteRune(c)
		}
	}
	protected := quoting.Protects(b.String(), shell)
	for _, at := range places {
		if !protected(at) {
			return false
		}
	}
	return true
}

// hostile are arguments that write the file RAN where they are a part of a script.
var hostile = []string{
	"\"`'\n>RAN\n", "\nE\n>RAN\n", "'; >RAN; '", "$(>RAN)", `\'; >RAN; '`, "; >RAN #", "')) ; >RAN #", "a[$(>RAN)]", `"; >RAN; "`, "`>RAN`", "); >RAN; (", "'\n>RAN\n'",
}

// runs are scripts with hostile arguments, in files of a directory.
type runs struct {
	tb    testing.TB
	dir   string
	texts []string
}

// add adds a script with an argument.
func (r *runs) add(text, arg, raw string) {
	script := strings.NewReplacer("Q", "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'", "R", raw).Replace(text)
	if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprint(len(r.texts))), []byte(script), 0o600); err != nil {
		r.tb.Fatal(err)
	}
	r.texts = append(r.texts, fmt.Sprintf("%q with the argument %q", text, arg))
}

// ran returns the scripts in which the argument ran.
func (r *runs) ran(shell string) (found []string) {
	r.tb.Helper()
	const all = `for f in [0-9]*; do "$0" -c "$(cat "$f"; echo x)" </dev/null; if [ -e RAN ]; then rm RAN; echo "RAN $f"; fi; done 2>/dev/null`
	command := xec.Command{Name: shell, Args: []string{"-c", all, shell}, Dir: r.dir, Env: xec.Env(os.Environ()), MaxOutput: 1 << 20}
	if _, err := command.Env.LookPath(shell); err != nil {
		need.Skip(r.tb, shell+" is not installed")
	}
	result, err := xec.Run(r.tb.Context(), command)
	if err != nil {
		r.tb.Fatal(err)
	}
	for line := range strings.Lines(string(result.Stdout)) {
		n := 0
		if _, err := fmt.Sscanf(line, "RAN %d\n", &n); err == nil {
			found = append(found, r.texts[n])
		}
	}
	return found
}

// A quoted value is protected in an ordinary word, also after everything that has its own rules for
// quotation marks, unless shells disagree where that ends. With each argument, real shells prove it.
func TestProtects(t *testing.T) {
	t.Parallel()
	accepted, refused := runs{t, t.TempDir(), nil}, runs{t, t.TempDir(), nil}
	for text, want := range map[string]bool{
		"echo Q a=Q --b=Q, 'a'Q\"b\"": true, "(echo Q) && { echo Q; } | cat > Q": true, "if [ Q = Q ]; then a=Q; fi; for i in Q; do echo Q; done": true, "case Q in Q) echo Q ;; *) ;; esac": true,
		"echo \"$(echo Q)\" $(echo Q) <(echo Q)": true, "echo a#Q '#' it\\'s # it's\necho Q": true, "[[ Q == Q && Q =~ ^a ]]; cat <<< Q": true, "f() { echo Q; }; f Q &": true, "echo ${#a} $# $$ \"it's\" $\"a\" Q": true,
		"echo R \"<R> $R\" R Q": true, "cat <<E Q\na\nE\necho Q": true, "cat <<E\nit's $a $(echo \"b\")\nE\necho Q": true, "cat <<-'E'\n\t` $(\n\tE\necho Q": true, "cat <<\\E; cat <<\"END-2\"\n'\nE\n\"\nEND-2\necho Q": true,
		"grep a <<< \"b\"; n=$((1 << 3)); echo Q": true, "(( n = 16#f )); for ((i = 0; i < 2; i++)); do echo Q; done": true, "a=`git log`; echo Q": true, "cat <<E\na\\\nE\nE\necho Q": true, "cat <<E\nE\necho Q": true, "case a in a) echo $(echo Q) ;; esac; echo Q": true, "a=$(echo ${b:-c}); echo Q": true,
		// Where quote() does not protect.
		"echo \"Q\"": false, "echo 'Q'": false, "echo \\Q": false, "echo $Q": false, "echo # Q": false, "cat <<E\nQ\nE": false, "cat <<E\n$(echo Q)\nE": false, "cat <<Q\na\nQ": false, "echo `echo Q`": false, "echo ${a:-Q}": false,
		"echo $((Q))": false, "((Q))": false, "let Q": false, "for ((i = Q; i; )); do a; done": false, "echo @(Q)": false, "echo ( Q": false, "echo \"Q": false, "((echo Q) )": false,
		// Where shells disagree.
		"echo $'a' Q": false, "echo \"${a:-'b'}\" Q": false, "echo ${a:-\"}\"} Q": false, "echo $(( '1' )) Q": false, "(( a['1'] )); echo Q": false, "let 'a=1'; echo Q": false, "for ((i=0; i<'3'; i++)); do a; done; echo Q": false, "echo @(a|'b') Q": false,
		"echo `echo \"a\"` Q": false, "echo `echo a # b` Q": false, "[[ a =~ # ]]; echo Q": false, "[[ a =~ 'b' ]]; echo Q": false, "echo $(case a in a) echo Q ;; esac)": false, "echo $(cat <<E\nit's\nE\n) Q": false, "alias a=\"b '\"\na\necho Q": false,
		"cat <<E\n$(echo 'a\nE\nb')\nE\necho Q": false, "cat <<R\nR\necho Q": false, "cat <<E\nR\nE\necho Q": false, "cat <<E\"F\"\nEF\necho Q": false,
		"echo R# Q": false, "echo;RR# Q": false, "echo $RQ": false, "echo \\RQ": false, "echo $(R(echo Q)\n)": false, "cat <R<E\nE\necho Q": false, "cat <R(echo Q)": false, "echo $R(echo Q)": false, "echo $\\\nQ": false, "cat <<E\nE\r\nE\necho Q": false, "echo a\r\necho Q": false,
	} {
		if protects(text, "sh") != want {
			t.Errorf("%q: protected: %v, want %v", text, !want, want)
		}
		to, args := &refused, hostile[1:2]
		if want {
			to, args = &accepted, hostile[1:3]
		}
		for _, arg := range args {
			to.add(text, arg, "")
		}
	}
	for _, shell := range []string{"sh", "bash"} {
		if ran := accepted.ran(shell); len(ran) > 0 {
			t.Errorf("%s ran the argument in %s", shell, strings.Join(ran, "\n"))
		}
	}
	if ran := refused.ran("bash"); len(ran) < 4 {
		t.Errorf("the argument ran only in %s", strings.Join(ran, "\n"))
	}
	if !protects("echo $'a\\'' Q", "bash") || protects("ls *(e:'a':) Q", "zsh") || !protects("ls *(.) Q", "zsh") {
		t.Error("the name of the shell does not matter")
	}
}

// In scripts that are made at random, a quoted value runs nothing where it counts as protected. The seed is constant.
func TestRandom(t *testing.T) {
	t.Parallel()
	parts := []string{
		" Q ", " Q ", "R", " ", "\n", ";", "a", "echo ", "'", "'", "\"", "\"", "`", "\\", "$", "$'", "$(", ")", "(", "((", "))", "$((", "${a:-", "${a#", "}", "{ ", "#", " # ", "it's",
		"cat <<E\n", "cat <<'E'\n", "\nE\n", "\nE\n", "<<< a", "<(", "case a in a) ", ";;", " esac", "[[ a ", " ]]", " =~ ", "@(", "|", "let ", "\\\n", "'\"'", "\\'", "\"${a:-", "}\"",
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same scripts each time
	accepted := runs{t, t.TempDir(), nil}
	for len(accepted.texts) < 50 {
		text := ""
		for range 2 + random.IntN(10) {
			text += parts[random.IntN(len(parts))]
		}
		text += " Q"
		if protects(text, "sh") {
			accepted.add(text, hostile[random.IntN(len(hostile))], []string{"", "E", "a"}[random.IntN(3)])
		}
	}
	if ran := accepted.ran("sh"); len(ran) > 0 {
		t.Errorf("the argument ran in %s", strings.Join(ran, "\n"))
	}
}
