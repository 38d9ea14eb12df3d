package evaluation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// In the arguments of a program that copse does not know, a value is a word of its own that cannot be a
// command. X is an inserted value in quotation marks; "$1" and "$x" are variables that have one.
func TestPositions(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		// Whole words, and words with a plain beginning or end.
		"tool X": false, "tool sub --name X --file=X a/X.tar.gz img:X@X": false, "./a.sh \"$1\" \"${2:-none}\"": false,
		"tool -- \"$@\"": false, "exec tool \"$@\"": false, "cargo run --example X -- X": false, "cargo test -p X -- --exact X --nocapture": false,
		"npm run build -- X": false, "go test -run \"^$1$\" ./...": false, "go build -o bin/X ./cmd/X": false, "uv run pytest -x X": false,
		"uv run --frozen pytest X": false, "uv run a.py X": false, "docker compose exec web pytest X": false, "docker compose exec -T web python a.py X": false,
		"docker run --rm -v \"$PWD:/a\" -e X=X img X": false, "docker run --name X img": false, "docker run -e \"A=b $1\" img": false, "docker build -t img:X --build-arg \"A=$1 b\" .": false,
		"docker login -u a --password-stdin <<< X": false, "kubectl logs -c X X": false, "direnv exec . npm test X": false, "sudo -u X ls X": false, "sudo -E systemctl restart X": false,
		"env -u A B=X tool X": false, "timeout 5 ./a.sh X": false, "nix run .#a -- --host X": false, "python3 -m pytest -k X": false, "uv run python -c 'import json,sys; print(sys.argv[1])' X": false,
		"python3 manage.py test X": false, "node dist/cli.js run X": false, "bundle exec rspec X": false, "tar -czf X a": false, "openssl enc -e X": false, "command -v X": false,
		"alembic revision -m \"add $1\"": false, "tool --title \"a $1\"": false, "A=a; tool --exec \"$A\" X": false, "tool --dry-run X": false, "tool --no-run X": false,
		"a() { tool \"$1\"; }; a \"b $1\"": false, "A=\"b $1\"; tool \"$A\"": false, "tool \"$(pwd) $HOME\" X": false, "pytest --cov=a -E X": false,
		"uv run \"$A\" doctor --source X \"$@\"": false, "gh workflow run a.yml --ref X -f \"a=$1\"": false, "terraform -chdir=a plan -var-file=X -out=X": false, "claude -p X < a": false,
		"npx prettier --write X": false, "cargo run -- chat --provider X X": false, "nix flake lock --override-input X X": false, "trap 'c=$?; rm -rf \"$t\"; exit $c' INT; tool X": false,
		"t=$(mktemp); echo X > \"$t\"; cat \"$t\"": false, "gum confirm \"a $1?\"": false, "git config user.name X": false, "t=$(mktemp -d); cp X \"$t\"; bash a.sh": false,
		"a=(--release); tool \"${a[@]}\" X": false, "tool $'a\\n' X": false, "/usr/bin/git commit -m \"a $1\"": false, "tool {} X": false, "rm *.o X": false, "tool \"${A:-b}\" X": false,
		"pid=$!; tool X; wait $pid": false, "op run -- tool X": false, "open -a b --args X": false, "git push X HEAD": false,
		// Programs that print, store, or compare text.
		"echo \"a $1\" $1; printf '%s\\n' \"a $1\"": false, "[ \"a $1\" = b ] || test -n X": false, "git commit -m \"feat($1): a\" && git tag -a vX -m \"a $1\"": false,
		"git -C X log --grep=\"a $1\" -e X": false, "git switch -c X && git grep -e \"a|$1\"": false, "git diff --exit-code \"$1^\"": false, "gh pr create --title \"a $1\" --body \"b $1\"": false, "gh run view X": false,
		"curl -d \"{\\\"a\\\": \\\"$1\\\"}\" 'http://a/?b='X": false, "rg -e \"a|$1\" .": false, "find . -name \"*$1*\" -exec rm {} +": false, "fd -e X": false,
		"mkdir -p \"a b/$1 (c)\" && cp X \"a b\"": false, "logger \"a $1\"": false, "jq -c --arg a X '.[$a]' b": false, "date -d \"$1 days ago\"": false, "cat <<E | tee \"a $1\"\n$1\nE": false,
		"sudo tee \"a $1\"": false, "sudo -u root tee a <<< X": false, "while read -r l; do tool \"$l\"; done <<< X": false, "echo X | kubectl apply -f -": false, "podman save X | podman load; docker import - a < X": false, "podman save X | podman run -i a": true, "echo X | docker build -": true,
		// Usual recipes.
		"ffmpeg -i X \"${1%.*}.gif\" && tool \"${1##*/}\" \"${1//:/-}\"": false, "tool \"${1//:/;}\"": true, "tool \"${1:-a b}\"": true,
		"a=(\"$@\"); if [[ ${#a[@]} -eq 0 ]]; then a=(.); fi; tool \"${a[@]}\"": false, "a=X; (( a + ${#a} ))": true,
		"b=$SECONDS; tool X; echo $((SECONDS - b))": false, "b=RANDOM; a=X; (( b ))": true,
		"while read -r f; do tool \"$f\"; done < <(./list X)": false, "mapfile -t a < <(fd X)": false, "ssh a < <(echo X)": true,
		"read -rp \"Delete $1? \" a; tool \"b $a\"": true, "read -p X -r a; [[ $a == y ]]; tool \"$1\"": false, "read -p a X": true, "read -a X": true, "b=1; read -p \"$1\" a; tool \"c $b\"": false,
		"n=$(wc -l < X); (( n > 3 ))": false, "n=$(fd X | wc -l); echo $((n + 1))": false, "n=$(wc -l X); (( n ))": true, "n=$(wc -l <<< 1 && echo X); (( n ))": true,
		"export $(grep -v '^#' .env | xargs); tool X": false, "export $(jq '.env + env' a)": true, "export $(env)": true,
		"typst watch X; gh run watch X; npm run script X": false, "cargo watch -- X": true, "sudo watch X": true, "nix develop -c watch X": true, "watch X": true,
		"node --test X": false, "node --test -e X": true, "latexmk -pdf -pvc X; yt-dlp -x X": false, "codex exec \"a $1\"": true, "codex exec X; opencode run X": false,
		"cargo nextest run --run-ignored all -E X": false, "cargo nextest run --run-ignored all sh -c X": true, "cargo a --run all -E X": true, "tool --run-ignored all -E X": true,
		"git ls-files | xargs grep -n X": false, "find . -name X -print0 | xargs -0 rm -f": false, "fd X | xargs -I {} -n 1 cp {} b": false, "echo X | xargs": false,
		"ps | grep X | awk '{print $2}' | xargs kill -9": false, "git ls-files | xargs tool X": false, "fd X | xargs tool": true, "fd X | xargs sed -i s/a/b/": true, "fd X | xargs git rm": true,
		"fd X | xargs -I{} sh -c 'rm {}'": true, "fd a | xargs -n 1 X": true, "fd a | xargs X": true, "fd X | xargs sudo rm": true, "fd X | xargs $a": true, "fd a | xargs ssh X": true,
		"$EDITOR a/X.md": false, "${EDITOR:-vim} \"a/$1\"": false, "\"$VISUAL\" -n a.md; tool X": false, "$EDITOR X": true, "$EDITOR -c a$1": true, "${EDITOR:-$1} a": true, "EDITOR=X; $EDITOR a": true, "vim -c a\"$1\"": true, "vim a/X": false, "vim + a\"$1\"": true,
		"[ $# -gt 0 ] && [ -n \"$*\" ] && [[ -n $@ ]] && [ ${#a[@]} = 1 ]": false, "[ -z \"$@\" ]": true, "test -n \"${@:2}\"": true, "a=(X); [ -n \"${a[@]}\" ]": true, "test X \"$@\"": true,
		// Words that become a part of a longer text, or several words.
		"tool \"echo $1\"": true, "tool 'a;'X": true, "tool \"$(a) $1\"": true, "tool $1": true, "tool $@": true, "tool \"${1:+-c $1}\"": true, "tool \"`echo $1` b\"": true,
		"./a.sh \"a $1\"": true, "python3 a.py \"a $1\"": true, "git $1": true, "curl $1": true, "A=$1; tool a $A": true, "A=\"$1\"; B=\"c $A\"; tool \"d $B\"": true,
		"read -r a <<< X; tool \"b $a\"": true, "for a in \"$@\"; do tool \"b $a\"; done": true, "for a; do tool \"b $a\"; done": true, "set -- X; tool \"b $2\"": true,
		"cd \"$1\"; tool \"b $PWD\"": true, ": \"${a:=$1}\"; tool \"b $a\"": true, "printf -v a '%s' X; tool \"b $a\"": true, "a=(\"$@\"); tool \"b ${a[0]}\"": true, "eval 'a=$1'; tool \"b $a\"": true,
		"a() { tool \"b $1\"; }; a X": true, "mapfile -t a <<< X; tool \"b ${a[1]}\"": true, "jq \".[\\\"$1\\\"]\" a": true, "tool \"b $_\"": true, "tool \"b ${BASH_ARGV[0]}\"": true,
		"RANDOM=\"$1\"": true, "for OPTIND in X; do a; done": true, "read HISTCMD <<< X": true, "PATH=\"$1\" a": true, "a=([$1]=b)": true, "declare \"a=$1\"": true,
		"t=$(mktemp); echo X > \"$t\"; sh \"$t\"": true, "t=$(mktemp); echo X > \"$t\"; . \"$t\"": true, "t=$(mktemp); echo X > \"$t\"; sudo \"$t\"": true, "t=a; echo X > $t; \"$t\"": true,
		"t=a; echo X > $t; b=$(cat $t); tool \"c $b\"": true, "trap 'tool -c \"$1\"' INT": true, "trap 'a=$1; tool \"b $a\"' INT": true, "alias a='tool \"b $1\"'": true, "wait -p X": true,
		"o=-c; tool $o X": true, "o='bash -c'; tool $o X": true, "for o in -c -d; do tool $o X; done": true, "tool ${o:--c} X": true, "tool $'\\x2dc' X": true, "$'\\x65val' X": true, "{sh,-c} X": true, "tool {-c,} X": true,
		"tool -{c,d} X": true, "/bin/s[h] X": true, "./echo \"a $1\"": true, "env BASH_ENV=X tool": true, "docker run -e LD_PRELOAD=X a": true, "tool -cvX": true, "read -ra a <<< X; tool \"b ${a[0]}\"": true, "read -raa <<< X; tool \"b ${a[0]}\"": true, "cd X; tool \"b $(pwd)\"": true,
		"exec 3<<< X; bash <&3": true, "exec <<< X; sftp a": true, "node -e 'require(process.argv[1])' X": true, "CC=X make": true, "go build -ldflags X": true,
		"env -S 'bash -c' X": true, "env -vS'a' X": true, "env --split-string='bash -c' X": true, "alias r=eval; r X": true, "alias r='ssh a'; alias s=r; cat a | s X": true, "alias r=\"ssh $h\"; r X": true, "alias r='ssh a'; echo X": false,
		"echo X | sed 's.^.echo .e'": true, "echo X | sed 'sA^Aecho Ae'": true, "sed 's/a/b/; s,c,d,' X": false, "python3 -m timeit -n 1 X": true, "ruby -e 'puts IO.read(ARGV[0])' X": true,
		"pssh -H a X": true, "adb shell input text X": true, "scp -S X a b:": true, "tcpdump -z X": true, "sbatch --wrap X": true, "hatch run test \"$@\" && npm run test -- X": false, "command test \"$@\"": true, "builtin test -v X": true,
		"n=X python3 -c 'import os; os.system(os.environ[\"n\"])'": true, "n=X awk 'BEGIN { system(ENVIRON[\"n\"]) }'": true, "set -a; n=X; perl -e 'system($ENV{n})'": true, "export n; n=X; su -c 'tool $n'": true,
		"n=X make a": true, "n=a make b; tool X": false, "n=a python3 -c 'import os; os.system(os.environ[\"n\"])'; tool X": false, "export n=1; ssh a 'b $n'; tool X": false,
		"cmake --build b -- X": true, "cmake --build b --target X": false, "cargo run --config X": true, "cargo b --config=X": true, "task b V=X": true, "sbt X": true, "pm2 start X": true,
		"hyperfine X": true, "uv run env -S X": true, "cmake -E env X": true, "git config core.editor X": true, "git config --global alias.a X": true, "git clone --config core.pager=X a": true,
		"fzf --preview X": true, "rsync --rsync-path X a": true, "man -P X a": true, "java -a:OnError=X b": true, "npm pkg set scripts.a=X": true, "npx -- \"$@\"": true, "docker exec web env X": true,
		// The values of options that take a command.
		"tool -c X": true, "tool -ec X": true, "tool -cX": true, "tool -x X": true, "tool -e X": true, "tool --exec X": true, "tool --exec=X": true, "tool --eval X": true, "tool --on-change-cmd X": true,
		"tool --command \"$1\"": true, "tool --run X": true, "tool -exec X": true, "tool -Dexec.args=X": true, "tool -o ProxyCommand=X": true, "tool --setup-script X": true, "tool --msg-filter X": true,
		"git rebase --exec \"echo $1\" a": true, "git rebase -x X a": true, "git bisect run X": true, "git submodule foreach X": true, "git -c X log": true, "git -c core.editor=X commit": true,
		"git grep -O\"$1\" a": true, "git config alias.a \"!$1\"": true, "git clone --upload-pack X a": true, "git filter-branch --tree-filter X": true, "rsync -e X a b:": true, "tar -I X -cf a b": true,
		"rg --pre X a": true, "docker run -e EDITOR=X a": true, "env GIT_SSH_COMMAND=X git fetch": true, "env -SX": true, "env -S X": true, "fd -x X": true, "find . -exec X": true, "find . -ok a \"b $1\" \\;": true,
		"cargo watch -x X": true, "cargo watch -s \"a $1\"": true, "ansible-playbook -e a=X": true, "mix run -e X": true, "rails runner X": true, "wp eval X": true, "python3 manage.py shell -c X": true,
		"php artisan tinker --execute X": true, "emacs --eval X": true, "nix-shell --run X": true, "nix develop -c X": true, "nix develop --command bash -c X": true, "gcloud compute ssh a --command X": true,
		// The command that a program runs.
		"sudo X": true, "sudo -n X": true, "sudo -s X": true, "command -p X": true, "exec -a b X": true, "exec \"$@\"": true, "uv run \"$@\"": true, "uv run -p \"$@\"": true, "uv run -- X": true, "poetry run X": true, "npx X": true, "docker exec a X": true, "docker compose exec -u a web X": true,
		"docker compose run web \"$@\"": true, "docker run --entrypoint X a": true, "kubectl exec a -- \"$@\"": true, "direnv exec . \"$@\"": true, "bundle exec X": true, "npm exec -- X": true, "sudo ./X": true,
		"sudo \"$A\" X": true, "timeout 5 \"$@\"": true,
		// Shells and other interpreters after any program.
		"uv run bash -c \"a $1\"": true, "uv run bash -c X": true, "docker-compose exec web sh -c \"$1\"": true, "direnv exec . sh -c \"$1\"": true, "tool sh X": true, "tool -a b python3 -c X": true,
		"tool ssh a X": true, "tool make X": true, "tool -- xargs X": true, "poetry run python -c X": true, "mise exec -- node -e X": true, "tool bash a.sh X": false, "mise exec -- node a.js X": false,
		"tool bash <<E\n$1\nE": true, "tool ssh a <<E\n$1\nE": true, "A=b tool 'bash' -c X": true, "tool /bin/sh -c X": true, "find . -exec sh -c X \\;": true, "fd -x bash -c X": true, "sudo -u node sh -c X": true,
		// Constant programs that run what they read.
		"awk -v a=X '{ system(\"b \" a) }' c": true, "awk -v a=X '{ print a | \"cat\" }' c": true, "awk -va=X '{ system(a) }' c": true, "awk 'BEGIN { system(ARGV[1]) }' X": true, "awk '{ \"b\" | getline }' X": true,
		"awk -v a=X '$1 == a || b { print }' c": false, "awk -F X '{ print $2 }' c": false, "echo X | awk '{ system($0) }'": true, "echo X | sed 's/^/echo /e'": true, "sed -n 1e X": true, "sed -i \"s/a/b/\" X": false,
		"perl -e 'system(@ARGV)' X": true, "python3 -c 'import os,sys; os.system(sys.argv[1])' X": true, "node -e 'eval(process.argv[1])' X": true, "ruby -e 'puts `#{ARGV[0]}`' X": true, "php -r 'passthru($argv[1]); exec(1);' X": true,
		// The input of a program that copse does not know.
		"sftp a <<E\nput $1\nE": true, "gnuplot <<< X": true, "echo X | tool": true, "{ cd a; tool; } <<< X": true, "echo X | sudo -u a tool": true, "echo X | uv run tool": true,
	} {
		text := strings.ReplaceAll(script, "X=X", "A=X")
		text = strings.ReplaceAll(text, "X", "'"+evaluation.Value+"'")
		from := evaluation.Script{Text: text, Shell: "bash", Positional: true}
		inserted, variables := from.Evaluates(from.Writes())
		if (inserted != "" || variables != "") != evaluates {
			t.Errorf("%s: %q, %q, want a reason: %v", script, inserted, variables, evaluates)
		}
	}
}

