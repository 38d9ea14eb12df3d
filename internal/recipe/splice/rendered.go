package splice

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
)

// maxAlternatives limits the number of scripts that the conditional values of one can make.
const maxAlternatives = 64

// renderer builds the text of a script with known values, and a mark for each other value.
type renderer struct {
	recipe *recipe
	to     strings.Builder
	// choices are the numbers of the values that the conditional expressions have, in their order, and
	// counts how many each has. The first made are already in the text.
	choices, counts []int
	made            int
	known           map[string]int // the numbers by the condition, if equal conditions have equal values
	quoted          bool           // the value is the argument of quote()
	quotes          []quote
	unknown         bool // the text has a value that can contain quotation marks
}

// rendered is a script that lines can be.
type rendered struct {
	evaluation.Script
	quotes []quote
}

// quote is a place where quote() inserts parameters into a script.
type quote struct {
	at      int
	value   any
	unknown bool // a value that can contain quotation marks is before it
}

// choose returns the number of the value that the next of the conditional expressions has.
func (t *renderer) choose(count int, condition string) int {
	if number, ok := t.known[condition]; ok {
		return number
	}
	if t.made == len(t.choices) {
		t.choices = append(t.choices, 0)
	}
	t.counts = append(t.counts[:t.made], count)
	t.made++
	if condition != "" {
		t.known[condition] = t.choices[t.made-1]
	}
	return t.choices[t.made-1]
}

// condition returns a text that only equal conditions have, "" if their values can differ. The parameters of
// the recipe hide variables of the justfile.
func (t *renderer) condition(e any) string {
	if t.recipe.module.changes(e) {
		return ""
	}
	return fmt.Sprint(len(t.recipe.Parameters)) + fmt.Sprintf("%q", e)
}

// changes reports whether two evaluations of an expression can have different values.
func (m *module) changes(e any) bool {
	parts, _ := e.([]any)
	if name := callee(parts); name != "" {
		return m.functions[name] || !slices.Contains([]string{"os", "os_family", "arch", "env"}, name)
	}
	return len(parts) > 0 && (parts[0] == "evaluate" || parts[0] == "call") || slices.ContainsFunc(parts, m.changes)
}

// next prepares for the next combination of values, if there is one.
func (t *renderer) next() bool {
	for i := t.made - 1; i >= 0; i-- {
		if t.choices[i]+1 < t.counts[i] {
			t.choices = t.choices[:i+1]
			t.choices[i]++
			t.to.Reset()
			t.made, t.quotes, t.unknown = 0, nil, false
			clear(t.known)
			return true
		}
	}
	return false
}

// scripts returns the scripts that lines can be. It does not build a text that is too long to parse.
func (r *recipe) scripts(lines [][]any) (scripts []rendered, fits bool) {
	text := renderer{recipe: r, known: map[string]int{}}
	for more := true; more; more = text.next() {
		for _, line := range lines {
			for _, fragment := range line {
				if !text.add(fragment) {
					return nil, false
				}
			}
			text.to.WriteByte('\n')
		}
		if r.module.constants.scripts -= text.to.Len(); r.module.constants.scripts < 0 {
			return nil, false
		}
		if len(scripts) == maxAlternatives {
			return nil, false
		}
		scripts = append(scripts, rendered{evaluation.Script{
			Text: text.to.String(), Shell: r.shellName(), Exported: r.environment(), ExportsAll: r.exportsAll(), Inherited: r.module.inherited(), Positional: r.positional(),
		}, text.quotes})
	}
	return scripts, true
}

