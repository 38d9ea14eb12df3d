package evaluation_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// What an evaluator or an interpreter reads from its input, or from a file that the script writes, is
// evaluated, too. X is an inserted value in quotation marks; "$1" is a variable that has one.
func TestInputs(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		// The input is data, or a constant.
		"printf '%s' \"$1\" | grep a":                                           false,
		"printf '%s' X | grep bash":                                             false,
		"cat <<E > a.txt\n$1\nE\ncat a.txt":                                     false,
		"echo \"$1\" | tee a.txt":                                               false,
		"echo \"$1\" | sudo tee a.txt":                                          false,
		"echo \"$1\" | sed 's/a/b/' | awk -F, '{print}' | jq .":                 false,
		"echo \"$1\" | env LC_ALL=C sed 's/a/b/'":                               false,
		"echo \"$1\" | python3 a.py":                                            false,
		"echo \"$1\" | timeout 5 python3 a.py":                                  false,
		"python3 - \"$1\" <<'E'\nprint('$1')\nE":                                false,
		"git commit -F - <<E\n$1\nE":                                            false,
		"gh pr create --body-file - <<< \"$1\"":                                 false,
		"echo \"$1\"; ssh host <<E\nls\nE":                                      false,
		"echo \"$1\"; git archive HEAD | ssh host tar x":                        false,
		"echo \"$1\"; ssh host <<'E'\necho $1\nE":                               false,
		"echo \"$1\"; git ls-files | xargs rm":                                  false,
		"echo \"$1\"; psql app <a.sql; cat b.sql | psql app":                    false,
		"r() { ssh host; }\necho \"$1\"; echo ls | r":                           false,
		"echo \"$1\" > a.txt; bash b.sh; . ./.env":                              false,
		"echo \"$1\" > a.json; python3 b.py a.json; sed -n 1p a.json":           false,
		"echo \"$1\" > a.txt; sudo cp a.txt b; docker run --env-file a.txt c":   false,
		"echo a > b.sh; echo \"$1\"; bash b.sh":                                 false,
		"echo \"$1\" >/dev/null; bash /dev/null":                                false,
		"while read -r l; do echo \"$l\"; done <<< \"$1\"":                      false,
		"export -n a; a=\"$1\"; declare -x b; b=\"$1\"; declare -r c; c=\"$1\"": false,
		"cp \"$1\" bin/; sam invoke -e <(echo \"$a\"); echo \"$a\" | ssh host":  false,
		// The input is evaluated.
		"cp \"$1\" a; sam invoke -e <(cat a)": true, "cp a \"$1\"; echo * | ssh host": true, "a=\"$1\"; sam invoke -e <(echo \"$a\")": true, "echo() { cat \"$1\"; }; cp \"$1\" a; ssh host < <(echo a)": true,
		"echo \"$1\" > a; echo \"$(cat a)\" | ssh host": true, "printf -v a \"$1\"; printf \"$a\" | ssh host": true, "export a=\"$1\"; echo \"$(env)\" | ssh host": true,
		"ssh host <<E\necho $1\nE":                      true,
		"ssh host <<-E\necho $1\nE":                     true,
		"ssh host 'sh -s' <<E\necho $1\nE":              true,
		"ssh host <<< \"$1\"":                           true,
		"echo X | ssh host":                             true,
		"ssh host < <(echo \"$1\")":                     true,
		"{ cd a; ssh host; } <<E\n$1\nE":                true,
		"for i in 1 2; do echo \"$1\"; done | ssh host": true,
		"f() { printf '%s' \"$1\"; }\nf a X | ssh host": true,
		"f() { cd a; ssh host; }\necho X | f":           true,
		"export a=\"$1\"; export -p | ssh host":         true,
		"env A=1 bash <<E\n$1\nE":                       true,
		"timeout 5 bash <<E\n$1\nE":                     true,
		"sudo -u node sh <<E\n$1\nE":                    true,
		"docker exec -i a psql <<E\n$1\nE":              true,
		"echo X | nice sh":                              true,
		"echo X | tee >(nice sh) a":                     true,
		"timeout 5 python3 - <<E\n$1\nE":                true,
		"python3 - a <<E\n$1\nE":                        true,
		"bash -s a <<E\n$1\nE":                          true,
		"bash /dev/stdin a <<E\n$1\nE":                  true,
		"awk -f - a <<E\n$1\nE":                         true,
		"awk -f- a <<E\n$1\nE":                          true,
		". /dev/stdin <<E\n$1\nE":                       true,
		"printf 'a:\\n\\t%s\\n' X | make -f -":          true,
		"echo X | xargs -I% nice %":                     true,
		"sqlite3 a.db <<E\n$1\nE":                       true,
		"echo \"$1\" | sqlite3 a.db":                    true,
		"command . \"$1\"":                              true,
		// An attribute makes later assignments arithmetic expressions, or names.
		"declare -i n\nn=\"$1\"":         true,
		"f() { local -i n; n=$1; }\nf X": true,
		"n=\"$1\"; declare -i m=n":       true,
		"declare -n r; r=\"$1\"":         true,
		"typeset -xi n; n=\"$1\"":        true,
		// A constant program in the input, or in a file that the script writes.
		"python3 - \"$1\" <<'E'\nimport os, sys\nos.system(sys.argv[1])\nE":                       true,
		"python3 /dev/stdin \"$1\" <<'E'\nimport os, sys\nos.system(sys.argv[1])\nE":              true,
		"node - \"$1\" <<E\nrequire('child_process')\nE":                                          true,
		"cat <<'E' | perl - \"$1\"\nsystem(@ARGV)\nE":                                             true,
		"ruby - X <<< 'system(ARGV[0])'":                                                          true,
		"export n=\"$1\"\npython3 <<'E'\nimport os\nos.system(os.environ['n'])\nE":                true,
		"n=\"$1\" bash <<'E'\necho $((n + 1))\nE":                                                 true,
		"export n=\"$1\"; sudo -E bash <<'E'\nssh host \"a $n\"\nE":                               true,
		"n=X nice bash <<'E'\nssh host \"a $n\"\nE":                                               true,
		"bash <<'E'\ntool \"$n\"\nE\necho \"$1\"":                                                 false,
		"bash -s -- X <<'E'\ntool -c \"$1\"\nE":                                                   true,
		"cat > t.sh <<'E'\nssh host \"a $1\"\nE\nchmod +x t.sh; ./t.sh \"$1\"":                    true,
		"cat > t <<'E'\n#!/bin/sh\nssh host \"a $1\"\nE\nchmod +x t; ./t \"$1\"":                  true,
		"cat > t.py <<'E'\nimport os, sys\nos.system(sys.argv[1])\nE\npython3 t.py \"$1\"":        true,
		"cat > t <<'E'\n#!/usr/bin/env python3\nimport os, sys\nos.system(sys.argv[1])\nE\n./t X": true,
		"cat > t.py <<'E'\nimport sys\nprint(sys.argv[1])\nE\npython3 t.py \"$1\"":                false,
		"cat > t.sh <<'E'\necho \"$1\"\nE\n./t.sh \"$1\"":                                         false,
		"cat > a.md <<'E'\nRun `ssh host \"$1\"`\nE\ntool \"$1\"":                                 false,
		"cat > g.py <<E\nprint('$1')\nE\nuv run g.py":                                             true,
		"echo \"# $1\" > j.sbatch; sbatch j.sbatch":                                               true,
		"echo \"# $1\" > j.ts; git add j.ts; npx tsx k.ts":                                        false,
		"echo X | sudo tee run.sh; sudo bash run.sh":                                              true,
		"echo X | sudo -u a tee run.sh > /dev/null; bash run.sh":                                  true,
		// A file is written, and run.
		"echo \"A=$1\" > .env; source .env":            true,
		"echo \"A=$1\" >> ./.env; . .env":              true,
		"echo \"A=$1\" > .env; command source .env":    true,
		"echo X > a.sh; bash a.sh":                     true,
		"echo X > a.sh; nice sh a.sh":                  true,
		"echo X > a.sh; bash -x a.sh":                  true,
		"cat > a.sh <<E\n$1\nE\nchmod +x a.sh; ./a.sh": true,
		"echo X > a.sh; sudo ./a.sh":                   true,
		"echo X | sed 's/a/b/' > a.sh; sh a.sh":        true,
		"{ echo a; echo X; } > a.sh; sh a.sh":          true,
		"echo X | tee a.sh; sh a.sh":                   true,
		"echo X > a.tmp; mv a.tmp a.sh; sh a.sh":       true,
		"sed -i \"s/@/$1/\" a.sh; sh a.sh":             true,
		"f() { cat > a.sh; }; f <<< \"$1\"; sh a.sh":   true,
		"f() { echo \"$1\"; }; f X > a.sh; sh a.sh":    true,
		"exec > a.sh; echo X; sh a.sh":                 true,
		"echo X > a.py; python3 a.py":                  true,
		"echo X > a.awk; awk -fa.awk b":                true,
		"echo X > a.sql; psql -f a.sql":                true,
		"echo X > a.sql; psql < a.sql":                 true,
		"echo X > a.sh; cat a.sh | ssh host":           true,
		"d=b; echo X > \"$d/a.sh\"; bash b/a.sh":       true, "d=b; echo X > \"$d/a.sh\"; cd $d; bash a.sh": true, "echo X > \"$PWD/a.sh\"; bash a.sh": true, "for f in a b; do echo X > $f.sh; done; bash a.sh": true,
		"f=a; echo X > \"$f.sh\"; bash a.sh": true, "f=a; f+=.sh; echo X > \"$f\"; bash a.sh": true, "f=$(pwd)/a; echo X | tee \"$f\"; . ./a.sh": true, "t=$(mktemp); t=a.sh; echo X > \"$t\"; sh a.sh": true,
		"echo X > \"$2\"; make": true, "f=a; echo X > $f.txt; bash a.sh": false, "t=$(mktemp); echo X > $t; bash a.sh": false, "d=b; echo X > $d/a.txt; ./b.sh": false, "echo X > \"$d\"; echo a | ssh b": false,
		"echo X > a; xargs -a a -I{} bash -c '{}'": true, "echo X > a; xargs --arg-file=a rm": false, "history -s X; fc -s": true, "echo X > a; GIT_CONFIG_GLOBAL=a git b": true, "echo X > a; PATH=b:/c git d": false,
		"echo X > x/a.sh; bash x/*":   true,
		"echo X > a.mk; make -f a.mk": true,
	} {
		text := strings.ReplaceAll(script, "X", "'"+evaluation.Value+"'")
		from := evaluation.Script{Text: text, Shell: "bash", Positional: true}
		inserted, variables := from.Evaluates(from.Writes())
		reason := inserted
		if !strings.Contains(script, "X") {
			reason = variables
		}
		if (reason != "") != evaluates {
			t.Errorf("%s: %q, want a reason: %v", script, reason, evaluates)
		}
	}
}