// A parameter that is exported can reach a program that no variable in the script names.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		"tool \"$x\"":                      false,
		"tool \"b $y\"":                    false,
		"awk '{ print ENVIRON[\"x\"] }' a": false,
		"awk '{ system(\"b\") }' a":        false,
		"tool \"b $x\"":                    true,
		"tool \"b ${!y}\"":                 true,
		"envsubst < a | sh":                true, "jq -nr env.x | sh": true, "su -c 'tool $x'": true, "make b": true, "trap 'tool -c \"$x\"' INT": true,
		"printenv x | sh": true,
		"env | ssh a":     true,
		"tr '\\0' '\\n' < /proc/self/environ | sh":             true,
		"awk '{ system(\"b \" ENVIRON[\"x\"]) }' a":            true,
		"perl -e 'system($ENV{x})'":                            true,
		"python3 -c 'import os; os.system(os.environ[\"x\"])'": true,
		"sudo -E make a": true, "make -C b": true, "(cd b && gmake)": true, "bash -c 'make'": true, "nice bash -ec 'cd b; make'": true, "${MAKE:-make} a": true, "m=make; $m a": true,
		"env -u x make a": false, "env -i A=b make": false, "env make -u x": true, "cargo build; npm run build": false, "task b": true,
		"bash -c 'echo $((x))'": true, "bash -c 'eval \"$x\"'": true, "sh -euo pipefail -c '[ $x ]'": true, "bash -c 'bash -c \"tool \\\"\\$x b\\\"\"'": true, "timeout 3 bash -c 'ssh a \"b $x\"'": true,
		"xargs -n1 bash -c 'echo $((x))' <<< a": true, "find . -exec bash -c 'echo $((x))' \\;": true, "bash -c 'python3 -c \"import os; os.system(os.environ[\\\"x\\\"])\"'": true,
		"bash -c 'tool \"$x\"; echo $((1))'": false, "sh -c 'tool \"b $y\"'": false, "find . -exec sh -c 'tool \"b $1\"' _ {} \\;": false, "zsh -c 'exit $x'": true,
		"trap '(( x ))' EXIT": true, "trap 'make' EXIT": true,
		"(( y + x ))":  true,
		"y=x; (( y ))": true,
	} {
		from := evaluation.Script{Text: script, Shell: "bash", Exported: map[string]bool{"x": true}}
		if _, variables := from.Evaluates(from.Writes()); (variables != "") != evaluates {
			t.Errorf("%s: %q, want a reason: %v", script, variables, evaluates)
		}
		from.Exported = nil
		if inserted, variables := from.Evaluates(nil); inserted+variables != "" {
			t.Errorf("%s: %q, %q without a parameter", script, inserted, variables)
		}
	}
}

