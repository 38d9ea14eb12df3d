package splice

import (
	"cmp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
	"github.com/copse-dev/copse/internal/recipe/splice/lines"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
)

// readAgain finds parameters in the commands of a body that read their arguments again. In a script,
// a value can reach such a command through any line; in other recipes, each line is separate.
func (r *recipe) readAgain() {
	var written evaluation.Files
	if r.shellName() != "" && r.uses(r.Body) {
		if scripts, fits := r.scripts(r.Body); fits {
			for _, script := range scripts {
				written = evaluation.Union(written, script.Writes())
			}
		}
	}
	if r.isScript() {
		r.passed(r.Body, written)
		return
	}
	// A script in the setting, or a program that joins its arguments, gets the values, too.
	if r.positional() && !r.module.command().Separates() {
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
	inserted, variables := r.evaluates(lines, written)
	if own, ownVariables := r.evaluates(lines, nil); own != inserted || ownVariables != variables {
		r.reasons(r.Body, inserted, variables)
	}
}

// passed marks the parameters that lines use if one of them evaluates its values, or runs a file that the
// recipe writes.
func (r *recipe) passed(lines [][]any, written evaluation.Files) {
	if r.uses(lines) {
		inserted, variables := r.evaluates(lines, written)
		r.reasons(lines, inserted, variables)
	}
}

// evaluates returns a reason if lines evaluate inserted values, and one if they evaluate variables.
func (r *recipe) evaluates(lines [][]any, written evaluation.Files) (inserted, variables string) {
	return r.evaluatesIn(r.shellName(), r.positional(), lines, written)
}

func (r *recipe) evaluatesIn(shell string, positional bool, lines [][]any, written evaluation.Files) (inserted, variables string) {
	if shell == "" {
		return "", ""
	}
	scripts, fits := r.scripts(lines)
	if !fits {
		return evaluation.Unparsed, evaluation.Unparsed
	}
	for _, script := range scripts {
		script.Shell, script.Positional = shell, positional
		of, ofVariables := script.Evaluates(written)
		inserted, variables = cmp.Or(inserted, of), cmp.Or(variables, ofVariables)
		if of != evaluation.Unparsed {
			r.exposed(script)
		}
	}
	return inserted, variables
}

// exposed marks the parameters that quote() does not protect where a script has them.
func (r *recipe) exposed(script rendered) {
	if len(script.quotes) == 0 {
		return
	}
	protects := quoting.Protects(script.Text, script.Shell)
	for _, q := range script.quotes {
		if q.unknown || !protects(q.at) {
			r.markAll(q.value, inQuotes)
		}
	}
}

// reasons marks the parameters that lines insert, and those that they use as variables, unless the
// reason is "".
func (r *recipe) reasons(lines [][]any, inserted, variables string) {
	for _, line := range lines {
		if inserted != "" {
			r.markAll(line, inserted)
		}
	}
	if variables == "" || r.all {
		return
	}
	for _, p := range r.Parameters {
		if r.exports(p.Export) || r.positional() {
			r.mark(p.Name, variables)
		}
	}
	r.all = true // the first reason stays, so once is enough
}

// environment returns the names of the parameters that are in the environment.
func (r *recipe) environment() map[string]bool {
	if r.exported == nil {
		r.exported = map[string]bool{}
		for _, p := range r.Parameters {
			if r.exports(p.Export) {
				r.exported[p.Name] = true
			}
		}
	}
	return r.exported
}

// exports reports whether a parameter is in the environment.
func (r *recipe) exports(parameter bool) bool { return parameter || r.module.Settings.Export }

// inherited returns the names of variables that are in the environment of the module's recipes.
func (m *module) inherited() []string {
	names := slices.Clone(m.known.Environment)
	for name, a := range m.Assignments {
		if a.Export || m.Settings.Export {
			names = append(names, name)
		}
	}
	return names
}

// exportsAll reports whether any variable that the recipe assigns can be in the environment: the shell
// exports all, or the names come from files or from an attribute.
func (r *recipe) exportsAll() bool {
	return r.module.known.dotenv || slices.ContainsFunc(r.interpreter(), evaluation.AllExport) ||
		slices.ContainsFunc(r.Attributes, func(a any) bool { fields, _ := a.(map[string]any); return fields["env"] != nil })
}

// readsDotenv reports whether the module has settings for files with variables.
func (m *module) readsDotenv() bool {
	s := m.Settings
	return s.DotenvLoad || s.DotenvOverride || s.DotenvRequired || slices.ContainsFunc([]any{s.DotenvFilename, s.DotenvPath, s.DotenvCommand}, func(value any) bool {
		list, ok := value.([]any)
		return value != nil && (!ok || len(list) > 0)
	})
}

// uses reports whether lines can use a parameter, inserted or as a variable.
func (r *recipe) uses(lines [][]any) bool {
	return r.positional() || len(r.environment()) > 0 || slices.ContainsFunc(lines, func(line []any) bool { return len(r.mentioned(line)) > 0 })
}

// shellName returns the name of the shell that runs the recipe, also behind another program such as
// env, and "" if none does.
func (r *recipe) shellName() string { return programs.ShellIn(r.interpreter()) }

// interpreter returns the program that runs the recipe, with its arguments. Those of an option of nix
// count only.
func (r *recipe) interpreter() []string {
	if r.program == nil {
		r.program = append([]string{}, r.findInterpreter()...)
	}
	return r.program
}

func (r *recipe) findInterpreter() []string {
	if !r.isScript() {
		return r.module.command().Words()
	}
	for _, a := range r.Attributes {
		fields, _ := a.(map[string]any)
		script, _ := fields["script"].(map[string]any)
		if name, ok := script["command"].(string); ok {
			args, _ := script["arguments"].([]any)
			return programs.Command{Command: name}.With(args).Words()
		}
	}
	for i, line := range r.Body {
		words, ok := strings.CutPrefix(lines.First(line), "#!")
		var found []string
		switch {
		case i == 0 && !ok:
			if r.module.known.Interpreter == nil {
				return []string{"sh"} // what it does with variables is examined in any case
			}
			return r.module.known.Interpreter
		case !ok:
			return nil
		case i == 0:
			found = strings.Fields(words)
		default: // of nix-shell or nix: the interpreter follows an option
			fields := strings.Fields(words)
			if n := slices.IndexFunc(fields, programs.Selects); n >= 0 {
				found = fields[n+1 : min(n+2, len(fields))]
			}
		}
		if programs.ShellIn(found) != "" {
			return found
		}
	}
	return nil
}

// positional reports whether a script reads the parameters as "$1".
func (r *recipe) positional() bool {
	return r.module.Settings.PositionalArguments || slices.Contains(r.Attributes, any("positional-arguments"))
}
