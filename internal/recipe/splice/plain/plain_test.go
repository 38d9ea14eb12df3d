package plain_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/recipe/splice/plain"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// script returns a script in which Q is a quoted value, R is text without quotation marks, F is a text of the
// author that is not known, and "$1" and "$v" are values, too.
func script(shell, text string) plain.Script {
	text = strings.NewReplacer("Q", "'"+plain.Value+"'", "R", plain.Unknown, "F", plain.Foreign).Replace(text)
	return plain.Script{Text: text, Shell: shell, Exported: map[string]bool{"v": true}, Inherited: map[string]bool{"HOME": true}, Positional: true}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, accepted := range map[string]bool{
		"tool Q": true, "tool \"$1\" \"$v\" \"$@\"": true, "a && b Q || c; d Q": true, "a='b c' tool Q a=Q --b=Q, 'a'Q\"b\" \"${HOME}/$1.txt\"": true,
		"x=Q\ny=\"a $x\"\ntool \"$y\" \"${y#a}\" \"${1:-b}\" \"${1:-}\"": true, "if a Q; then b; elif c; then d; else e Q; fi": true, "for i in Q \"$@\" c; do tool \"$i\"; done": true, "for i; do tool \"$i\"; done": true,
		"case Q in a|'b') tool Q ;; *) c; esac": true, "while tool Q; do a; done": true, "(a Q) && { b Q; }": true, "! tool Q": true, "tool Q &": true, "x=\"$(cat Q)\"; tool \"$x\" $(b c)": true,
		"tool Q >/dev/null 2>&1 < a": true, "echo \"- $1\" >/dev/null": true, "tool Q | grep -v a | head -n 1": true, "echo \"it is $1 & more\" Q": true, "git commit -m \"feat: $1\"": true, "printf '%s: %s\\n' a Q": true,
		"[ -n Q ] && [ ! Q = \"$1\" ] && test -f Q": true, "set -euo pipefail; cd a; tool Q": true, "tool \\\n  --a \\\n  Q": true, "tool a\\;b Q": true, "# a comment\ntool Q # another": true,
		"python3 -m tool Q; bash -x a.sh Q; node a.js Q; awk '{ print }' Q; sed -n 1p Q": true, "sudo -u a tool Q; env A=b tool Q; timeout 5 tool Q; exec tool Q": true,
		"docker compose exec web tool Q; uv run tool Q; npm run a -- Q; cargo run -- Q": true, "docker compose run --rm web pytest -x Q; uv run pytest -x \"$@\"; npx vitest run -t Q; rg -e Q; nix build \".#$1\"": true,
		"[ $# -eq 0 ] && [ \"$1\" == a ] || [ ${#x} -gt 3 ]": true, "tool \"a:R\" Q": true, "./tool R Q": true, "a Q | sort -u | uniq -c": true, "mkdir -p Q && cd \"$_\"": true, "command -v Q": true, "export A=b; tool Q": true, "tool R a/R.b Q": true, "tool {} + Q": true,
		// A value that is not, or not only, an argument.
		"tool $1": false, "tool $v": false, "x=Q; tool $x": false, "tool $(cat Q)": false, "tool \"Q\"": false, "tool # Q": false, "tool a\"$@\"": false, "Q": false, "\"$1\" a": false, "$1": false, "cat <<E\n$1\nE": false, "cat <<E\nE\ntool Q": false, "cat <<< Q": false,
		"tool Q > a.sh": false, "tool Q | sh": false, "echo Q | tee a.sh": false, "(tool Q) > a": false, "exec > a.sh; echo Q": false, "x=$(echo Q); a $x": false, "echo Q | while read -r x; do a; done": false, "tool >&Q": false, "tool > R Q": false,
		"tool Q > a.txt": false, "tool Q | sort -o a": false, "tool Q | uniq - a": false, "env > a": false, "mkdir -p Q && sh -c \"cd $_\"": false, "mkdir Q && $_": false,
		// A word is the value of an option, and the value of the argument the command that a program runs.
		"sudo -u a Q": false, "docker exec -u root web Q": false, "docker run --rm -w /a b Q": false, "docker run -p 80:80 a Q": false, "kubectl exec -n a web -- Q": false, "env -u A Q": false, "timeout -s KILL 5 Q": false, "chroot a Q": false,
		"sg root Q": false, "runuser -u root -- Q": false, "taskset 1 Q": false, "taskset 1 ls Q": true, "nsenter Q": false, "ssh-agent Q": false, "chrt -o 0 Q": false, "deno eval Q": false,
		"sops exec-env a Q": false, "consul lock a Q": false, "valgrind Q": false, "valgrind ./a Q": true, "mpirun -n 4 Q": false, "zip -TT Q a": false, "zip a.zip Q": true, "tcpdump -z Q": false,
		"gcc -wrapper Q": false, "go vet -vettool Q": false, "helm --post-renderer Q": false, "pandoc --filter Q": false, "pytest --filter Q": true, "apt-get -o Q": false, "apt-get install Q": true,
		"cmake -E env Q": false, "cmake -E copy Q a": true,
		"aws-vault exec a -- Q": false, "flock a Q": false,
		"dotenv -- Q": false, "strace Q": false, "cargo watch -s Q": false, "cargo watch -- Q": false, "yarn workspace a Q": false, "scp -o Q a": false, "autossh a Q": false,
		"timeout 30 ssh a Q": false, "exec ssh a Q": false, "sudo -n ssh a Q": false, "stdbuf -oL make a=Q": false, "xvfb-run -a make a=Q": false, "docker exec web sh -c a Q": false, "gtimeout 5 Q": false, "gsed Q": false, "fakeroot Q": false, "fd -X Q": false,
		"trap 'ssh a \"$1\"' EXIT": false, "cd Q && ssh a \"ls $PWD\"": false, "x=Q nix-shell --run 'make a'": false, "x=Q env ${MAKE:-make}": false, "x=Q hyperfine 'make a'": false, "envsubst < a | sh": false,
		"env R ./tool Q": false, "rsync -R Q": false,
		// A plain argument names a variable, or is an option.
		"echo $((R + 1))": false, "[ R -gt 3 ]": false, "exit R": false, "shift R": false, "printf %d R": false, "ulimit -n R": false, "rsync R Q a": false, "tool \"R\" Q": false, "tool[ Q ]": false, "USER_ID=Q": false, "nameref a=Q": false,
		// What evaluates its arguments, or its environment.
		"eval Q": false, "eval a; tool Q": false, "just a Q": false, "sh -c Q": false, "sh -c 'echo $v'": false, "make": false, "sudo sh -c Q": false, "env sh -c Q": false, "uv run sh -c Q": false, "docker exec a sh -c Q": false, "find . -exec sh -c Q \\;": false, "xargs Q": false,
		"ssh a Q": false, "env -S 'sh -c' Q": false, "env -S'sh -c' Q": false, "nix-shell --run 'sh -c' Q": false, "{ a } always { Q; }": false, "sudo Q": false, "env Q a": false, "docker run Q": false, "npx Q": false, "python3 Q": false, "python3 - Q": false, "awk Q": false, "tool -c Q": false, "tool -xe Q": false, "tool --exec Q": false, "tool --exec=Q": false, "tool -cQ": false, "tool \"a b $1\"": false,
		"git Q": false, "git config a Q": false, "git grep -O Q": false, "EDITOR=Q git commit": false, "HOME=Q; tool": false, "v=Q; tool": true, "v=Q; make": false, "PATH=Q; tool": false, "path=Q; tool": false, "x=a; x=Q; export x=b": false,
		"[ Q ]": true, "[ Q \"$1\" ]": false, "[ Q -eq 1 ]": false, "[ -v Q ]": false, "[ -v 'a[v]' ]": false, "[ R = Q ]": false, "printf Q": false, "printf %d Q": false, "printf -v a Q": false, "printf -v 'a[v]' b": false, "trap Q EXIT": false, "read Q": false, "unset Q": false, "exit Q": false, "test $v": false,
		// Constructs that are not in the language, or that shells read in different ways.
		"echo $((1 + v))": false, "((v))": false, "let v": false, "a=(Q)": false, "a[0]=Q": false, "a+=Q": false, "f() { tool Q; }; f": false, "echo `tool Q`": false, "echo `a` Q": false, "echo $'a' Q": false, "echo $\"a\" Q": false, "tool Q &> a.sh": false, "tool Q |& a": false, "tool <(echo Q)": false,
		"echo ${1:$v}": false, "echo ${1/a/b}": false, "echo ${!v}": false, "echo ${v@P}": false, "echo ${v:=a}": false, "echo \"${v:-'a'}\" Q": false, "echo $v[1]": false, "echo \"$v[1]\"": false, "tool {sh,-c} Q": false, "{sh,-c} Q": false, "exec {a[v]}> a": false, "[[ Q == a ]]": false, "select i in Q; do a; done": false,
		"shopt -s extglob; tool Q": false, "alias tool=sh; tool Q": false, "set -a; x=Q; tool": false, "set -- Q": false, "coproc tool Q": false, "time tool Q": true, "tool Q\r": false, "tool\\\n Q": false, "to\\\nol Q": false, "tool é Q": false, "F Q": false, "F \"$1\"": false, "tool F$1": false,
		"R Q": false, "R# Q": false, "tool R# Q": false, "tool \\R Q": false, "tool $R Q": false, "cat <R<E\nE\ntool Q": false, "tool R(Q)": false, "tool Q <R": false, "$HOME/tool Q": false, "$tool a; b Q": false, "local x=Q": false, "declare x=Q": false, "x=1 eval a": false,
	} {
		reason := script("sh", text).Refused()
		if (reason == "") != accepted {
			t.Errorf("%q: accepted: %v, want %v; %s", text, reason == "", accepted, reason)
		}
		if reason != "" && !strings.Contains(reason, "; ") && !strings.HasPrefix(reason, plain.Quoted) {
			t.Errorf("%q: no advice: %s", text, reason)
		}
	}
	for text, accepted := range map[string]bool{
		"[[ -n $1 && ( Q == a* || ! $v != b ) ]] && tool Q": true, "tool Q &>/dev/null": true, "readonly A=b; tool Q": true, "tool \"${@:2}\" Q": true, "tool a\"${@:2}\"": false, "tool ${@:2}": false, "tool \"${@:v}\"": false, "tool \"${1:2}\"": false,
		"[[ $# -eq 1 ]] && tool Q": true, "[[ R -eq 1 ]]; tool Q": false, "[[ Q -eq 1 ]]": false, "[[ -v Q ]]": false, "[[ a =~ Q ]]": false, "declare -i n; n=Q": false, "export A=Q": false, "export v": false, "local a; tool Q": false, "tool &> a.sh Q": false, "((1)); tool Q": false, "tool @(a|b) Q": false,
	} {
		if reason := script("bash", text).Refused(); (reason == "") != accepted {
			t.Errorf("bash: %q: accepted: %v, want %v; %s", text, reason == "", accepted, reason)
		}
	}
}