// zsh runs commands in the qualifiers of a pattern.
func TestQualifiers(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		"ls *(e:$1:)": true, "ls *.txt(#qe:\"$1\":)": true, "for f in *(e:'touch $1':); do :; done": true,
		"ls *(.)": false, "ls *(om[1,3]) \"$1\"": false, "echo \"(e:$1:)\"": false, "ls *(e:'test -x a':); tool \"$1\"": false,
	} {
		from := evaluation.Script{Text: script, Shell: "zsh", Positional: true}
		if _, variables := from.Evaluates(nil); (variables != "") != evaluates {
			t.Errorf("%s: %q, want a reason: %v", script, variables, evaluates)
		}
	}
}

// A variable is in the environment of the programs for which the script exports it.
func TestExports(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		"V=\"$1\" make": true, "V=X make": true, "export V=\"$1\"; make": true, "export V=X; make": true, "export V; V=\"$1\"; make": true, "command export V; V=\"$1\"; make": true,
		"set -a; V=\"$1\"; set +a; make": true, "set -euao pipefail; V=X; make": true, "set -o allexport; V=X; make": true, "declare -rx V=\"$1\"; make": true, "f() { local -x V=\"$1\"; make; }; f X": true,
		"f() { make; }; V=X f": true, "V=X eval make": true, "env V=X make": true, "env \"V=$1\" make": true, "sudo V=X make": true, "docker run -e V=X a make": true, "V=X bash -c make": true,
		"V=X bash -c 'eval \"$V\"'": true, "env V=X bash -c 'echo $((V))'": true, "export V=X; bash -c 'exec bash -c \"echo \\$((V))\"'": true, "docker run -eV=X a sh -c 'tool \"b $V\"'": true,
		"shopt -os allexport; V=X; make": true, "setopt All_export; V=X; make": true, "export V=X; $(which make) -s": true, "export V=X; \"`command -v make`\"": true, "export V=X; /usr/bin/m?ke": true,
		"export V=X; $(which bash) -c 'eval \"$V\"'": true, "export V=X; python3 -c 'import os; os.system(\"make -s\")'": true, "export V=X; $(dirname \"$0\")/tool": false, "export V=X; [ -f a ]": false,
		"USER=\"$1\"; make": true, "for USER in X; do make; done": true, "mapfile -t V <<< X; export V; make": true, "export V=X; cat > t <<'E'\necho $((V))\nE\n./t": true, "x=X; cat > t.sh <<'E'\neval \"$x\"\nE\n. ./t.sh": true,
		"V=\"$1\"; make": false, "V=X tool; make": false, "V=a make; tool X": false, "readonly V=X; make": false, "declare V=X; make": false, "export -n V; V=X; make": false, "set -- -u; V=X; make": false,
		"V=X; bash -c 'echo $((V))'": false, "export V=X; bash -c 'tool \"$V\"; make=1'": false, "export V=X; env -u V make": false, "V=X env --unset=V make": false, "export V=X; ssh a 'b $(c)' <<'E'\nmake\nE": true,
		"trap '(( V ))' INT; V=\"$1\"": true, "trap 'rm -rf \"$t\"' INT; t=X": false, "a=X; bash <<'E'\na=1; echo $((a))\nE": false,
	} {
		from := evaluation.Script{Text: strings.ReplaceAll(script, "X", "'"+evaluation.Value+"'"), Shell: "bash", Positional: true}
		if inserted, variables := from.Evaluates(from.Writes()); (inserted+variables != "") != evaluates {
			t.Errorf("%s: %q, %q, want a reason: %v", script, inserted, variables, evaluates)
		}
	}
}

