package splice_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// justfile is a project with one justfile.
type justfile struct {
	tb  testing.TB
	dir string
}

func write(tb testing.TB, text string) justfile {
	tb.Helper()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(tb, "just is not installed")
	}
	j := justfile{tb, tb.TempDir()}
	j.write(text)
	return j
}

func (j justfile) write(text string) {
	j.tb.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, "justfile"), []byte(text), 0o600); err != nil {
		j.tb.Fatal(err)
	}
}

func (j justfile) just(args ...string) (xec.Result, error) {
	return xec.Run(j.tb.Context(), xec.Command{
		Name: "just", Args: append([]string{"--justfile", filepath.Join(j.dir, "justfile")}, args...), Dir: j.dir,
		Env: xec.Env(os.Environ()).With("JUST_UNSTABLE=true"), MaxOutput: 8 << 20,
	})
}

func (j justfile) analyze() splice.Recipes {
	j.tb.Helper()
	res, err := j.just("--dump", "--dump-format", "json")
	if err != nil {
		j.tb.Fatal(err)
	}
	found, err := splice.Analyze(res.Stdout, splice.Known{Functions: []string{"f"}, Environment: []string{"PATH", "VERSION"}})
	if err != nil {
		j.tb.Fatal(err)
	}
	return found
}

// hostile are arguments that run "touch PWNED" where they become a part of a script.
var hostile = []string{
	"; touch PWNED", "$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", `"; touch PWNED; "`, "| touch PWNED", "&& touch PWNED #",
	"\ntouch PWNED\n", `\'; touch PWNED; '`, `'"; touch PWNED; "'`, "${x:=$(touch PWNED)}", "a[$(touch PWNED)]", "' + __import__('os').system('touch PWNED') + '",
	`\' + __import__("os").system("touch PWNED") #`, "__import__('os').system('touch PWNED')", "x\nE\ntouch PWNED\n", ") ; touch PWNED ; (", "}; touch PWNED; {", `\`, "'", "#", "> PWNED",
}

// every returns the recipe all, which runs the recipe r with each hostile argument.
func every() string {
	var all strings.Builder
	for _, arg := range hostile {
		fmt.Fprintf(&all, " (r %q)", arg)
	}
	return "[parallel]\nall:" + all.String() + "\n"
}

// several returns a text with seven different numbers.
func several(format string) string {
	var b strings.Builder
	for i := range 7 {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestSplice has bodies of a recipe with the parameter x. What is not found to be spliced
// withstands the hostile arguments, with just and a shell to prove it. Each case is a module of one
// justfile, so that just dumps all of them at once, and has one recipe that runs r with each argument.
func TestSplice(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text    string
		spliced bool
	}{
		// Not spliced.
		{"r x:\n  @echo hi", false},
		{"set positional-arguments\nr x:\n  @echo \"$1\"", false},
		{"r $x:\n  @echo \"$x\"", false},
		{"set export\nr x:\n  @echo \"$x\"", false},
		{"r x:\n  @echo {{quote(x)}} {{ quote(x) }}", false},
		{"r *x:\n  @echo {{quote(x)}}", false},
		{"r x:\n  @echo \"a b\" 'c' {{quote(x)}} \"$(echo {{quote(x)}})\" ${HOME:-none} # a comment", false},
		{"r x:\n  @echo --name={{quote(x)}} {{'--y=' + quote(x)}}", false},
		{"r x:\n  @echo {{ if x == '' { '' } else { quote(x) } }}", false},
		{"r x:\n  @echo {{ if x == 'true' { '--verbose' } else { '' } }}", false},
		{"r x:\n  @echo {{ if path_exists(x) == 'true' { 'y' } else { error('no ' + x) } }}", false},
		{"r x:\n  @echo {{sha256(x)}} {{path_exists(x)}}", false},
		{"r x y='b':\n  @echo {{y}}", false},
		{"v := 'echo'\nr x:\n  @{{v}} {{quote(x)}}", false},
		{"r x:\n  @echo a \\\n    {{quote(x)}}", false},
		{"r x:\n  #!/bin/sh\n  # it is fine\n  echo {{quote(x)}}\n  (cd . && echo {{quote(x)}})", false},
		{"r x:\n  #!/usr/bin/env -S sh -u\n  echo {{quote(x)}}", false},
		{"[script('sh')]\nr x:\n  echo {{quote(x)}}", false},
		{"r x: (s x)\ns y:\n  @echo {{quote(y)}}", false},
		{"r x y=quote(x):\n  @echo {{quote(y)}}", false},
		{"r x:\n  @echo {{quote(shell('cat \"$1\"', x))}}", false},
		{"r x:\n  @echo {{quote(shell('echo ' + quote(x)))}}", false},
		{"r x:\n  @echo it\\'s {{quote(x)}}", false},
		{"r x:\n  #!/usr/bin/env perl\n  use strict;", false},
		{"v := 'a' + 'b'\nr x:\n  @echo {{v}} {{uppercase('a')}} {{quote(x)}}", false},
		{"set default-script\n[shell]\nr x:\n  @echo {{quote(x)}}", false},
		{"set shell := ['bash', '-euo', 'pipefail', '-c']\nr x:\n  @echo {{quote(x)}} adjusted just-in-time x.just", false},
		{"[script('sh', '-eu')]\nr x:\n  echo {{quote(x)}}", false},
		{"r x:\n  @just s\n  @echo {{quote(x)}}\ns:\n  @echo a", false},
		{"r x:\n  @printf '%s\\n' {{quote(x)}} && test -n {{quote(x)}} && [ {{quote(x)}} = a ] || true", false},
		{"r x:\n  @cargo test {{quote(x)}} 2>/dev/null || echo {{quote(x)}}", false},
		{"r x:\n  @sudo -u nobody ls {{quote(x)}} || env A=b ls {{quote(x)}} || command ls {{quote(x)}} || find . -name {{quote(x)}}", false},
		{"r x:\n  @awk '{print}' {{quote(x)}} || sh script.sh {{quote(x)}} || rbash script.sh {{quote(x)}} || perl5.40 script.pl {{quote(x)}} || sed -n 1p {{quote(x)}}", false},
		{"r x:\n  #!/usr/bin/env bash\n  set -euo pipefail\n  for i in 1 2; do echo {{quote(x)}}; done\n  [[ {{quote(x)}} == a* ]] || true", false},
		{"set positional-arguments\nr x:\n  @test -n \"$1\" && echo \"$#\" \"$1\" \"${1:-none}\" \"${1#a}\"", false},
		{"v := 'ls'\nr x:\n  @{{v}} {{ if x == '' { '' } else { quote(x) } }}", false},
		{"r x:\n  @echo 'a \\\n    b' {{quote(x)}}", false},
		{"set ignore-comments\nr x:\n  # it's \\\n  @echo {{quote(x)}}", false},
		{"b := '\\'\nr x:\n  -@echo a{{b}}\n  @echo {{quote(x)}}", false},
		{"set positional-arguments\nr x:\n  @echo \"$1\"\n  @sh b.sh\n  @ssh host ls < b\n  @cat a.txt | tee b.txt", false},
		{"set positional-arguments\nr x:\n  @git log --grep=\"a $1\" -1 || true\n  @ls -- \"$1\" \"a/$1.b\" || true", false},
		{"r x:\n  @ls {{ if x == '' { '' } else if x == 'a' { '-l ' + quote(x) } else { quote(x) } }} {{quote('a/' + x)}} {{quote(f'{{x}}.b')}} {{quote(x / 'b')}} || true", false},
		{"r $x:\n  @echo a\n  @awk '{ print ENVIRON[\"x\"] }' justfile", false},
		{"r $x:\n  @echo a\n  @just s\ns:\n  @echo b", true},
		{"set positional-arguments\nset shell := ['/usr/bin/env', 'bash', '-c']\nr x:\n  @echo \"a $1\"", false},
		{"[script]\nr $x:\n  echo \"a $x\"", true},
		{"set positional-arguments\n[script('bash')]\nr x:\n  # just in case\n  echo \"usage: just r MESSAGE, or eval\" >&2\n  just s\n  echo \"a $1\"\ns:\n  @echo b", false},
		{"[script('bash')]\nr x:\n  {{just_executable()}} s | cat\n  echo {{quote(x)}} 'Run just s'\ns:\n  @echo b", false},
		{"set positional-arguments\nd := 'env' + ' -u A'\ne := d + f' ls {{'-l'}}'\nr x:\n  @{{e}} \"$1\" || {{d}} ls \"$1\" || true", false},
		{"set positional-arguments\nu := require('ls')\nr x:\n  @{{u}} \"$1\" || {{require('env')}} ls \"$1\" || true", false},
		{"v := \"'\" + \"'\"\nr x:\n  @echo {{v}}{{quote(x)}}", false},
		{"set positional-arguments\nset shell := ['perl', '-e']\nr x:\n  print 'a'", false},
		{"set positional-arguments\nset shell := ['env', 'A=b', 'bash', '-euc']\nr x:\n  echo \"$1\"", false},
		{"r x:\n  @echo {{ if x == '' { 'a' } else { quote(x) } }} {{ if x == '' { quote(x) } else { 'b' } }}", false},
		{"r x y='b':\n  @echo {{y}} {{quote(x)}} {{trim('a b')}}", false},
		{"r x y='':\n  @printf %s a {{y}} {{quote(x)}}{{y}}", false},
		{"[script('bash')]\nr x:\n  set -euo pipefail\n  dir=\"$(dirname \"$0\")\"\n  name={{quote(x)}}\n  base=\"$(basename -- \"$name\" .c)\"\n  if [ -z \"$name\" ]; then exit 1; fi\n  for n in \"$name\" b; do ls -- \"$dir/$n\" \"$base\"; done 2>/dev/null || true", false},
		{"set positional-arguments\n[script('bash')]\nr x:\n  [[ -n $1 && \"$1\" == a* ]] && echo \"it is ${1:-none}\"; case $1 in a|b) ls \"${1%.c}\" ;; *) echo \"$1\" ;; esac || true", false},
		{"r x:\n  @MSG={{quote(x)}} LEVEL=a tool -v --name={{quote(x)}} -- {{quote(x)}} | grep -v {{quote(x)}} || true", false},
		// Not spliced, around the values.
		{"r x v='1':\n  @ls \"a:{{v}}\" {{BOLD}}a{{NORMAL}} {{quote(x)}} || true", false},
		{"set shell := ['bash', '--norc', '-O', 'globstar', '-euc']\nr x:\n  @echo {{quote(x)}}", false},
		{"r $x:\n  #!/usr/bin/env python3\n  print(1)", false},
		{"r x: (s x) (s 'a-' + x)\ns y:\n  @ls \"{{y}}\" || true", true},
		{"set positional-arguments\nr x: (s x x)\ns *y:\n  @ls -- \"$@\" || true", false},
		// Spliced.
		{"r x:\n  #!/usr/bin/env bash\n  y={{quote(x)}}\n  export Z=\"$y\"\n  local_file() { echo \"$1\"; }\n  local_file \"$y\" | cat\n  case \"$y\" in a) echo b;; esac", true},
		{"r $x:\n  #!/bin/sh\n  y=\"$x\"; while read -r z; do echo \"$z\"; done <f || true", true},
		{"[script('bash')]\nr $x:\n  cat <<< \"$x\" > a.txt\n  perl - \"$x\" <<< 'print 1'", true},
		{"set positional-arguments\nr x:\n  @make -s all || true\n  @echo \"$1\" | sort && printf '[x] %s' \"$1\"", false},
		{"[script('bash')]\nr $x:\n  a[0]=\"$x\"; a[i]=1; i=0; read 'b[i]' <<< 1; echo \"${a[0]}\"", true},
		{"o := if env('NONE', '') == '' { '-l' } else { '-a' }\nr x:\n  @ls {{quote(x)}} {{o}} {{replace_regex(o, '(a|l)', 'd')}} || true", true},
		{"r x:\n  #!/bin/bash\n  cat <<EOF\n  it's\n  EOF\n  grep a <<< \"b\" || n=$((1 << 3)); v=`echo a`\n  IFS=$'\\n'; echo $(echo in case) {{quote(x)}}", true},
		{"b y:\n  @echo {{y}} a/{{y}}.b\nr x: (b quote(x))", true},
		{"c z:\n  @echo {{z}}\nb y: (c y)\n  @true \\\n    {{y}}\nr x: (b quote(x)) (c quote(x)) && (b quote('a' + x))", true},
		{"b $y:\n  #!/bin/sh\n  echo \"$y\" {{quote(y)}} {{y}}\nr x: (b quote(x))", true},
		// Exported to backticks and shell().
		{"r $x:\n  @echo {{quote(`sh -c \"echo $x\"`)}}", true},
		{"r $x:\n  @echo {{ if `eval \"echo $x\"` == '' { 'a' } else { 'b' } }}", true},
		{"r $x: (s `sh -c \"echo $x\"`)\ns y:\n  @true", true},
		{"[confirm(shell('eval \"$x\"'))]\nr $x:\n  @true", true},
		{"r $x:\n  @echo {{quote(`printf %s \"$x\"`)}}", false},
		// A plain argument that is the name of a variable.
		{"set shell := ['bash', '-uc']\nr $x n='1':\n  @echo $(( {{n}} + 1 ))\n  @echo \"$x\"", true},
		{"set positional-arguments\nset shell := ['bash', '-uc']\nr x n='1':\n  @[[ {{n}} -gt 3 ]] || true\n  @echo \"$1\"", true},
		// Programs that copse does not know read the script.
		{"set positional-arguments\nset shell := ['./in-env']\nr x:\n  echo \"$1\"", true},
		{"set shell := ['/usr/bin/env', '-S', 'bash -uc']\nr $x:\n  echo \"$x\"", true},
		{"bash := 'bash'\nr $x:\n  #!/usr/bin/env {{bash}}\n  eval \"echo $x\"", true},
		{"r $x:\n  #!/usr/bin/env brush\n  echo a", true},
		{"set positional-arguments\nr x:\n  #!/usr/bin/env -S psql -f\n  select 1", true},
		{"r $x:\n  #!/usr/bin/env pwsh\n  ssh host \"a $env:x\"", true},
		// Arguments of dependencies.
		{"set positional-arguments\nr x: (s 'sh' '-c' x)\ns *y:\n  @env A=b \"$@\"", true},
		{"set positional-arguments\nr x: (s '-x' x)\ns *y:\n  @ls \"$@\"", true},
		{"r x: (s 'a ' + x)\ns y:\n  @ls {{quote(y)}}", true},
		{"set lists\nr *x:\n  @msg={{quote(x)}}; echo \"$msg\"", true},
		// An inserted parameter has more than plain text.
		{"r x post='| sh':\n  @echo {{quote(x)}} {{post}}", true},
		{"r x: (s x '| sh')\ns y post='':\n  @echo {{quote(y)}} {{post}}", true},
		{"r x post='a b':\n  @echo {{quote(x)}} {{post}}", false},
		{"set shell := ['uv', 'run', 'bash', '-uc']\nset positional-arguments\nr x:\n  eval \"$1\"", true},
		{"set lists\nr x:\n  @ssh host {{quote(x)}}", true},
		// Not simple enough.
		{"r x:\n  @echo a; [[ {{quote(x)}} == a ]]", true},
		{"[script('bash')]\nr x:\n  f() { tool {{quote(x)}}; }\n  f", true},
		{"[script('bash')]\nr x:\n  shopt -s expand_aliases\n  tool {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  exec > a.sh\n  echo {{quote(x)}}\n  exec sh a.sh", true},
		{"r x:\n  @{sh,-c} {{quote(x)}}", true},
		{"r x:\n  @env {sh,-c} {{quote(x)}}", true},
		{"r $x:\n  @[ -v 'a[x]' ]", true},
		{"[script('bash')]\nr x:\n  path={{quote(x)}} tool\n  IFS={{quote(x)}}", true},
		{"r x:\n  @tool {{quote(x)}} > a.sh; sh a.sh", true},
		{"b y:\n  @echo \"{{y}}\"\nr x: (b quote(x))", true},
		{"b y:\n  @tool -c {{y}}\nr x: (b quote(x))", true},
		{"b y:\n  @echo {{y}}\nr x: (b quote(x) + x)", true},
		{"b y:\n  @echo {{uppercase(y)}}\nr x: (b quote(x))", true},
		{"b y z=y:\n  @echo \"{{z}}\"\nr x: (b quote(x))", true},
		{"b *y:\n  @tool -a {{y}}\nr x: (b quote(x) quote(x))", true},
		{"b $y:\n  @eval \"$y\"\nr x: (b quote(x))", true},
		{"b y:\n  #!/usr/bin/env python3\n  print({{y}})\nr x: (b quote(x))", true},
		{"c z:\n  @eval {{z}}\nb y: (c y)\nr x: (b quote(x))", true},
		{"r x y='':\n  @echo {{y}}# {{quote(x)}}", true},
		{"r x y='':\n  @echo \\{{y}}{{quote(x)}}", true},
		{"set shell := ['bash', '-c']\nr x y='':\n  @echo ${{y}}{{quote(x)}}", true},
		{"r x:\n  @echo {{env('NONE', '') / 'b'}} {{quote(x)}}", false},
		{"r x:\n  @echo {{env('NONE')}} {{quote(x)}}", true},
		{"ls := env_var_or_default('NONE', 'ls')\nr x:\n  @{{ls}} {{quote(x)}} || true", false},
		{"r x:\n  #!/bin/bash\n  cat <<E\n  {{x}}\n  E\n  echo {{quote(x)}}", true},
		{"r x y='':\n  #!/bin/bash\n  cat <<E\n  {{y}}\n  E\n  echo {{quote(x)}}", true},
		{"set positional-arguments\nset shell := ['ssh', '-t', 'host']\nr x:\n  echo a", true},
		{"set positional-arguments\nset shell := ['pwsh', '-NoLogo', '-Command']\nr x:\n  echo a", true},
		{"set positional-arguments\nset shell := ['cmd.exe', '/c']\nr x:\n  echo a", true},
		{"set positional-arguments\nset shell := ['/usr/bin/env', 'bash', '-c', 'eval \"$@\"', 'x']\nr x:\n  echo a", true},
		{"set positional-arguments\nset shell := ['nix', 'develop', '-c', 'bash', '-c', 'eval \"$0\"']\nr x:\n  echo a", true},
		{"set positional-arguments\nr x:\n  #!/usr/bin/env nix-shell\n  #! nix-shell -i bash -p openssh\n  ssh host \"a $1\"", true},
		{"set positional-arguments\nr x:\n  #!/usr/bin/env nix\n  #! nix shell nixpkgs#bash --command bash\n  ssh host \"a $1\"", true},
		{"set positional-arguments\nr x:\n  #!/bin/ksh93\n  (( n = $1 + 1 ))", true},
		{"set positional-arguments\nr x:\n  #!/usr/bin/env fish\n  ssh host \"a $argv[1]\"", true},
		{"set positional-arguments\nr *x:\n  #!/usr/bin/env fish\n  if true\n    eval $argv\n  end", true},
		{"set positional-arguments\nr x:\n  #!/usr/bin/env -S yash -e\n  tool -c \"$1\"", true},
		{"r x w='b':\n  @{{ if w == 'a' { '' } else { 'ssh host' } }} ls {{ if x != '' { quote(x) } else { 'b' } }}", true},
		{"o := if os_family() == 'windows' { ';' } else { '&&' }\nr x:\n  @cd . {{o}} ssh host {{quote(x)}}", true},
		{"r x:\n  @cd . {{lowercase('; SSH h')}} {{quote(x)}}", true},
		{"o := trim('| ssh h')\nr x:\n  @echo a {{o}} {{quote(x)}}", true},
		{"r x:\n  @echo" + strings.Repeat(" {{ if x == '' { 'a' } else { 'b' } }}", 7) + " {{quote(x)}}", false},
		{"r x:\n  @echo" + strings.Repeat(" {{ if shell('echo a') == '' { 'a' } else { 'b' } }}", 7) + " {{quote(x)}}", true},
		{"r x:\n  @echo" + several(" {{ if x == '%d' { 'a' } else { 'b' } }}") + " {{quote(x)}}", true},
		{"p := if os() == 'macos' { 'ls' } else { 'cat' }\nr x:\n  #!/bin/sh" + strings.Repeat("\n  {{p}} a", 7) + "\n  echo {{quote(x)}}", false},
		{"p := if os() == 'macos' { 'ls' } else { 'ssh' }\nr x:\n  #!/bin/sh" + strings.Repeat("\n  echo {{p}} a", 7) + "\n  {{p}} {{quote(x)}}", true},
		{"p := if os() == 'macos' { 'sh' } else { 'a' }\nq := 'b'\nr x q='a':\n  @{{ if q == 'b' { 'echo' } else { 'ssh' } }} {{ if q == 'b' { quote(x) } else { quote(x) } }} {{p}}", true},
		{"q := 'b'\np := if q == 'b' { 'ssh' } else { 'cat' }\nr x q='a':\n  @: {{ if q == 'b' { 'c' } else { 'd' } }}; {{p}} {{ if q == 'b' { 'c' } else { quote(x) } }}", true},
		{"r x:\n  @tool {{ if x == 'a' { 'b' } else { 'c' } }}; eval 'echo a'; just s {{ if x =~ 'd' { 'e' } else { 'f' } }}\ns y:\n  @echo {{y}}", false},
		{"r x z='b':\n  @just s {{ if x == 'a' { 'b' } else { 'c' } }} {{quote(z)}}\ns y t:\n  @echo {{y}}", false},
		{"r x:\n  @just s {{ if x == 'a' { 'b' } else { quote(x) } }}\ns y:\n  @echo {{y}}", true},
		{"r x: (s if x == 'a' { 'b' } else { 'c' })\ns y:\n  @echo {{y}}", false},
		{"r x: (s if x == 'a' { 'b' } else { x })\ns y:\n  @echo {{y}}", true},
		{"r x:\n  @if{{x}}{{'b'}}{{'c'}}", true},
		{"[confirm('run ' + x + '?')]\n[doc('a')]\nr x:\n  @echo {{quote(x)}}", false},
		{"[confirm('run ' + shell('echo ' + x))]\nr x:\n  @echo a", true},
		{"v := 'a' + \"'\"\nr x:\n  @echo {{v}}{{quote(x)}}", true},
		{"set positional-arguments\nu := require('sh')\nr x:\n  @{{u}} -c \"$1\" || {{require('env')}} -S \"$1\"", true},
		{"set positional-arguments\nd := 'ssh' + ' host'\nr x:\n  @{{d}} \"$1\"", true},
		{"r x:\n  @echo {{quote(shell('ssh host \"$1\"', x))}}", true},
		{"r x:\n  @echo {{quote(shell('ssh host ' + quote(x)))}}", true},
		{"[script('bash')]\nr $x:\n  i=\"$x\"; a[i]=1", true},
		{"[script('bash')]\nr x:\n  i={{quote(x)}}; a[i+1]+=1", true},
		{"set positional-arguments\n[script('bash')]\nr *x:\n  for d in \"$@\"; do n[d]=1; done", true},
		{"[script('bash')]\nr $x:\n  test -v 'a[x]'", true},
		{"[script('bash')]\nr $x:\n  read 'a[x]' <<< 1", true},
		{"[script('bash')]\nr $x:\n  printf -v 'a[x]' 1", true},
		{"[script('bash')]\nr $x:\n  declare 'a[x]=1'", true},
		{"[script('bash')]\nr $x:\n  exec {a[x]}>f", true},
		{"set positional-arguments\nr x:\n  @echo \"V = $1\" > config.mk\n  @make", true},
		{"set positional-arguments\nr x:\n  @echo \"$1\" | sort -o a.sh\n  @sh a.sh", true},
		{"set positional-arguments\nset shell := ['/usr/bin/env', 'bash', '-c']\nr x:\n  @echo $(( $1 ))", true},
		{"r $x:\n  #!/usr/bin/env -S nice bash\n  tool -c \"$x\"", true},
		{"[script]\nr $x:\n  tool -c \"$x\"", true},
		{"[script('nice', 'bash')]\nr $x:\n  tool -c \"$x\"", true},
		{"set positional-arguments\nr x:\n  @git rebase --exec \"echo $1\" HEAD", true},
		{"r x:\n  @uv run bash -c {{quote(x)}} || direnv exec . fish -c {{quote(x)}}", true},
		{"r x:\n  @tool {{quote('a ' + x)}}", true},
		{"r x:\n  @tool {{quote(append('a;', x))}}", true},
		{"r x:\n  @tool {{ if x == '' { 'a' } else if x == 'b' { '--exec ' + quote(x) } else { 'c' } }}", true},
		{"r x:\n  @tool {{ if x == '' { quote(x) } else { quote('a ' + x) } }}", true},
		{"r $x:\n  @printenv x | sh", true},
		{"r x:\n  @echo {{quote(x)}} > a.sh\n  @sh a.sh", true},
		{"set positional-arguments\nr x:\n  @echo \"$1\" > a.sh\n  @sh a.sh", true},
		{"[script('bash')]\nr $x:\n  ssh host <<E\n  echo $x\n  E", true},
		{"r x:\n  @echo {{quote(x)}} | nice sh", true},
		{"[script('bash')]\nr x:\n  declare -i n\n  n={{quote(x)}}", true},
		{"set positional-arguments\nr x:\n  @awk -F ',' \"/$1/ {print}\" a", true},
		{"r x:\n  @sed -e 's/1/2/' -e {{quote('s/a/' + x + '/')}} b", true},
		{"r x:\n  @echo '.items[] \\\n    | select({{quote(x)}})' a", true},
		{"r x:\n  @echo \"a \\\\\\\n    b {{quote(x)}} c\"", true},
		{"r x:\n  @echo \"a \\\n    b {{quote(x)}} c\"", true},
		{"r x:\n  @echo a # b \\\n    {{quote(x)}}", true},
		{"r x:\n  @e\\\n    val {{quote(x)}}", true},
		{"r x:\n  @# {{quote(x)}}\n  @echo a", true},
		{"r x:\n  @bash -x {{quote(x)}} || \"sh\" -c {{quote(x)}}", true},
		{"r x:\n  @rbash -c {{quote(x)}} || yash -c {{quote(x)}}", true},
		{"r x:\n  @ksh93 -c {{quote(x)}}", true},
		{"r x:\n  @env posh -c {{quote(x)}} || sudo lua5.4 -e {{quote(x)}}", true},
		{"r x:\n  @$SHELL -c {{quote(x)}}", true},
		{"r x:\n  @\"${SHELL}\" -c {{quote(x)}}", true},
		{"r x:\n  @e''val {{quote(x)}}", true},
		{"r x:\n  @\\eval {{quote(x)}}", true},
		{"r x:\n  @command eval {{quote(x)}}", true},
		{"r x:\n  @builtin 'eval' {{quote(x)}}", true},
		{"r x:\n  @env bash -c {{quote(x)}}", true},
		{"r x:\n  @env -S {{quote(x)}}", true},
		{"r x:\n  @env {{quote(x)}}", true},
		{"r x:\n  @sudo bash -c {{quote(x)}}", true},
		{"r x:\n  @echo {{quote(x)}} | sh", true},
		{"r x:\n  @echo {{quote(x)}} | python3", true},
		{"r x:\n  @bash <(echo {{quote(x)}})", true},
		{"r x:\n  @echo a | xargs sh -c {{quote(x)}}", true},
		{"r x:\n  @xargs {{quote(x)}} </dev/null", true},
		{"r x:\n  @ssh host {{quote(x)}}", true},
		{"r x:\n  @python3 -c {{quote(x)}}", true},
		{"r x:\n  @awk {{quote(x)}}", true},
		{"r x:\n  @perl -e {{quote(x)}}", true},
		{"r x:\n  @make {{quote(x)}}", true},
		{"r x:\n  @trap {{quote(x)}} EXIT", true},
		{"r x:\n  @. {{quote(x)}}", true},
		{"r x:\n  @{{quote(x)}}", true},
		{"r x:\n  @{{ if x == '' { 'eval' } else { 'echo' } }} {{quote(x)}}", true},
		{"r x:\n  @PS4={{quote(x)}} bash -x a", true},
		{"r x:\n  @EDITOR={{quote(x)}} git commit", true},
		{"[script('bash')]\nr x:\n  [[ {{quote(x)}} -eq 1 ]] || true", true},
		{"[script('bash')]\nr x:\n  [[ -v {{quote(x)}} ]] || true", true},
		{"[script('bash')]\nr x:\n  test -v {{quote(x)}} || true", true},
		{"[script('bash')]\nr x:\n  declare {{quote(x)}}=1", true},
		{"[script('bash')]\nr x:\n  declare -a y={{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  export {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  f() { local \"$1\"; }\n  f {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  read {{quote(x)}} </dev/null", true},
		{"[script('bash')]\nr x:\n  printf -v {{quote(x)}} a", true},
		{"[script('bash')]\nr x:\n  printf {{quote(x)}} a", true},
		{"[script('bash')]\nr x:\n  unset {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  let {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  echo $((y + 1))", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  a=(1 2)\n  echo ${a[$y]}", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  echo ${!y}", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  echo ${y@P}", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  z=abc\n  echo ${z:y:1}", true},
		{"[script('bash')]\nr x:\n  y=$(echo {{quote(x)}})\n  (( y == 1 )) || true", true},
		{"[script('bash')]\nr x:\n  echo {{quote(x)}} | while read -r y; do [[ $y -eq 1 ]] || true; done", true},
		{"[script('bash')]\nr x:\n  for y in {{quote(x)}}; do [[ $y -gt 1 ]] || true; done", true},
		{"[script('bash')]\nr $x:\n  [[ $x -eq 1 ]] || true", true},
		{"[script('bash')]\nr $x:\n  [ $x ] || true", true},
		{"[script('zsh')]\nr $x:\n  [ \"$x\" -eq 1 ] || true", true},
		{"[script('bash')]\nr $x:\n  a[$x]=1", true},
		{"[script('bash')]\nr $x:\n  if then \"$x\"; fi fi", true},
		{"r x:\n  @just s {{quote(x)}}\ns y:\n  @echo {{y}}", true},
		{"r x:\n  @just \\\n    s {{quote(x)}}\ns y:\n  @echo {{y}}", true},
		{"set positional-arguments\nr x:\n  @just s \"$1\"\ns y:\n  @echo {{y}}", true},
		{"[positional-arguments]\nr *x:\n  @/usr/bin/env just s \"$@\"\ns y:\n  @echo {{y}}", true},
		{"r $x:\n  @just s \"$x\"\ns y:\n  @echo {{y}}", true},
		{"set export\nr x:\n  @just s \"$x\"\ns y:\n  @echo {{y}}", true},
		{"r x:\n  @{{just_executable()}} -f {{justfile()}} s {{quote(x)}}\ns y:\n  @echo {{y}}", true},
		{"v := just_executable()\nr x:\n  @{{v}} s {{quote(x)}}\ns y:\n  @echo {{y}}", true},
		{"r x:\n  #!/bin/sh\n  y={{quote(x)}}\n  just s \"$y\"\ns y:\n  @echo {{y}}", true},
		{"r x:\n  @eval echo {{quote(x)}}", true},
		{"r x:\n  @echo {{quote(shell('eval echo $1', x))}}", true},
		{"set shell := ['sh', '-c', 'eval \"$(printf %s \"$0\" | tr -d \"\\047\")\"']\nr x:\n  echo {{quote(x)}}", true},
		{"set positional-arguments\nset shell := ['sh', '-c', 'eval \"$@\"', 'x']\nr x:\n  echo a", true},
		{"[script('sh', '-c', 'eval \"$(cat \"$0\")\"')]\nr x:\n  echo {{quote(x)}}", true},
		{"r x:\n  @echo {{x}}", true},
		{"r x:\n  @echo \"{{x}}\"", true},
		{"r x:\n  @echo '{{x}}'", true},
		{"r *x:\n  @echo {{x}}", true},
		{"r x:\n  @echo {{uppercase(x)}} {{trim(x)}}", true},
		{"r x:\n  @echo {{ 'a' + x }}", true},
		{"r x:\n  @echo {{ 'a' / x }}", true},
		{"r x:\n  @echo {{ if x == '' { 'none' } else { x } }}", true},
		{"r x:\n  @echo {{ if 'a' == 'b' { 'none' } else if x == '' { 'c' } else { x } }}", true},
		{"r x:\n  @echo {{ uppercase(quote(x)) }}", true},
		{"r x:\n  @echo {{ f'a{{x}}' }}", true},
		{"r x:\n  @echo {{ env('NONE', x) }}", true},
		{"r x:\n  @echo {{ replace('a', 'a', x) }}", true},
		{"r x:\n  @echo {{ shell('echo ' + x) }}", true},
		{"r x:\n  @echo {{ quote(shell('echo ' + x)) }}", true},
		{"r x:\n  @echo {{ if shell('echo ' + x) == '' { 'a' } else { 'b' } }}", true},
		{"r x:\n  @echo {{ shell('echo $1', x) }}", true},
		{"r x y=shell('echo ' + x):\n  @echo a", true},
		{"r x y=x:\n  @echo {{y}}", true},
		{"r x y=('a' + x):\n  @echo {{y}}", true},
		{"r x: (s x)\ns y:\n  @echo {{y}}", true},
		{"r x: (s 'a' x)\ns z *y:\n  @echo {{y}}", true},
		{"r x: (s x)\ns y: (u y)\nu z:\n  @echo {{z}}", true},
		{"r x: && (s uppercase(x))\n  @echo a\ns y:\n  @echo {{y}}", true},
		{"r x: (s shell('echo ' + x))\ns y:\n  @echo a", true},
		{"r x:\n  @echo \"{{quote(x)}}\"", true},
		{"r x:\n  @echo '{{quote(x)}}'", true},
		{"r x:\n  @echo `echo {{quote(x)}}`", true},
		{"r x:\n  @echo ${{quote(x)}}", true},
		{"r x:\n  @echo \\{{quote(x)}}", true},
		{"r x:\n  @true # {{quote(x)}}", true},
		{"r x:\n  @echo \"a \\\n    {{quote(x)}}\"", true},
		{"r x:\n  @echo $(( {{quote(x)}} ))", true},
		{"r x:\n  @echo ${y:-{{quote(x)}}}", true},
		{"r x:\n  @echo $'a' {{quote(x)}}", true},
		{"v := '\"'\nr x:\n  @echo {{v}} {{quote(x)}} {{v}}", true},
		{"r x:\n  @echo {{ if x == '' { '\"' } else { '' } }} {{quote(x)}}", true},
		{"r x:\n  #!/bin/sh\n  cat <<E\n  {{quote(x)}}\n  E", true},
		{"r x:\n  #!/bin/sh\n  # {{quote(x)}}\n  true", true},
		{"r x:\n  #!/bin/sh\n  echo '\n  {{quote(x)}}\n  '", true},
		{"r x:\n  #!/bin/sh\n  case a in b) echo $(case a in a) echo {{quote(x)}};; esac);; esac", true},
		{"r x:\n  #!/usr/bin/env python3\n  print({{quote(x)}})", true},
		{"r x:\n  #!/bin/{{x}}\n  true", true},
		{"set shell := ['python3', '-c']\nr x:\n  print({{quote(x)}})", true},
		{"[script('python3')]\nr x:\n  print({{quote(x)}})", true},
		{"r x:\n  @my-eval {{quote(x)}} || ./eval.sh {{quote(x)}} || echo -c || true", false},
		{"r x:\n  @eval {{quote(x)}}", true},
		{"set positional-arguments\nr x:\n  @eval \"$1\"", true},
		{"r $x:\n  @bash -eu -o pipefail -c \"$x\"", true},
		{"r x:\n  @/bin/sh -ec {{quote(x)}}", true},
		{"[script('bash')]\nr x:\n  y={{quote(x)}}\n  (eval \"$y\")", true},
		{"e := 'eval'\nr x:\n  @{{e}} {{quote(x)}}", true},
		{"r x: (s x)\ns y:\n  @sh -c {{quote(y)}}", true},
		{"[working-directory(x)]\nr x:\n  @pwd", true},
		{"f(c) := shell(c)\nr x:\n  @echo {{quote(f(x))}}", true},
		{"f(c) := shell(c)\nr x y=f(x):\n  @echo a", true},
		{"f(c) := shell(c)\nr x:\n  @echo {{ if f(x) == '' { 'a' } else { 'b' } }}", true},
		{"f(c) := shell(c)\nr x: (s f(x))\ns y:\n  @echo a", true},
		{"f(c) := c\nr x:\n  @echo {{f(x)}}", true},
		{"set default-script\nset script-interpreter := ['python3']\nr x:\n  print({{quote(x)}})", true},
		{"v := env('NONE', \"'\")\nr x:\n  @echo {{v}} {{quote(x)}}", true},
		{"v := `echo \"it's\"`\nr x:\n  @echo {{v}} {{quote(x)}}", true},
		{"v := env('NONE', \"'\")\nw := v\na v:\n  @echo {{w}} {{quote(v)}}\nr x:\n  @echo {{w}} {{quote(x)}}", true},
		{"r x:\n  @echo {{trim(\"'\")}} {{quote(x)}}", true},
	}
	var modules strings.Builder
	for i := range cases {
		fmt.Fprintf(&modules, "mod c%d\n", i)
	}
	top := write(t, modules.String())
	at := func(i int) justfile { return justfile{t, filepath.Join(top.dir, fmt.Sprintf("c%d", i))} }
	for i, tt := range cases {
		if err := os.Mkdir(at(i).dir, 0o700); err != nil {
			t.Fatal(err)
		}
		at(i).write("set unstable\n" + tt.text + "\n" + every())
	}
	found := top.analyze()
	for i, tt := range cases {
		_, ok := found[fmt.Sprintf("c%d::r", i)]["x"]
		if ok != tt.spliced {
			t.Errorf("%s\nspliced: %v, want %v\n%v", tt.text, ok, tt.spliced, found[fmt.Sprintf("c%d::r", i)])
		}
		if ok || tt.spliced {
			continue
		}
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, _ = at(i).just("all") // it may fail, but run nothing
			if _, err := os.Stat(filepath.Join(at(i).dir, "PWNED")); err == nil {
				t.Error("a hostile argument ran")
			}
		})
	}
}