// Only the values that a script can use matter.
func TestUnused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script plain.Script
		text   string
		refuse bool
	}{
		{plain.Script{}, "eval $v $1", false},
		{plain.Script{Exported: map[string]bool{"v": true}}, "eval $1", true},
		{plain.Script{Exported: map[string]bool{"v": true}}, "tool $1", false},
		{plain.Script{Exported: map[string]bool{"v": true}}, "printenv v | sh", true},
		{plain.Script{Exported: map[string]bool{"v": true}}, "make", true},
		{plain.Script{Exported: map[string]bool{"v": true}}, "${MAKE:-make} all", true},
		{plain.Script{Exported: map[string]bool{"v": true}}, "if F", true},
		{plain.Script{Positional: true}, "make $(echo $((1 + 2)))", false},
		{plain.Script{Positional: true}, "f() { for i; do $i; done; }", true},
		{plain.Script{Positional: true}, "sudo sh -c 'echo a' | sh", false},
		{plain.Script{Positional: true}, "if F", false},
		{plain.Script{Positional: true}, "echo $*", true},
		{plain.Script{Exports: true}, "x=Q; make", true},
		{plain.Script{Exports: true}, "x=Q; tool", false},
		{plain.Script{Inherited: map[string]bool{"x": true}}, "x=Q; env a | sh", true},
		{plain.Script{}, "x=Q; tool", false},
	} {
		tt.script.Text, tt.script.Shell = script("sh", tt.text).Text, "sh"
		if reason := tt.script.Refused(); (reason != "") != tt.refuse {
			t.Errorf("%q: %q, want a reason: %v", tt.text, reason, tt.refuse)
		}
	}
}