// The options of the shell can export all variables.
func TestAllExport(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]bool{"bash -a": true, "env -S bash -ea": true, "bash -o allexport": true, "bash -euac": true, "sh -cu": false, "bash -euo pipefail": false, "": false} {
		if got := slices.ContainsFunc(strings.Fields(options), evaluation.AllExport); got != want {
			t.Errorf("%s: %v, want %v", options, got, want)
		}
		from := evaluation.Script{Text: "V=\"$1\"; make", Shell: "bash", Positional: true, ExportsAll: want}
		if _, variables := from.Evaluates(nil); (variables != "") != want {
			t.Errorf("%s: %q, want a reason: %v", options, variables, want)
		}
	}
}

// The time for many names of programs in one command, and for scripts in scripts, is limited.
func TestManyPrograms(t *testing.T) {
	t.Parallel()
	documents := "tool \"a $x\"\n"
	for i := range 12 {
		documents = fmt.Sprintf("bash <<'E%d'\n%sE%d\n", i, documents, i)
	}
	for _, script := range []string{"tool " + strings.Repeat("-a sh ", 200) + "\"$x\"", "tool " + strings.Repeat("-a sh ", 5000) + "\"$x\"", documents} {
		from := evaluation.Script{Text: script, Shell: "sh", Exported: map[string]bool{"x": true}}
		if _, variables := from.Evaluates(nil); variables == "" {
			t.Errorf("%.40s: no reason", script)
		}
	}
}