// The cases are worth something: hostile arguments run where a parameter is spliced.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"@echo {{x}}", "@echo \"{{x}}\"", "@echo '{{x}}'", "@echo \"{{quote(x)}}\"", "@true # {{quote(x)}}", "@echo $(( {{quote(x)}} ))",
	} {
		j := write(t, "r x:\n  "+body+"\n"+every())
		_, _ = j.just("all") // most of them fail
		if _, err := os.Stat(filepath.Join(j.dir, "PWNED")); err != nil {
			t.Errorf("%s: nothing ran", body)
		}
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	j := write(t, "mod m\na x: (m::b x)\n")
	if err := os.WriteFile(filepath.Join(j.dir, "m.just"), []byte("set shell := ['fish', '-c']\nb y:\n  @echo {{quote(y)}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := j.analyze()
	if !strings.Contains(found["a"]["x"], "passes it on to m::b as y") || !strings.Contains(found["m::b"]["y"], "POSIX") {
		t.Error(found)
	}
	j = write(t, "export V := 'a'\nmod m\n")
	if err := os.WriteFile(filepath.Join(j.dir, "m.just"), []byte("b y:\n  V={{quote(y)}}; make\nc y:\n  W={{quote(y)}}; make\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found = j.analyze(); found["m::b"]["y"] == "" || found["m::c"]["y"] != "" {
		t.Errorf("a module does not inherit the variables of the one above: %v", found)
	}
}

// Values that use each other twice, and nested calls, take no longer than others.
func TestDoubled(t *testing.T) {
	t.Parallel()
	var doubled, functions strings.Builder
	doubled.WriteString(`"e0":{"value":["if",["==","a","b"],"",""]},"v0":{"value":"a"},"w0":{"value":["if",["==","a","b"],["call","env","A"],""]}`)
	for i := range 60 {
		fmt.Fprintf(&doubled, `,"w%d":{"value":["concatenate",["variable","w%d"],["variable","w%d"]]}`, i+1, i, i)
		fmt.Fprintf(&doubled, `,"e%d":{"value":["concatenate",["variable","e%d"],["variable","e%d"]]}`, i+1, i, i)
		fmt.Fprintf(&doubled, `,"v%d":{"value":["concatenate",["variable","v%d"],["variable","v%d"]]}`, i+1, i, i)
	}
	for range 60 {
		functions.WriteString(`["call","shell",`)
	}
	nested := functions.String() + `["variable","x"]` + strings.Repeat("]", 60)
	dump := `{"assignments":{` + doubled.String() + `},"recipes":{"r":{"body":[["echo ",[["call","quote",["variable","x"]]],[["variable","v60"]],[["variable","w60"]],[` + nested + `]]],
		"parameters":[{"name":"x","default":["variable","v60"]}]},
		"empty":{"body":[["echo ",[["call","quote",["variable","x"]]],[["variable","e60"]]]],"parameters":[{"name":"x"}]}}}`
	found, err := splice.Analyze([]byte(dump), splice.Known{})
	if err != nil || len(found["r"]) != 1 || len(found["empty"]) != 1 {
		t.Error(found, err)
	}
}

func TestNotADump(t *testing.T) {
	t.Parallel()
	if _, err := splice.Analyze([]byte("{"), splice.Known{}); err == nil {
		t.Error("no error")
	}
	found, err := splice.Analyze([]byte(`{"recipes":{"a":{"body":[[{"new":["variable","x"]}],[[["later",["variable","y"]]]]],"parameters":[{"name":"x"},{"name":"y"}],
		"dependencies":[{"recipe":"gone","arguments":[["variable","z"]]}]}}}`), splice.Known{})
	if err != nil || len(found["a"]) != 2 {
		t.Error(fmt.Sprint(found, err))
	}
}

// An assignment that is exported stays in the environment if a recipe assigns a parameter to it.
func TestInherited(t *testing.T) {
	t.Parallel()
	found := write(t, "export A := 'a'\nB := 'b'\na x:\n  A={{quote(x)}}; make\nb x:\n  B={{quote(x)}}; make\nc $V:\n  @{{just_executable()}} a b\nd x:\n  B={{quote(x)}}; export B=; make\n").analyze()
	if len(found["a"]) != 1 || len(found["b"]) != 0 || len(found["c"]) != 1 || len(found["d"]) != 1 {
		t.Errorf("got %v", found)
	}
	found = write(t, "a x:\n  VERSION={{quote(x)}}; make\n[env('C', 'c')]\nc x:\n  C={{quote(x)}}; make\n").analyze()
	if len(found["a"]) != 1 || len(found["c"]) != 1 {
		t.Errorf("got %v", found)
	}
	for _, setting := range []string{"set dotenv-load", "set dotenv-filename := 'a'", "set dotenv-path := '.'", "set dotenv-required", "set dotenv-override"} {
		found = write(t, setting+"\na x:\n  C={{quote(x)}}; make\nb x:\n  tool {{quote(x)}}\n").analyze()
		if len(found["a"]) != 1 || len(found["b"]) != 0 {
			t.Errorf("%s: got %v", setting, found)
		}
	}
}

// A parameter that is exported under the name of a variable that programs evaluate is spliced.
func TestExportedNames(t *testing.T) {
	t.Parallel()
	found := write(t, "a $EDITOR='vi' $x='y':\n  @git commit\nb EDITOR='vi':\n  @echo a\n").analyze()
	if len(found["a"]) != 1 || found["a"]["EDITOR"] == "" || len(found["b"]) != 0 {
		t.Errorf("got %v", found)
	}
	found = write(t, "r $TAR_OPTIONS $RSYNC_RSH $CGO_LDFLAGS $CARGO_TARGET_X_RUNNER $RUSTDOCFLAGS $NPM_CONFIG_SCRIPT_SHELL $_JAVA_OPTIONS $FLAGS $VERSION:\n  @echo a\n").analyze()
	if len(found["r"]) != 7 {
		t.Errorf("got %v", found)
	}
	found = write(t, "set export\nr GIT_SSH='a' LD_PRELOAD='a' BASH_ENV='a' name='a':\n  @echo a\n").analyze()
	if len(found["r"]) != 3 || found["r"]["name"] != "" {
		t.Errorf("got %v", found)
	}
}