// A chain of variables, deep nesting, and a long text take no more time than others.
func TestLarge(t *testing.T) {
	t.Parallel()
	var chain strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&chain, "x%d=\"$x%d\"\n", i, i+1)
	}
	for _, text := range []string{
		chain.String() + "x1500=Q; tool $x0", strings.Repeat("(", 5000) + "Q", "tool Q" + strings.Repeat(" a", plain.MaxScript), strings.Repeat("$(", 900) + "Q",
	} {
		if script("sh", text).Refused() == "" {
			t.Errorf("%.20q… is accepted", text)
		}
	}
}

// hostile are arguments that write the file RAN where they are a part of a script.
var hostile = []string{
	"\"`'\n>RAN\n", "\nE\n>RAN\n", "'; >RAN; '", "$(>RAN)", `\'; >RAN; '`, "; >RAN #", "')) ; >RAN #", "a[$(>RAN)]", `"; >RAN; "`, "`>RAN`", "); >RAN; (", "'\n>RAN\n'",
}

// tool is a program that evaluates what a program could: the value of an option for commands, each
// argument that is more than a plain word, and all arguments from the name of a shell on.
const tool = `#!/bin/sh
run=
for word; do
	case $run$word in yes*RAN*) sh -c "$word" ;; esac
	run=
	case $word in
	-c | -ec | -x | --exec | --command) run=yes ;;
	-c*RAN* | --exec=*RAN*) sh -c "${word#*[=c]}" ;;
	'a b '*RAN* | 'a;'*RAN*) sh -c "${word#a}" ;;
	esac
done 2>/dev/null
while [ $# -gt 0 ]; do
	case $1 in sh | bash) case "$*" in *RAN*) "$@" 2>/dev/null </dev/null ;; esac ;; esac
	shift
done
`

