package splice

import (
	"slices"
	"strings"
	"unicode"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// maxAlternatives limits the number of conditional values that one value can choose between.
const maxAlternatives = 4

// renderer builds the text of a script with known values, and a mark for each other value.
type renderer struct {
	recipe *recipe
	to     strings.Builder
	// alternative is the number of the value that all conditional expressions have, and most the largest
	// number that one of them knows.
	alternative, most int
	quoted            bool // the value is the argument of quote()
}

// scripts returns the scripts that lines can be. It does not build a text that is too long to parse.
func (r *recipe) scripts(lines [][]any) (scripts []evaluation.Script, fits bool) {
	for i, most := 0, 0; i <= most; i++ {
		text := renderer{recipe: r, alternative: i}
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
		if most = max(most, text.most); most > maxAlternatives {
			return nil, false
		}
		scripts = append(scripts, evaluation.Script{
			Text: text.to.String(), Shell: r.shellName(), Exported: r.environment(), Positional: r.positional(),
		})
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
		switch {
		case op == "variable":
			name, _ := variable(e)
			if known, isConstant, fits := t.recipe.module.constant(name); isConstant && !t.recipe.has(name) {
				return fits && t.write(known)
			}
		case op == "concatenate" || op == "format":
			return t.all(e[1:])
		case op == "join" && len(e) == 3:
			return t.add(e[1]) && t.write("/") && t.add(e[2])
		case op == "if" && len(e) == 4:
			return t.choice(e)
		case callee(e) == "require" || callee(e) == "just_executable":
			if known, isConstant := t.recipe.module.text(e); isConstant && len(t.recipe.mentioned(e)) == 0 {
				return t.write(known)
			}
		case callee(e) == "quote" && len(e) == 3 && !t.quoted:
			return t.quote(e[2])
		case op == "" && len(e) == 1:
			return t.all(e) // braces around an expression
		}
	}
	if t.quoted && composed(e) {
		return t.write(evaluation.Value + " " + evaluation.Value)
	}
	return t.write(evaluation.Value)
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
	for i := range t.alternative + 1 {
		t.most = max(t.most, i+1)
		if i == t.alternative {
			return t.add(e[2])
		}
		next, _ := e[3].([]any)
		if len(next) != 4 || next[0] != "if" {
			return t.add(e[3])
		}
		e = next
	}
	return false
}

// quote writes an expression as one word.
func (t *renderer) quote(e any) bool {
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
	if t.to.Len()+len(text) > evaluation.MaxScript {
		return false
	}
	t.to.WriteString(text)
	return true
}
