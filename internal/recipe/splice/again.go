package splice

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ReadAgain is the reason for a parameter that a recipe protects, but a second reader does not. The
// reasons of callers end with it.
const ReadAgain = "the recipe passes it to just, eval, or sh -c, which can read it as code again"

// readers matches commands that pass their arguments on as code: eval and sh -c to a shell, and just
// to a recipe, which can insert them.
var readers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w.-])(?:eval|just|(?:ba|da|a|z|k|mk)?sh[ \t](?:[^\n|&;]*[ \t])?-\w*c)(?:$|[^\w.-])`)
})

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
	if !slices.ContainsFunc(lines, func(line []any) bool { return r.reads(line) }) {
		return
	}
	for _, line := range lines {
		r.markAll(line, ReadAgain)
		if !strings.Contains(texts(line), "$") {
			continue
		}
		for _, p := range r.Parameters {
			if p.Export || r.module.Settings.Export || r.positional() {
				r.mark(p.Name, ReadAgain)
			}
		}
	}
}

// reads reports whether a fragment of a body, or an expression, has such a command.
func (r *recipe) reads(e any) bool {
	switch e := e.(type) {
	case string:
		return readers().MatchString(e)
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