// No value runs in a script that is accepted: real shells prove it, with scripts that consist of random parts
// of the language. The seed is constant.
func TestShells(t *testing.T) {
	t.Parallel()
	parts := []string{
		"Q", "Q", "\"$x\"", "$x", "\"$1\"", "\"$@\"", "R", "x=Q", "y=\"$x\"", "\"${x#a}\"", "\"${x:-b}\"", "tool", "tool", "tool", "echo", "printf '%s'", "[ Q = a ]", "[[ Q == a ]]", "[ -n Q ]", "a", "'b'", "-c", "-v", "--exec", "--name=Q", "--exec=Q", "\"a b $x\"", "sh", "env", "eval",
		";", ";", "&&", "|", "\n", "\n", "\n", "&", "(", ")", "{ ", "; }", "if", "then", "fi", "for i in", "; do", "done", "\"$i\"", "case Q in a)", ";; esac", "$(", "\"$(", ")\"", "<<E\n", "\nE\n", "# ", "\\", "$", "`", "((", "))", ">f", ">f.sh", "sh f.sh", "2>&1", "'", "\"", "<R", "R#", "$R", "\\\n", "!", "{a,b}", "f()", "x[0]=Q", "cat",
	}
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same scripts each time
	for _, shell := range []string{"sh", "bash"} {
		var accepted []string
		for range 50_000 {
			var b strings.Builder
			b.WriteString([]string{"", "tool ", "x=Q\n", "x=Q; tool "}[random.IntN(4)])
			for range 1 + random.IntN(6) {
				b.WriteString(parts[random.IntN(len(parts))] + []string{" ", " ", " ", ""}[random.IntN(4)])
			}
			s := script(shell, b.String())
			s.Exported = nil
			if s.Refused() == "" {
				accepted = append(accepted, b.String())
			}
		}
		if len(accepted) < 1000 {
			t.Errorf("%s: only %d scripts are accepted", shell, len(accepted))
		}
		some := make([]string, 0, 300)
		for range cap(some) {
			some = append(some, accepted[random.IntN(len(accepted))])
		}
		if ran := run(t, shell, some, random); len(ran) > 0 {
			t.Errorf("%s: an argument ran in %d scripts, such as %s", shell, len(ran), ran[0])
		}
		refused := []string{"tool R$1", "Q", "eval Q", "eval \"$1\"", "sh -c Q", "tool -c Q", "echo \"$1\" | sh", "echo Q > f.sh; sh f.sh", "env sh -c Q", "tool \"a;$1\"", "echo \"Q\"", "echo 'Q'", "x=Q; tool -c \"$x\""}
		if ran := run(t, shell, slices.Repeat(refused, 12), random); len(ran) < 30 {
			t.Errorf("%s: an argument ran in %d of the refused scripts only", shell, len(ran))
		}
	}
}

// run runs scripts with a hostile argument each, and returns those that ran it.
func run(t *testing.T, shell string, scripts []string, random *rand.Rand) (found []string) {
	t.Helper()
	if _, err := xec.Env(os.Environ()).LookPath(shell); err != nil {
		need.Skip(t, shell+" is not installed")
	}
	dir, programs := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "tool"), []byte(tool), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	var texts []string
	for i, text := range scripts {
		arg := hostile[random.IntN(len(hostile))]
		text = strings.NewReplacer("Q", "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'", "R", []string{"", "a"}[random.IntN(2)]).Replace(text)
		for name, text := range map[string]string{fmt.Sprint(i): text, fmt.Sprintf("arg%d", i): arg} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		texts = append(texts, fmt.Sprintf("%q with the argument %q", text, arg))
	}
	const all = `for f in [0-9]*; do timeout 10 "$0" -c "$(cat "$f"; echo x)" x "$(cat "arg$f"; echo x)" </dev/null; rm -f f f.sh; if [ -e RAN ]; then rm RAN; echo "RAN $f"; fi; done 2>/dev/null`
	env := xec.Env(os.Environ())
	command := xec.Command{Name: shell, Args: []string{"-c", all, shell}, Dir: dir, Env: env.With("PATH=" + programs + ":" + env.Get("PATH")), MaxOutput: 1 << 20, Timeout: time.Minute}
	result, err := xec.Run(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(result.Stdout)) {
		n := 0
		if _, err := fmt.Sscanf(line, "RAN %d\n", &n); err == nil {
			found = append(found, texts[n])
		}
	}
	return found
}
