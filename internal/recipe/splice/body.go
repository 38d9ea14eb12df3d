package splice

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/lines"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// body finds parameters that the body of a recipe inserts without quote(), and those that its expressions
// run.
func (r *recipe) body() {
	posix := r.module.shell()
	if r.isScript() {
		posix = r.posixScript()
	}
	for i, line := range r.Body {
		first := i == 0 && r.isScript() && strings.HasPrefix(lines.First(line), "#!")
		for _, fragment := range line {
			r.commands(fragment)
			if r.inserted(fragment, posix); first {
				r.markAll(fragment, unquoted)
			}
		}
	}
}

// isScript reports whether one program runs the whole body.
func (r *recipe) isScript() bool {
	return r.Script || r.module.Settings.DefaultScript && !slices.Contains(r.Attributes, any("shell"))
}

// posixScript reports whether a POSIX shell runs the script of a recipe.
func (r *recipe) posixScript() bool {
	for _, a := range r.Attributes {
		if fields, ok := a.(map[string]any); ok {
			if script, ok := fields["script"].(map[string]any); ok {
				name, _ := script["command"].(string)
				args, _ := script["arguments"].([]any)
				return programs.Command{Command: name}.With(args).Shell()
			}
		}
	}
	if len(r.Body) == 0 {
		return false
	}
	shebang, ok := strings.CutPrefix(lines.First(r.Body[0]), "#!")
	words := strings.Fields(shebang)
	if !ok {
		words = r.module.known.Interpreter
	}
	return len(words) > 0 && programs.Command{Command: words[0], Arguments: words[1:]}.BehindEnv().Shell()
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
	case op == "evaluate", op == "assert", slices.Contains(plain, name) && !r.module.functions[name]:
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

// plain are functions whose value is one of few words, a number, or none.
var plain = []string{"error", "path_exists", "semver_matches", "sha256", "sha256_file", "blake3", "blake3_file"}

// callee returns the name of the function that an expression calls, "" if it calls none.
func callee(e []any) string {
	if len(e) < 2 || e[0] != "call" {
		return ""
	}
	name, _ := e[1].(string)
	return name
}

// unknown reports whether the value of an expression can contain quotation marks: it is the output
// of a program, or comes from the environment or a file, or has such marks in it.
func (r *recipe) unknown(e any) bool {
	switch e := e.(type) {
	case string:
		return strings.ContainsAny(e, "'\"`\\$#(){}<\n")
	case []any:
		if name, ok := variable(e); ok {
			return !r.has(name) && r.module.isUnknown(name)
		}
		name := callee(e)
		if len(e) > 0 && e[0] == "evaluate" || r.module.functions[name] ||
			slices.Contains([]string{"env", "env_var", "env_var_or_default", "read", "shell"}, name) {
			return true
		}
		return !slices.Contains(plain, name) && slices.ContainsFunc(e, r.unknown)
	}
	return false
}

// commands examines the commands that an expression runs with shell(), or with a function that
// the justfile defines.
func (r *recipe) commands(e any) {
	parts, ok := e.([]any)
	if !ok {
		return
	}
	if r.module.functions[callee(parts)] {
		r.markAll(parts[2:], defined)
	}
	shell := len(parts) > 2 && parts[0] == "call" && parts[1] == "shell"
	if shell {
		r.inserted(parts[2], r.module.shell())
		inserted, variables := r.evaluatesIn(programs.ShellIn(r.module.command().Words()), true, [][]any{parts[2:3]}, nil)
		if inserted != "" {
			r.markAll(parts[2], inserted)
		}
		if variables != "" {
			r.markAll(parts[3:], variables)
		}
	}
	for _, part := range parts {
		r.commands(part)
	}
}
