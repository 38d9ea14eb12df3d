package splice

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/lines"
	"github.com/copse-dev/copse/internal/recipe/splice/plain"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// body finds the parameters that the body of a recipe inserts without quote(), those that its expressions
// run, and those that do not stay arguments in its commands. A script is one text; in other recipes, each
// line is separate.
func (r *recipe) body() {
	language, _ := programs.LanguageOf(r.interpreter())
	posix := language == programs.Shell
	for i, line := range r.Body {
		first := i == 0 && r.isScript() && strings.HasPrefix(lines.First(line), "#!")
		for _, fragment := range line {
			r.commands(fragment)
			if r.inserted(fragment, posix); first {
				r.markAll(fragment, unquoted)
			}
		}
	}
	if r.isScript() {
		r.examine(r.Body)
		return
	}
	// A script in the setting, or a program that joins its arguments, gets the values, too.
	if r.positional() && !r.module.command().Separates() {
		for _, p := range r.Parameters {
			r.mark(p.Name, notShell)
		}
	}
	for i := range r.Body {
		r.examine(r.Body[i : i+1])
	}
}

// examine marks the parameters that do not stay arguments in the text of lines.
func (r *recipe) examine(lines [][]any) {
	language, shell := programs.LanguageOf(r.interpreter())
	inserts := slices.ContainsFunc(lines, func(line []any) bool { return len(r.mentioned(line)) > 0 })
	reason := unknownShell
	switch {
	case language == programs.Code, !inserts && !r.positional() && len(r.environment()) == 0:
		return
	case language == programs.Shell:
		reason = r.refused(lines, r.script(shell, r.positional()))
	}
	if reason == "" {
		return
	}
	for _, line := range lines {
		r.markAll(line, reason)
	}
	r.markVariables(reason, r.positional())
}

// script returns a script of the recipe without its text.
func (r *recipe) script(shell string, positional bool) plain.Script {
	return plain.Script{Shell: shell, Exported: r.environment(), Inherited: r.inherited(), Exports: r.exportsAll(), Positional: positional}
}

// markVariables records that the parameters in variables are spliced.
func (r *recipe) markVariables(reason string, positional bool) {
	if r.all {
		return // the first reason stays
	}
	for _, p := range r.Parameters {
		if positional || r.exports(p.Export) {
			r.mark(p.Name, reason)
		}
	}
	r.all = positional || !r.positional()
}

// refused returns the reason why values do not stay arguments in the text of lines, "" if they do.
func (r *recipe) refused(lines [][]any, script plain.Script) string {
	texts, fits := r.texts(lines)
	if !fits {
		return plain.Construct
	}
	for _, script.Text = range texts {
		if reason := script.Refused(); reason != "" {
			return reason
		}
	}
	return ""
}

// commands examines the commands that an expression runs with shell() or backticks, which have the exported
// parameters in their environment, or with a function that the justfile defines.
func (r *recipe) commands(e any) {
	parts, ok := e.([]any)
	if !ok {
		return
	}
	if r.module.functions[callee(parts)] {
		r.markAll(parts[2:], defined)
	}
	runs := len(parts) > 1 && parts[0] == "evaluate"
	if runs {
		parts = []any{"call", "shell", parts[1]}
	}
	if len(parts) > 2 && callee(parts) == "shell" && (!runs || len(r.environment()) > 0) {
		language, shell := programs.LanguageOf(r.module.command().Words())
		r.inserted(parts[2], language == programs.Shell)
		reason := notShell
		if language == programs.Shell {
			reason = r.refused([][]any{parts[2:3]}, r.script(shell, !runs))
		}
		if reason != "" {
			r.markAll(parts[2:], reason)
			r.markVariables(reason, false)
		}
	}
	for _, part := range parts {
		r.commands(part)
	}
}

// isScript reports whether one program runs the whole body.
func (r *recipe) isScript() bool {
	return r.Script || r.module.Settings.DefaultScript && !slices.Contains(r.Attributes, any("shell"))
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
func (r *recipe) inherited() map[string]bool {
	m := r.module
	if m.variables == nil {
		m.variables = maps.Clone(m.known.environment)
		for from := m; from != nil; from = from.parent {
			for name, a := range from.Assignments {
				if a.Export || from.Settings.Export {
					m.variables[name] = true
				}
			}
		}
	}
	return m.variables
}

// exportsAll reports whether any variable that the recipe assigns can be in the environment: the shell
// exports all, or the names come from files or from an attribute.
func (r *recipe) exportsAll() bool {
	return r.module.known.dotenv || slices.ContainsFunc(r.interpreter(), programs.AllExport) ||
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

// positional reports whether a script reads the parameters as "$1".
func (r *recipe) positional() bool {
	return r.module.Settings.PositionalArguments || slices.Contains(r.Attributes, any("positional-arguments"))
}

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
	if len(r.Body) == 0 {
		return nil
	}
	first, ok := strings.CutPrefix(lines.First(r.Body[0]), "#!")
	switch {
	case !ok:
		return r.module.known.Interpreter
	case len(r.Body[0]) > 1:
		return nil // it is inserted
	}
	found := strings.Fields(first)
	for _, line := range r.Body[1:] { // of nix-shell or nix: the interpreter follows an option
		words, ok := strings.CutPrefix(lines.First(line), "#!")
		if !ok {
			break
		}
		fields := strings.Fields(words)
		if n := slices.IndexFunc(fields, programs.Selects); n >= 0 {
			found = fields[n+1 : min(n+2, len(fields))]
		}
	}
	return found
}
