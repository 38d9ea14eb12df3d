package splice

import (
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
)

// ReadAgain is the reason for a parameter that a recipe protects, but a second reader does not. The
// reasons of callers end with it.
const ReadAgain = "the recipe passes it to just, eval, or sh -c, which can read it as code again"

// readers matches commands that pass their arguments on as code: eval and sh -c to a shell, and just
// to a recipe, which can insert them.
var readers = lazyregexp.New(`(?:^|[^\w.-])(?:eval|just|(?:ba|da|a|z|k|mk)?sh[ \t](?:[^\n|&;]*[ \t])?-\w*c)(?:$|[^\w.-])`)

// readAgain finds parameters in the commands of a body that read their arguments again. In a script,
// a value can reach such a command through any line; in other recipes, each line is separate.
func (r *recipe) readAgain() {
	var written evaluation.Files
	if shell := r.shellName(); shell != "" && r.uses(r.Body) {
		if text, fits := r.rendered(r.Body); fits {
			written = evaluation.Written(text, shell)
		}
	}
	if r.isScript() {
		r.passed(r.Body, written)
		return
	}
	// A script in the setting gets the values, too.
	if shell := r.module.Settings.Shell; shell != nil && posix(shell.Command) && !shell.shell() && r.positional() {
		for _, p := range r.Parameters {
			r.mark(p.Name, notShell)
		}
	}
	for i := range r.Body {
		r.passed(r.Body[i:i+1], nil)
		if len(written) > 0 {
			r.runs(r.Body[i:i+1], written)
		}
	}
}

// runs marks the parameters of the whole body if lines run a file that other lines write.
func (r *recipe) runs(lines [][]any, written evaluation.Files) {
	text, fits := r.rendered(lines)
	if !fits {
		return
	}
	inserted, variables := evaluation.Of(text, r.shellName(), written)
	if own, ownVariables := evaluation.Of(text, r.shellName(), nil); own != inserted || ownVariables != variables {
		r.reasons(r.Body, inserted, variables)
	}
}

// passed marks the parameters that lines use if one of them has such a command, or runs a file that the
// recipe writes.
func (r *recipe) passed(lines [][]any, written evaluation.Files) {
	inserted, variables := "", ""
	if slices.ContainsFunc(lines, func(line []any) bool { return r.reads(line) }) {
		inserted, variables = ReadAgain, ReadAgain
	} else if r.uses(lines) {
		if shell := r.shellName(); shell != "" {
			inserted, variables = evaluation.Unparsed, evaluation.Unparsed
			if text, fits := r.rendered(lines); fits {
				inserted, variables = evaluation.Of(text, shell, written)
			}
		}
	}
	r.reasons(lines, inserted, variables)
}

// reasons marks the parameters that lines insert, and those that they use as variables, unless the
// reason is "".
func (r *recipe) reasons(lines [][]any, inserted, variables string) {
	for _, line := range lines {
		if inserted != "" {
			r.markAll(line, inserted)
		}
		if variables == "" || r.all || !strings.Contains(texts(line), "$") {
			continue
		}
		for _, p := range r.Parameters {
			if p.Export || r.module.Settings.Export || r.positional() {
				r.mark(p.Name, variables)
			}
		}
		r.all = true // the first reason stays, so once is enough
	}
}

// uses reports whether lines use a parameter, inserted or as a variable.
func (r *recipe) uses(lines [][]any) bool {
	return slices.ContainsFunc(lines, func(line []any) bool {
		return len(r.mentioned(line)) > 0 || strings.Contains(texts(line), "$")
	})
}

// shellName returns the name of the POSIX shell that runs the recipe, "" if another program does.
func (r *recipe) shellName() string {
	switch {
	case r.isScript() && !r.posixScript(), !r.isScript() && !r.module.shell():
		return ""
	case !r.isScript() && r.module.Settings.Shell != nil:
		return path.Base(r.module.Settings.Shell.Command)
	case r.isScript():
		for _, name := range []string{"zsh", "mksh", "ksh"} { // the others are alike
			if strings.Contains(text(r.Body[0]), name) || r.interpreter(name) {
				return name
			}
		}
		return "bash"
	}
	return "sh"
}

// interpreter reports whether an attribute of the recipe names a program.
func (r *recipe) interpreter(name string) bool {
	return slices.ContainsFunc(r.Attributes, func(a any) bool {
		fields, _ := a.(map[string]any)
		script, _ := fields["script"].(map[string]any)
		command, _ := script["command"].(string)
		return path.Base(command) == name
	})
}

// rendered returns the text of lines with known values, and a mark for each other value. It does not
// build a text that is too long to parse.
func (r *recipe) rendered(lines [][]any) (text string, fits bool) {
	var all strings.Builder
	for _, line := range lines {
		for _, fragment := range line {
			if !r.render(fragment, &all) {
				return "", false
			}
		}
		all.WriteByte('\n')
	}
	return all.String(), true
}

// render writes the text of a fragment of a line, or of an expression in it. It reports whether the
// whole text is short enough to parse.
func (r *recipe) render(e any, to *strings.Builder) bool {
	text := evaluation.Value
	switch e := e.(type) {
	case string:
		text = e
	case []any:
		op := ""
		if len(e) > 0 {
			op, _ = e[0].(string)
		}
		parts := e
		switch {
		case op == "variable":
			name, _ := variable(e)
			if known, isConstant, fits := r.module.constant(name); isConstant && !r.has(name) {
				if !fits {
					return false
				}
				text = known
			}
			parts = nil
		case op == "concatenate" || op == "format":
			parts = e[1:]
		case len(e) != 1 || op != "": // no braces around an expression
			parts = nil
		}
		if len(parts) > 0 {
			return !slices.ContainsFunc(parts, func(part any) bool { return !r.render(part, to) })
		}
	}
	if to.Len()+len(text) > evaluation.MaxScript {
		return false
	}
	to.WriteString(text)
	return true
}

// reads reports whether a fragment of a body, or an expression, has such a command.
func (r *recipe) reads(e any) bool {
	switch e := e.(type) {
	case string:
		return readers.Get().MatchString(e)
	case []any:
		if callee(e) == "just_executable" {
			return true
		}
		if name, ok := variable(e); ok {
			return !r.has(name) && r.module.once(r.module.reading, name, (*recipe).reads)
		}
		return slices.ContainsFunc(e, r.reads)
	}
	return false
}

// positional reports whether a script reads the parameters as "$1".
func (r *recipe) positional() bool {
	return r.module.Settings.PositionalArguments || slices.Contains(r.Attributes, any("positional-arguments"))
}

// texts returns the texts of a line, without its expressions.
func texts(line []any) string {
	var all strings.Builder
	for _, fragment := range line {
		text, _ := fragment.(string)
		all.WriteString(text)
	}
	return all.String()
}