// Builtins of zsh and ksh evaluate numbers as arithmetic expressions.
func TestOtherShells(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		"tool \"$1\"": false, "echo \"a $1\"; cd \"$1\"; a=\"$1\"": false, "[[ \"$1\" == a ]]": false, "[ \"$1\" = a ]": false, "printf '%s\\n' \"$1\"": false, "shift": false,
		"exit \"$1\"": true, "return \"$1\"": true, "shift \"$1\"": true, "integer n=\"$1\"": true, "float n=\"$1\"": true, "typeset -i n=\"$1\"": true, "local n=\"$1\"": true,
		"print -P \"$1\"": true, "printf '%d' \"$1\"": true, "[ \"$1\" -eq 1 ]": true, "let \"$1\"": true, "a=\"b $1\"; tool \"$a c\"": true, "noglob \"$1\"": true, "ulimit -n \"$1\"": true,
		"COLUMNS=\"$1\"": true, "for SECONDS in \"$1\"; do a; done": true, "read SHLVL <<< \"$1\"": true, "[[ -t $1 ]]": true, "set -A \"$1\" a": true, "builtin exit \"$1\"": true, "read -t \"$1\" a": true,
	} {
		for _, shell := range []string{"zsh", "mksh"} {
			from := evaluation.Script{Text: script, Shell: shell, Positional: true}
			if _, variables := from.Evaluates(nil); (variables != "") != evaluates {
				t.Errorf("%s: %s: %q, want a reason: %v", shell, script, variables, evaluates)
			}
		}
	}
}
