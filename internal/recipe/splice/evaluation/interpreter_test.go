package evaluation_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// The program of an interpreter is a constant, wherever its options place it. X is an inserted value
// in quotation marks.
func TestInterpreters(t *testing.T) {
	t.Parallel()
	for script, evaluates := range map[string]bool{
		"sed -n 1p X":                        false,
		"sed -i '' -e 's/a/b/' X":            false,
		"sed -i '' 's/a/b/' X":               false,
		"sed -i.bak -E 's/a/b/' X":           false,
		"sed -e 's/a/b/' -e 's/c/d/' X":      false,
		"sed --posix -e 's/a/b/' X":          false,
		"sed -e 's/1/2/' -e X a":             true,
		"sed 's/1/2/' a -e X":                true,
		"sed -e p -es/1/X/ a":                true,
		"sed -e p a --expression=s/1/X/":     true,
		"perl -e 1 -es/1/X/":                 true,
		"sed 's/1/2/' a --expression X":      true,
		"sed -i .bak X a":                    true,
		"sed --posix X":                      true,
		"sed -f X a":                         true,
		"awk -F ',' -v n=1 '{print n}' X":    false,
		"awk -F, -f a.awk X":                 false,
		"gawk -i inplace '{print}' X":        false,
		"awk -F ',' X a":                     true,
		"awk -v n=1 X a":                     true,
		"awk -f a.awk -f X":                  true,
		"python3 -m pytest -k X -c X":        false,
		"python3 -W ignore -c 'print(1)' X":  false,
		"python3.12 -Bu a.py -c X":           true,
		"python3 -W ignore -c X":             true,
		"python3 -Ic X":                      true,
		"python3":                            false,
		"bash -euo pipefail a.sh -c X":       true,
		"bash -O extglob +x a.sh X":          false,
		"bash -c 'echo $1' -- X":             true,
		"bash -oec pipefail X":               true,
		"bash --rcfile a -c X":               true,
		"ksh93 -x X":                         true,
		"node -r fs --no-warnings a.js -e X": true,
		"node --import tsx a.ts X":           false,
		"node -r fs -e X":                    true,
		"node --input-type module -e X":      true,
		"node -e 'a()' -r X":                 true,
		"ruby -I lib a.rb X":                 false,
		"ruby -r json -e X":                  true,
		"php -d a=b artisan X":               false,
		"php -d a=b -r X":                    true,
		"perl -I lib -pi.bak -e 's/a/b/' a":  false,
		"perl -I lib -we 'print 1' X":        false,
		"perl5.40 a.pl X":                    false,
		"perl -e 'while (<<>>) { print }' X": false,
		"perl -I lib -ne X a":                true,
		"perl -e 'print 1' -e X":             true,
		"perl -ne print X":                   true,
		"perl -e 'while (<>) { print }' X":   true,
		"perl -pi.bak -e 's/a/b/' a X":       true,
		"deno run -A a.ts X":                 false,
		"deno run --allow-net a.ts X":        false,
		"deno test X":                        false,
		"deno fmt a X":                       false,
		"deno eval X":                        true,
		"deno":                               false,
		"bun run X":                          true,
		"lua -l m a.lua X":                   false,
		"lua -e 'a=1' X":                     true,
		"julia --project=. a.jl X":           false,
		"julia --project . -e X":             true,
		"Rscript -e X":                       true,
		"sqlite3 app.db 'select 1'; echo X":  false,
		"sqlite3 app.db X":                   true,
		"psql app -c X":                      true,
		"vim -n +1 X":                        true,
		"psql app <a.sql; echo X | bc a":     false,
		"echo X | psql app":                  true,
		"psql app <<E\nX\nE":                 true,
	} {
		text := strings.ReplaceAll(script, "X", "'"+evaluation.Value+"'")
		from := evaluation.Script{Text: text, Shell: "sh"}
		if reason, _ := from.Evaluates(from.Writes()); (reason != "") != evaluates {
			t.Errorf("%s: %q, want a reason: %v", script, reason, evaluates)
		}
	}
}
