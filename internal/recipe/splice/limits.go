package splice

import "github.com/copse-dev/copse/internal/recipe/splice/evaluation"

// maxConstants limits the text of the constants that all recipes of a justfile insert. A justfile can
// mention a long constant thousands of times.
const maxConstants = 4 << 20

// maxScripts limits the text of all scripts that are parsed for a justfile.
const maxScripts = 4 << 20

// maxReason limits the length of a reason that names other recipes and parameters. Thousands of them
// can form a chain.
const maxReason = 500

// budget is the text that the analysis of a justfile may still insert, and the one that it may parse.
type budget struct{ left, scripts int }

// constant returns the value of a constant for insertion into a script, and whether there is such a
// constant. Without fits, its text, or that of all constants before it, is too long to parse.
func (m *module) constant(name string) (value string, isConstant, fits bool) {
	value, isConstant = m.Assignments[name].Value.(string)
	if m.constants.left -= min(len(value), evaluation.MaxScript); len(value) > evaluation.MaxScript || m.constants.left < 0 {
		return "", isConstant, false
	}
	return value, isConstant, true
}

// because adds the next reason to one, unless both are too long to help anybody.
func because(one, next string) string {
	if len(one)+len(next) > maxReason {
		return one + ", which inserts it"
	}
	return one + ", and " + next
}