// add writes the text of a fragment of a line, or of an expression in it. It reports whether the whole
// text is short enough to parse.
func (t *renderer) add(e any) bool {
	switch e := e.(type) {
	case string:
		return t.write(e)
	case []any:
		op := ""
		if len(e) > 0 {
			op, _ = e[0].(string)
		}
		program, isProgram := t.program(e)
		switch {
		case isProgram:
			return t.write(program)
		case op == "variable":
			return t.variable(e)
		case op == "concatenate" || op == "format":
			return t.all(e[1:])
		case op == "join" && len(e) == 3:
			return t.add(e[1]) && t.write("/") && t.add(e[2])
		case op == "if" && len(e) == 4:
			return t.choice(e)
		case callee(e) == "quote" && len(e) == 3 && !t.quoted:
			return t.quote(e[2])
		case op == "" && len(e) == 1:
			return t.all(e) // braces around an expression
		}
	}
	if t.quoted && composed(e) {
		return t.write(evaluation.Value + " " + evaluation.Value)
	}
	t.unknown = t.unknown || !t.quoted && t.recipe.unknown(e)
	return (t.quoted || !operates(e)) && t.write(evaluation.Value)
}

// program returns the name of a program that just finds.
func (t *renderer) program(e []any) (string, bool) {
	if name := callee(e); name != "require" && name != "just_executable" || len(t.recipe.mentioned(e)) > 0 {
		return "", false
	}
	return t.recipe.module.text(e)
}

// variable writes the value of a parameter, or of an assignment, which no parameter is visible to.
func (t *renderer) variable(e []any) bool {
	name, _ := variable(e)
	outside := t.recipe
	if outside.has(name) {
		return t.write(evaluation.Value)
	}
	if known, isConstant, fits := outside.module.constant(name); isConstant {
		return fits && t.write(known)
	}
	value := outside.module.Assignments[name].Value
	if value == nil {
		return t.write(evaluation.Value)
	}
	t.recipe = &recipe{module: outside.module}
	fits := t.add(value)
	t.recipe = outside
	return fits
}

// operates reports whether the value of an expression can have an operator of the shell, because one of
// its texts has it. The pattern of a replacement does not count.
func operates(e any) bool {
	switch e := e.(type) {
	case string:
		return strings.ContainsAny(e, ";&|<>()\n")
	case []any:
		name := callee(e)
		if len(e) > 0 && e[0] == "evaluate" || name == "shell" || slices.Contains(plain, name) {
			return false
		}
		if strings.HasPrefix(name, "replace") && len(e) == 5 {
			return operates(e[2]) || operates(e[4])
		}
		return slices.ContainsFunc(e, operates)
	}
	return false
}

// composed reports whether an expression can add blanks and the like to a value.
func composed(e any) bool {
	switch e := e.(type) {
	case string:
		return strings.ContainsFunc(e, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
		})
	case []any:
		return slices.ContainsFunc(e, composed)
	}
	return false
}

func (t *renderer) all(parts []any) bool {
	for _, part := range parts {
		if !t.add(part) {
			return false
		}
	}
	return true
}

// choice writes one of the values of a conditional expression, of which each can be another one.
func (t *renderer) choice(e []any) bool {
	values, conditions := []any{e[2]}, []any{e[1]}
	next, _ := e[3].([]any)
	for len(next) == 4 && next[0] == "if" {
		values, conditions, e = append(values, next[2]), append(conditions, next[1]), next
		next, _ = e[3].([]any)
	}
	values = append(values, e[3])
	return t.made < maxAlternatives && t.add(values[t.choose(len(values), t.condition(conditions))])
}

// quote writes an expression as one word.
func (t *renderer) quote(e any) bool {
	if len(t.recipe.mentioned(e)) > 0 {
		t.quotes = append(t.quotes, quote{t.to.Len(), e, t.unknown})
	}
	if !t.write("'") {
		return false
	}
	t.quoted = true
	fits := t.add(e)
	t.quoted = false
	return fits && t.write("'")
}

func (t *renderer) write(text string) bool {
	if t.quoted {
		text = strings.ReplaceAll(text, "'", `"`)
	}
	if t.to.Len()+len(text) > quoting.MaxScript {
		return false
	}
	t.to.WriteString(text)
	return true
}
