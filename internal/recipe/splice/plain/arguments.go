package plain

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// name matches the names of programs that all shells read in the same way.
var name = lazyregexp.New(`\A(?:[A-Za-z0-9_.:/+-]+|\[)\z`)

// words reads the words of a command.
func (r *reader) words(all []*syntax.Word) []word {
	words := make([]word, len(all))
	for i, w := range all {
		words[i] = r.word(w, false)
	}
	return words
}

// inherits reports whether a command can evaluate the variables in its environment.
func (r *reader) inherits(command []word) bool {
	shell := false
	return slices.ContainsFunc(command, func(w word) bool {
		shell = shell || programs.IsShell(w.text)
		if programs.Of(command[0].text) == programs.Wraps && !w.constant && !w.holds {
			return true // it can be any program
		}
		return slices.ContainsFunc(strings.FieldsFunc(w.text, notName), programs.Environment) || shell && strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "c")
	})
}

// notName reports whether a character cannot be in the name of a program.
func notName(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`", r) }

// call follows a command, which can have a value in its input.
func (r *reader) call(n *syntax.CallExpr, input bool) {
	before := r.used
	r.command = n
	for _, a := range n.Assigns {
		r.assign(a, len(n.Args) > 0)
	}
	exports := r.exports || r.used > before
	words := r.words(n.Args)
	if len(words) == 0 {
		return
	}
	program := words[0]
	if r.exports && printers.Get().MatchString(program.text) {
		r.used++ // it can print all variables
	}
	switch {
	case program.text == "[[":
		r.refuse(extended)
	case program.holds:
		r.refuse(composed)
	case program.inserted, program.constant && !name.Get().MatchString(program.text):
		r.refuse(Construct)
	case input && !programs.Filter(program.text, texts(words[1:])):
		r.refuse(piped)
	case exports && (!program.constant || r.inherits(words)):
		r.refuse(inherited)
	case program.text == "exec" && len(words) == 1: // it redirects what follows
		r.refuse(piped)
	case slices.ContainsFunc(words, func(w word) bool {
		return w.holds || w.inserted && (programs.Of(program.text) == programs.Evaluates || program.text == "printf")
	}):
		r.arguments(program, words[1:])
	case programs.Of(program.text) == programs.Evaluates && !r.harmless(words), names(words):
		r.refuse(Construct)
	}
}

// texts returns the texts of words.
func texts(words []word) []string {
	found := make([]string, len(words))
	for i, w := range words {
		found[i] = w.text
	}
	return found
}

// harmless reports whether a command without a value, which evaluates its arguments, changes neither the
// parameters nor how the shell reads what follows.
func (r *reader) harmless(words []word) bool {
	switch words[0].text {
	case "eval", "trap", "alias", "unalias", "let", "bind", "builtin", "coproc", "enable", "emulate", "declare", "typeset", "local", "readonly", "integer", "float",
		"read", "mapfile", "readarray", "getopts", "shopt", "setopt", "unsetopt", "noglob", "nocorrect", "autoload", "zmodload", "[[", "((", "function", "select", "repeat":
		return false
	case "export": // to a shell whose parser does not know it
		return !slices.ContainsFunc(words[1:], func(w word) bool {
			before, _, assigns := strings.Cut(w.text, "=")
			return !assigns || r.holding[before]
		})
	case "set":
		return !slices.ContainsFunc(words[1:], func(w word) bool { return !w.constant || !option.Get().MatchString(w.text) })
	}
	return true
}

// names reports whether a command can evaluate the name of a variable, such as a[x], among its arguments.
func names(words []word) bool {
	switch words[0].text {
	case "printf":
		return len(words) > 1 && strings.HasPrefix(words[1].text, "-")
	case "test", "[":
		number := func(i int) bool { return i >= 0 && i < len(words) && words[i].number() }
		for i, w := range words {
			compares := slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, w.text) && number(i-1) && number(i+1)
			if strings.HasPrefix(w.text, "-") && !slices.Contains(conditions, w.text) && !compares {
				return true
			}
		}
	}
	return false
}

// conditions are the operators of test that evaluate nothing, in any shell.
var conditions = []string{"-n", "-z", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-a", "-o"}

// option matches the arguments of set that only change how the shell reports and handles errors.
var option = lazyregexp.New(`\A(?:[-+][euxofvC]+|pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber)\z`)

// assign follows an assignment, before a command or alone.
func (r *reader) assign(a *syntax.Assign, before bool) {
	if a.Name == nil || a.Index != nil || a.Array != nil || a.Append {
		r.refuse(Construct)
		return
	}
	holds := a.Value != nil && r.word(a.Value, true).holds
	switch {
	case !before:
		r.variable(a.Name.Value)
	case holds && programs.Special(a.Name.Value):
		r.refuse(evaluated)
	}
}

// position is the place among the arguments of a program.
type position struct {
	program  string
	kind     programs.Kind
	option   string // the word before, if it is an option
	inserted bool   // the word before is a text of the justfile that can be an option
	mixed    bool   // a wrapper has such a text before the command
	needs    int    // the constant words that must come before a value
	command  bool   // the program expects its own command, such as commit of git
}

func at(program string) position {
	_, known := programs.Subcommand(program, "")
	return position{program: program, kind: programs.Of(program), command: known, needs: programs.Needs(program)}
}

// arguments follows the arguments of a program, of which at least one has a value.
func (r *reader) arguments(program word, args []word) {
	switch {
	case !program.constant:
		r.refuse(evaluated)
	case program.text == "just":
		r.refuse(nested)
	case program.text == "test" || program.text == "[":
		r.compares(args)
	case program.text == "printf":
		r.prints(args)
	case program.text == "command" && len(args) == 2 && args[0].text == "-v": // prints which program it is
	default:
		p := at(program.text)
		for _, w := range args {
			switch {
			case w.holds || p.kind == programs.Evaluates && w.inserted:
				r.accept(p, w)
				p.option = ""
			case !w.constant: // it can be empty
				p.inserted = w.inserted && strings.HasPrefix(strings.TrimLeft(w.text, "-"), Unknown)
				p.mixed = p.mixed || w.inserted && p.needs > 0
			default:
				r.pass(&p, w.text)
			}
		}
	}
}

// pass continues behind a constant word.
func (r *reader) pass(p *position, text string) {
	option := p.option
	p.option, p.inserted = "", false
	accepts, _ := programs.Subcommand(p.program, text)
	switch {
	case p.kind == programs.Evaluates:
	case p.kind == programs.Wraps && (option != "" && programs.TakesCommand(p.program, option) || programs.Splits(p.program, text)):
		p.kind = programs.Evaluates // a constant command, to which the arguments belong
	case p.kind == programs.Interprets && p.needs > 0:
		switch {
		case programs.Precedes(text):
		case text == "-m" && !programs.IsShell(p.program):
		case strings.HasPrefix(text, "-"), text == "-":
			p.kind = programs.Evaluates // the code is in an argument, or in the input
		default:
			p.kind, p.needs, p.program = programs.Ordinary, 0, text
		}
	case p.command && !strings.HasPrefix(text, "-"):
		if p.command = false; !accepts {
			p.kind = programs.Evaluates
		}
	case strings.HasPrefix(text, "-"):
		p.option = text
	case p.kind != programs.Stores && (programs.Named(text) == programs.Evaluates || programs.Named(text) == programs.Interprets):
		*p = at(text) // also where it seems to be the value of an option
	case p.needs > 0:
		if option != "" && !programs.Flag(option) || strings.Contains(text, "=") || duration.Get().MatchString(text) {
			return // the value of an option, a variable, or a time
		}
		kind := programs.Of(text)
		if p.needs--; p.needs == 0 || kind != programs.Ordinary && kind != programs.Stores {
			mixed := p.mixed
			if *p = at(text); mixed {
				p.kind = programs.Evaluates
			}
		}
	case p.kind != programs.Stores:
		p.needs = programs.CommandAfter(p.program, text)
	}
}

// duration matches a time, as timeout and sleep have it.
var duration = lazyregexp.New(`\A[0-9.]+[smhd]?\z`)

// accept refuses a value that is not only data in its place.
func (r *reader) accept(p position, w word) {
	name, _, assigned := strings.Cut(w.text, "=")
	option := p.option
	dashes := strings.HasPrefix(w.text, "-")
	if dashes && assigned {
		option = name
	}
	data := p.kind == programs.Stores || programs.Message(option)
	switch {
	case p.kind == programs.Evaluates, p.kind == programs.Interprets:
		r.refuse(evaluated)
	case p.needs > 0, p.command,
		dashes && !assigned && !data,
		p.inserted && p.kind != programs.Stores && !strings.Contains(p.program, "/"),
		option != "" && programs.TakesCommand(p.program, option),
		!data && !plain.Get().MatchString(w.text):
		r.refuse(composed)
	}
}

// prints follows the arguments of printf, whose format must print texts.
func (r *reader) prints(args []word) {
	if format := args[0]; !format.constant || strings.HasPrefix(format.text, "-") || strings.Contains(strings.NewReplacer("%%", "", "%s", "").Replace(format.text), "%") {
		r.refuse(evaluated)
	}
}

// compares follows the arguments of test, which are one condition with an operator that evaluates nothing.
func (r *reader) compares(args []word) {
	args = slices.DeleteFunc(slices.Clone(args), func(w word) bool { return w.constant && (w.text == "]" || w.text == "!") })
	unary := conditions[:len(conditions)-2]
	is := func(i int, operators ...string) bool {
		return args[i].constant && slices.Contains(operators, args[i].text)
	}
	switch {
	case slices.ContainsFunc(args, func(w word) bool { return w.many || w.inserted }):
		r.refuse(evaluated)
	case len(args) == 1, len(args) == 2 && is(0, unary...), len(args) == 3 && is(1, "=", "==", "!="):
	default:
		r.refuse(evaluated)
	}
}
