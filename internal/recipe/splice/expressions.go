package splice

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/copse-dev/copse/internal/recipe/splice/plain"
)

// maxAlternatives limits the number of texts that the conditional values of one can make.
const maxAlternatives = 64

// renderer builds the text of a script with a sign for each text that is not known before the recipe runs.
type renderer struct {
	recipe *recipe
	to     strings.Builder
	// choices are the numbers of the values that the conditional expressions have, in their order, and
	// counts how many each has. The first made are already in the text.
	choices, counts []int
	made            int
	known           map[string]int // the numbers by the condition, if equal conditions have equal values
	quoted          bool           // the value is the argument of quote()
}

// texts returns the texts that lines can have. It does not build one that is too long to parse.
func (r *recipe) texts(lines [][]any) (texts []string, fits bool) {
	text := renderer{recipe: r, known: map[string]int{}}
	for more := true; more; more = text.next() {
		for _, line := range lines {
			for _, fragment := range line {
				if !text.add(fragment) {
					return nil, false
				}
			}
			text.write("\n")
		}
		if r.module.constants.scripts -= text.to.Len(); r.module.constants.scripts < 0 || len(texts) == maxAlternatives {
			return nil, false
		}
		texts = append(texts, text.to.String())
	}
	return texts, true
}

// next prepares for the next combination of values, if there is one.
func (t *renderer) next() bool {
	for i := t.made - 1; i >= 0; i-- {
		if t.choices[i]+1 < t.counts[i] {
			t.choices = t.choices[:i+1]
			t.choices[i]++
			t.to.Reset()
			t.made = 0
			clear(t.known)
			return true
		}
	}
	return false
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
	if !t.recipe.module.constants.spend(e) || t.recipe.module.changes(e) {
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

// add writes the text of a fragment of a line, or of an expression in it. It reports whether the whole
// text is short enough to parse. Each expression counts, because assignments can double each other without text.
func (t *renderer) add(e any) bool {
	if limits := t.recipe.module.constants; !limits.spend(nil) {
		return false
	}
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
		case condition(e):
			return t.choice(e)
		case callee(e) == "quote" && t.recipe.module.Settings.Lists:
			return t.write(plain.Foreign + "$") // a list becomes several words
		case callee(e) == "quote" && len(e) == 3 && !t.quoted && !t.recipe.module.functions["quote"]:
			t.quoted = true
			fits := t.to.Len() < plain.MaxScript
			t.to.WriteByte('\'')
			fits = fits && t.add(e[2])
			t.quoted = false
			return fits && t.write("'")
		case (callee(e) == "env" || callee(e) == "env_var_or_default") && len(e) == 4 && !t.quoted:
			return t.add(e[3]) // the user's own environment may change what the user runs
		case op == "" && len(e) == 1:
			return t.all(e) // braces around an expression
		}
	}
	return t.sign(e)
}

// sign writes the sign for an expression whose text is not known.
func (t *renderer) sign(e any) bool {
	switch {
	case !t.recipe.module.constants.spend(e):
		return false
	case t.quoted && len(t.recipe.mentioned(e)) > 0:
		if composed(e) {
			return t.write(plain.Value + " " + plain.Value)
		}
		return t.write(plain.Value)
	case !t.quoted && expands(e):
		return t.write(plain.Foreign + "$")
	case !t.quoted && t.recipe.unknown(e):
		return t.write(plain.Foreign)
	}
	return t.write(plain.Unknown)
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
		if outside.rough[name] && !t.quoted {
			return t.write(plain.Foreign)
		}
		return t.sign(e)
	}
	if known, isConstant, fits := outside.module.constant(name); isConstant {
		return fits && t.write(known)
	}
	value := outside.module.Assignments[name].Value
	if value == nil {
		return t.write(plain.Unknown) // a constant of just, such as BOLD
	}
	t.recipe = &recipe{module: outside.module}
	fits := t.add(value)
	t.recipe = outside
	return fits
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

// expands reports whether a text in an expression has an expansion of the shell.
func expands(e any) bool {
	text, _ := e.(string)
	parts, _ := e.([]any)
	return strings.ContainsAny(text, "$`") || slices.ContainsFunc(parts, expands)
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
	for condition(next) {
		values, conditions, e = append(values, next[2]), append(conditions, next[1]), next
		next, _ = e[3].([]any)
	}
	values = append(values, e[3])
	return t.made < maxAlternatives && t.add(values[t.choose(len(values), t.condition(conditions))])
}

// write writes text, as just quotes it inside quote().
func (t *renderer) write(text string) bool {
	if t.quoted {
		text = strings.ReplaceAll(text, "'", `'\''`)
	}
	if t.to.Len()+len(text) > plain.MaxScript {
		return false
	}
	t.to.WriteString(text)
	return true
}

// inserted finds the parameters that the value of an expression contains outside quote(), which protects
// only in the script of a POSIX shell.
func (r *recipe) inserted(e any, posix bool) {
	parts, _ := e.([]any)
	op := ""
	if len(parts) > 0 {
		op, _ = parts[0].(string)
	}
	name := callee(parts)
	switch {
	case op == "" && len(parts) > 0: // braces around expressions
	case op == "concatenate", op == "format":
		parts = parts[1:]
	case condition(parts):
		parts = parts[2:]
	case op == "evaluate", op == "assert", slices.Contains(fewWords, name) && !r.module.functions[name]:
		return
	case name == "quote" && !r.module.functions[name]:
		if !posix {
			r.markAll(parts[2:], notShell)
		}
		return
	case posix:
		r.markAll(e, unquoted)
		return
	default:
		r.markAll(e, unquotedText)
		return
	}
	for _, part := range parts {
		r.inserted(part, posix)
	}
}

// fewWords are functions whose value is one of few words, a number, or none.
var fewWords = []string{"error", "path_exists", "semver_matches", "sha256", "sha256_file", "blake3", "blake3_file"}

// callee returns the name of the function that an expression calls, "" if it calls none.
func callee(e []any) string {
	if len(e) < 2 || e[0] != "call" {
		return ""
	}
	name, _ := e[1].(string)
	return name
}

// unknown reports whether the value of an expression can contain quotation marks or operators: it is the output
// of a program, or comes from the environment or a file, or has such marks in it.
func (r *recipe) unknown(e any) bool {
	switch e := e.(type) {
	case string:
		return strings.ContainsFunc(e, func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_./:=,@%+ ", c)
		})
	case []any:
		if name, ok := variable(e); ok {
			return !r.has(name) && r.module.isUnknown(name)
		}
		name := callee(e)
		if len(e) > 0 && e[0] == "evaluate" || r.module.functions[name] ||
			slices.Contains([]string{"env", "env_var", "env_var_or_default", "read", "shell"}, name) {
			return true
		}
		return !slices.Contains(fewWords, name) && slices.ContainsFunc(e, r.unknown)
	}
	return false
}
