package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// program examines the arguments and the input of a program that is neither an evaluator nor an
// interpreter. It can be one that runs another: then the words after its name are that one's arguments.
func (s *script) program(name string, args []*syntax.Word, around []syntax.Node) {
	p := programs.Lookup(name, words.Subcommand(args))
	data := p.Input || p.Needs > 0 && slices.ContainsFunc(args, readsData)
	if name == "xargs" { // the input becomes words of the command
		if data = programs.Lookup(command(p, args), "").Words; !data {
			s.evaluates(s.input(around), evaluated)
		}
	}
	if !s.arguments(name, p, args, around) && !data {
		s.evaluates(s.input(beforeReading(around)), composed)
	}
}

// command returns the name of the command that xargs runs, and "" if it is not a constant.
func command(p programs.Program, args []*syntax.Word) string {
	at := position{program: p, needs: p.Needs}
	for _, arg := range args {
		text, literal := words.Text(arg)
		switch {
		case !literal:
			return ""
		case at.operand(text):
			return text
		}
		at.pass("", text, strings.HasPrefix(text, "-"))
	}
	return "echo"
}

// readsData reports whether a word is the name of a program that does not evaluate its input.
func readsData(w *syntax.Word) bool {
	name, literal := words.Text(w)
	return literal && programs.Lookup(path.Base(name), "").Input
}

// beforeReading returns the nodes inside the innermost loop that reads its own input.
func beforeReading(around []syntax.Node) []syntax.Node {
	for i, above := range slices.Backward(around) {
		loop, ok := above.(*syntax.WhileClause)
		if !ok || len(loop.Cond) != 1 {
			continue
		}
		if call, ok := loop.Cond[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "read" {
			return around[i+1:]
		}
	}
	return around
}

// position is the place of a word in the arguments of a program.
type position struct {
	program programs.Program
	// option is the word before, if it is an option.
	option string
	// needs is the number of constant words that must come before a value, because the last of them is
	// the command that the program runs.
	needs int
	ran   bool // there is such a command
	named bool // a word other than an option came before
}

// arguments examines the arguments of a program. It reports whether the rest of them are those of another
// program, which is examined with its input.
func (s *script) arguments(name string, p programs.Program, args []*syntax.Word, around []syntax.Node) (other bool) {
	at := position{program: p, needs: p.Needs, ran: p.Needs > 0}
	for i, arg := range args {
		text, literal := words.Text(arg)
		inner, rest := path.Base(text), args[i+1:]
		option := strings.HasPrefix(text, "-")
		switch c := s.holds(arg); {
		case !c.none():
			if !at.accepts(arg) {
				s.evaluates(c, composed)
			}
			at.option = ""
			continue
		case !literal && !p.Texts && s.command(arg), !p.Texts && strings.Contains(text, "{") && s.command(arg):
			s.content(nodes(rest)...)
		case !literal && at.needs > 0 && p.Needs > 0 && at.operand(text):
			s.content(nodes(rest)...) // it selects the command
			s.evaluates(s.file(arg), evaluated)
		case name == "env" && splits(text):
			s.content(nodes(rest)...) // it splits its value into the first words of the command
		case !literal, p.Texts && !p.Finds:
		case p.Finds && len(rest) > 0 && programs.Finder(text):
			s.call(rest, around)
			return true
		case option, p.Finds:
		case programs.Code(text) && !s.file(arg).none():
			s.evaluates(s.file(arg), composed)
		case programs.Runs(name, inner), programs.Evaluates(inner) && p.TakesCommand(at.option, false):
			s.call(args[i:], around)
			if !at.program.Valued(at.option) {
				return true
			}
		case at.runs(name, text):
			s.call(args[i:], around) // the command that the program runs
			return true
		case p.Needs > 0 && at.needs > 0 && strings.Contains(text, "/"):
			s.evaluates(s.file(arg), evaluated)
		}
		if text == "compose" && programs.Contains(name) {
			name += "-compose"
		}
		at.pass(name, text, option && literal)
	}
	return false
}

// runs reports whether a constant word is the command that the program runs.
func (at *position) runs(name, text string) bool {
	inner := path.Base(text)
	switch {
	case strings.HasPrefix(at.option, "--") && programs.TakesCommand(at.option) && !slices.Contains(at.program.Options, at.option):
		return true
	case !at.operand(text):
		return false
	case inner == "test" && (at.program.Needs == 0 || programs.External(name)):
		return false // a task, or a program that evaluates nothing
	}
	return at.needs == 1 && at.option == "" || programs.External(inner)
}

// splits reports whether an option of env splits its value into words.
func splits(option string) bool {
	return strings.HasPrefix(option, "--split-string") || strings.HasPrefix(option, "-") && strings.Contains(option, "S") && !strings.Contains(option, "=")
}

// operand reports whether a constant word is neither an option nor the value of one, nor a variable for
// the command, nor a time.
func (at *position) operand(text string) bool {
	return !strings.HasPrefix(text, "-") && !at.program.Valued(at.option) &&
		(at.needs == 0 || !strings.Contains(text, "=") && strings.Trim(text, "0123456789.smhd") != "")
}

// pass continues with the word after one without a value.
func (at *position) pass(name, text string, option bool) {
	switch {
	case text == "--":
	case option, !at.operand(text):
	case at.needs > 0:
		at.needs--
	default:
		at.named = true
		if needs := programs.CommandAfter(name, text); needs > 0 && !at.program.Texts {
			at.needs, at.ran = needs, true
		}
	}
	at.option = ""
	if option && text != "--" {
		at.option = text
	}
}

// accepts reports whether a word with a value is only data in its position.
func (at *position) accepts(w *syntax.Word) bool {
	p, begin := at.program, words.Lead(w)
	before := !at.ran || at.needs > 0 // the command that the program runs
	attached := strings.HasPrefix(begin, "-")
	setting := strings.HasSuffix(begin, "=")
	option := at.option
	if attached {
		option, _, _ = strings.Cut(begin, "=")
	}
	own := p
	if !before || p.Commanded && !at.named {
		own = programs.Program{} // the options are those of the command, or of the program for all its commands
	}
	switch {
	case !own.Words && !words.Single(w):
		return false // it can become several words
	case setting && programs.TakesCommand(begin), setting && programs.Special(name(begin)):
		return false
	case slices.Contains(own.Options, option):
		return true
	case option != "" && own.TakesCommand(option, attached):
		return false
	case at.needs > 0 && !attached && !setting && (words.Many(w) || !at.program.Valued(at.option)):
		return false
	}
	return own.Texts || words.Plain(w) || programs.Message(option)
}

// name returns the name before the sign = at the end of a text.
func name(begin string) string {
	begin = strings.TrimSuffix(begin, "=")
	return begin[strings.LastIndexAny(begin, "-= ,")+1:]
}

// isShell reports whether a word is the name of a POSIX shell.
func isShell(w *syntax.Word) bool {
	text, literal := words.Text(w)
	return literal && programs.Interpreter(path.Base(text)) == "sh"
}
