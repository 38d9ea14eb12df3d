package splice

import (
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
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
	if r.isScript() {
		r.passed(r.Body)
		return
	}
	// A script in the setting gets the values, too.
	if shell := r.module.Settings.Shell; shell != nil && posix(shell.Command) && !shell.shell() && r.positional() {
		for _, p := range r.Parameters {
			r.mark(p.Name, notShell)
		}
	}
	for rest := r.Body; len(rest) > 0; {
		n := 1
		for n < len(rest) && continues(rest[n-1]) {
			n++
		}
		r.passed(rest[:n])
		rest = rest[n:]
	}
}

// continues reports whether a line continues in the next one.
func continues(line []any) bool {
	if len(line) == 0 {
		return false
	}
	last, _ := line[len(line)-1].(string)
	return strings.HasSuffix(last, `\`)
}

// passed marks the parameters that lines use if one of them has such a command.
func (r *recipe) passed(lines [][]any) {
	inserted, variables := "", ""
	if slices.ContainsFunc(lines, func(line []any) bool { return r.reads(line) }) {
		inserted, variables = ReadAgain, ReadAgain
	} else if r.uses(lines) {
		if shell := r.shellName(); shell != "" {
			inserted, variables = evaluates(r.rendered(lines), shell)
		}
	}
	for _, line := range lines {
		if inserted != "" {
			r.markAll(line, inserted)
		}
		if variables == "" || !strings.Contains(texts(line), "$") {
			continue
		}
		for _, p := range r.Parameters {
			if p.Export || r.module.Settings.Export || r.positional() {
				r.mark(p.Name, variables)
			}
		}
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

// rendered returns the text of lines with known values, and a mark for each other value.
func (r *recipe) rendered(lines [][]any) string {
	var all strings.Builder
	for i, line := range lines {
		for n, fragment := range line {
			rendered := r.render(fragment)
			if i == 0 && n == 0 && !r.isScript() {
				rendered = strings.TrimLeft(rendered, "@-?") // which are for just
			}
			all.WriteString(rendered)
		}
		all.WriteByte('\n')
	}
	return all.String()
}

// render returns the text of a fragment of a line, or of an expression in it.
func (r *recipe) render(e any) string {
	switch e := e.(type) {
	case string:
		return e
	case []any:
		if name, ok := variable(e); ok {
			if known, ok := r.module.Assignments[name].Value.(string); ok && !r.has(name) {
				return known
			}
			return value
		}
		op := ""
		if len(e) > 0 {
			op, _ = e[0].(string)
		}
		switch {
		case op == "concatenate" || op == "format":
			var parts strings.Builder
			for _, part := range e[1:] {
				parts.WriteString(r.render(part))
			}
			return parts.String()
		case len(e) == 1 && op == "": // the braces around an expression
			return r.render(e[0])
		}
	}
	return value
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
