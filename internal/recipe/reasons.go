package recipe

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// maxReasons is how many lines explain a failure.
	maxReasons = 12
	// worthReasons is how many lines an output must have for its explanation to be hard to
	// find.
	worthReasons = 30
	// maxReason is how long such a line can be, in bytes.
	maxReason = 300
)

// mistake finds the lines in which compilers, linters, test runners and just say what went
// wrong: a word for a mistake at a place where programs put it, a position in a file, or
// the mark of a failed test.
var mistake = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:^\s*(?:\S+:\s*)?(?:fatal|panic|fatal error|uncaught|unhandled|traceback|segmentation fault|exception)\b` +
		`|\b(?:error|errors?\[\w+\]|failure|failed)\s*:` +
		`|^\s*error\b` +
		`|^\S+: (?:command not found|no such file or directory|permission denied))` +
		`|^\s*(?:--- FAIL|FAIL\b|FAILED\b|not ok\b|E   |✗|✖|×|● )` +
		`|\b[A-Z]\w*(?:Error|Exception)\b` +
		`|^\s*\S+\.\w+:\d+(?::\d+)?: `)
})

// Reasons returns the lines of a failed run's output that explain the failure, in their
// order; none if the output is so short that nobody has to look for them.
func Reasons(output string) []string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(lines) < worthReasons {
		return nil
	}
	var found []string
	seen := map[string]bool{}
	for _, line := range lines {
		line = strings.TrimRight(line, " \t")
		if seen[line] || !mistake().MatchString(line) {
			continue
		}
		seen[line] = true
		if len(line) > maxReason {
			cut := maxReason
			for !utf8.RuneStart(line[cut]) {
				cut--
			}
			line = line[:cut] + "…"
		}
		found = append(found, line)
	}
	if over := len(found) - maxReasons; over > 0 {
		// The first mistakes cause others; the last lines sum up.
		const last = 2
		found = append(found[:maxReasons-last:maxReasons-last], found[len(found)-last:]...)
	}
	return found
}
