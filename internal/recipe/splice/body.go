package splice

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/evaluation"
	"github.com/copse-dev/copse/internal/recipe/splice/lines"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// The reasons why a parameter is spliced.
const (
	unquoted = "the recipe inserts it without quote()"
	inQuotes = "quote() does not protect it where the recipe inserts it: inside quotation marks, a comment, a here-document, or an expansion, or after a value that can end one"
	defined  = "the recipe passes it to a function that the justfile defines"
	// NotShell is the reason for a script in another language. The reasons of callers end with it.
	NotShell = "quote() does not protect it, as the recipe's script is not for a POSIX shell"
)

// body finds parameters in the body of a recipe.
func (r *recipe) body() {
	if r.isScript() {
		s := scanner{unsupported: !r.posixScript(), other: !r.posixScript()}
		for i, line := range r.Body {
			if i == 0 && strings.HasPrefix(lines.First(line), "#!") {
				for _, fragment := range line {
					r.markAll(fragment, unquoted)
				}
				continue
			}
			s = r.line(line, s)
			s.feed("\n")
		}
		return
	}
	for _, line := range r.Body {
		r.line(line, scanner{unsupported: !r.module.shell(), other: !r.module.shell()})
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
	if !ok {
		return false // a setting that the dump does not have selects the interpreter
	}
	words := strings.Fields(shebang)
	return len(words) > 0 && programs.Command{Command: words[0], Arguments: words[1:]}.BehindEnv().Shell()
}

// line scans the fragments of a line: texts, and expressions in a nested list.
func (r *recipe) line(line []any, s scanner) scanner {
	for _, fragment := range line {
		switch f := fragment.(type) {
		case string:
			s.feed(f)
		case []any:
			for _, e := range f {
				s = r.expression(e, s, true)
			}
		default:
			r.markAll(f, unquoted)
		}
	}
	return s
}

// expression scans the value of an expression in a script. Without inserted, the value is used
// elsewhere, and only the commands that the expression itself runs matter.
func (r *recipe) expression(e any, s scanner, inserted bool) scanner {
	switch e := e.(type) {
	case nil:
		return s
	case string:
		s.feed(e)
		return s
	case []any:
		if len(e) > 0 {
			if op, ok := e[0].(string); ok {
				return r.operation(op, e, s, inserted)
			}
		}
	}
	if inserted {
		r.markAll(e, unquoted)
	}
	s.value()
	return s
}

func (r *recipe) operation(op string, e []any, s scanner, inserted bool) scanner {
	switch op {
	case "variable":
		name, _ := variable(e)
		if r.has(name) {
			if inserted {
				r.mark(name, unquoted)
			}
		} else if known, isConstant, fits := r.module.constant(name); isConstant {
			s.large = s.large || !fits
			s.feed(known)
			return s
		}
		s.insert(r.unknown(e))
		return s
	case "concatenate", "format":
		for _, part := range e[1:] {
			s = r.expression(part, s, inserted)
		}
		return s
	case "if":
		if len(e) != 4 {
			break
		}
		r.commands(e[1])
		return merge(r.expression(e[2], s, inserted), r.expression(e[3], s, inserted))
	case "evaluate", "assert":
		r.commands(e)
		s.insert(r.unknown(e))
		return s
	case "call":
		return r.call(e, s, inserted)
	}
	r.commands(e)
	if inserted {
		r.markAll(e, unquoted)
	}
	s.value()
	return s
}

// call scans the call of a function.
func (r *recipe) call(e []any, s scanner, inserted bool) scanner {
	r.commands(e)
	name := callee(e)
	switch {
	case r.module.functions[name]:
	case name == "quote":
		if inserted && !s.protects() {
			reason := inQuotes
			switch {
			case s.other:
				reason = NotShell
			case s.large:
				reason = evaluation.Unparsed
			}
			r.markAll(e[2:], reason)
		}
		s.value()
		return s
	case slices.Contains(plain, name):
		s.value()
		return s
	case inserted:
		r.markAll(e, unquoted)
	}
	s.insert(r.unknown(e))
	return s
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
		return slices.ContainsFunc(e, r.unknown)
	}
	return false
}

// commands scans the commands that an expression runs with shell(), or with a function that
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
		posix := r.module.shell()
		r.expression(parts[2], scanner{unsupported: !posix, other: !posix}, true)
		inserted, variables := r.evaluatesIn(r.module.shellName(), true, [][]any{parts[2:3]}, nil)
		if inserted != "" {
			r.markAll(parts[2], inserted)
		}
		if variables != "" {
			r.markAll(parts[3:], variables)
		}
	}
	for i, part := range parts {
		if !shell || i != 2 { // the script was scanned
			r.commands(part)
		}
	}
}
