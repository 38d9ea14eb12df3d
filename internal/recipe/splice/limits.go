package splice

import (
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/plain"
)

// maxConstants limits the text of the constants that all recipes of a justfile insert. A justfile can
// mention a long constant thousands of times.
const maxConstants = 4 << 20

// maxScripts limits the text of all scripts that are parsed for a justfile, and the expressions in it.
const maxScripts = 4 << 20

// budget is the text that the analysis of a justfile may still insert, and the one that it may parse.
type budget struct {
	left, scripts int
}

// spend counts an expression, and all texts in it, and reports whether the budget allows it.
func (b *budget) spend(e any) bool {
	b.scripts--
	switch e := e.(type) {
	case string:
		b.scripts -= len(e)
	case []any:
		for _, part := range e {
			if !b.spend(part) {
				return false
			}
		}
	}
	return b.scripts >= 0
}

// constant returns the value of a constant for insertion into a script, and whether there is such a
// constant. Without fits, its text, or that of all constants before it, is too long to parse.
func (m *module) constant(name string) (value string, isConstant, fits bool) {
	value, isConstant = m.assigned(name)
	if m.constants.left -= min(len(value), plain.MaxScript); len(value) > plain.MaxScript || m.constants.left < 0 {
		return "", isConstant, false
	}
	return value, isConstant, true
}

// assigned returns the value of an assignment, and whether it is a constant. It remembers the answer.
func (m *module) assigned(name string) (string, bool) {
	known, ok := m.texts[name]
	if !ok {
		m.texts[name] = nil // just refuses circles
		if value, isConstant := m.text(m.Assignments[name].Value); isConstant {
			known = &value
		}
		m.texts[name] = known
	}
	if known == nil {
		return "", false
	}
	return *known, true
}

// text returns the text of an expression without parameters, and whether it is a constant. A text that
// is too long to parse can end early. The path of a program that just finds is the program's name.
func (m *module) text(e any) (string, bool) {
	parts, _ := e.([]any)
	if text, isConstant := e.(string); isConstant || len(parts) == 0 {
		return text, isConstant
	}
	if name, isVariable := variable(parts); isVariable {
		return m.assigned(name)
	}
	switch name := callee(parts); {
	case m.functions[name]:
	case name == "just_executable":
		return "just", true
	case name == "require" && len(parts) == 3:
		return m.text(parts[2])
	case parts[0] == "concatenate" || parts[0] == "format":
		var all strings.Builder
		for _, part := range parts[1:] {
			text, isConstant := m.text(part)
			if !isConstant {
				return "", false
			}
			if all.Len() <= plain.MaxScript {
				all.WriteString(text)
			}
		}
		return all.String(), true
	}
	return "", false
}
