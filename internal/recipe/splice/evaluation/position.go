package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/calls"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// program examines the arguments and the input of a program that is neither an evaluator nor an
// interpreter. It can be one that runs another: then the words after its name are that one's arguments.
func (s *script) program(name string, args []*syntax.Word, around []syntax.Node) {
	p := programs.Lookup(name, words.Subcommand(args))
	data := p.Input || p.Needs > 0 && slices.ContainsFunc(args, calls.ReadsData)
	if name == "xargs" { // the input becomes words of the command
		if data = programs.Lookup(calls.Command(p, args), "").Words; !data {
			s.evaluates(s.input(around), evaluated)
			if slices.ContainsFunc(args, func(w *syntax.Word) bool {
				return strings.HasPrefix(words.Lead(w), "-a") || strings.HasPrefix(words.Lead(w), "--arg-file")
			}) {
				s.evaluates(s.anyFile(), evaluated)
			}
		}
	}
	if !s.arguments(name, p, args, around) && !data {
		s.evaluates(s.input(words.BeforeReading(around)), composed)
	}
}

// arguments examines the arguments of a program. It reports whether the rest of them are those of another
// program, which is examined with its input.
func (s *script) arguments(name string, p programs.Program, args []*syntax.Word, around []syntax.Node) (other bool) {
	at := calls.Position{Program: p, Needs: p.Needs, Ran: p.Needs > 0}
	for i, arg := range args {
		text, literal := words.Text(arg)
		inner, rest := path.Base(text), args[i+1:]
		option := strings.HasPrefix(text, "-")
		switch c := s.holds(arg); {
		case !c.none():
			switch {
			case at.Accepts(arg):
			case words.Single(arg):
				s.evaluates(c, composed)
			default:
				s.evaluates(c, split)
			}
			at.Option = ""
			continue
		case !literal && !p.Texts && s.command(arg), !p.Texts && strings.Contains(text, "{") && s.command(arg):
			s.content(nodes(rest)...)
		case !literal && at.Needs > 0 && p.Needs > 0 && at.Operand(text):
			s.content(nodes(rest)...) // it selects the command
			s.evaluates(s.file(arg), evaluated)
		case name == "env" && calls.Splits(text):
			s.content(nodes(rest)...) // it splits its value into the first words of the command
		case name == "cmake" && text == "--":
			s.content(nodes(rest)...) // the arguments of make
		case !literal, p.Texts && !p.Finds:
		case p.Finds && len(rest) > 0 && programs.Finder(text):
			s.call(rest, around)
			return true
		case option, p.Finds:
		case programs.Code(text) && !s.file(arg).none():
			s.evaluates(s.file(arg), composed)
		case programs.Runs(name, inner), programs.Evaluates(inner) && p.TakesCommand(at.Option, false):
			s.call(args[i:], around)
			if !at.Program.Valued(at.Option) {
				return true
			}
		case at.Runs(name, text):
			s.call(args[i:], around) // the command that the program runs
			return true
		case p.Needs > 0 && at.Needs > 0 && strings.Contains(text, "/"):
			s.evaluates(s.file(arg), evaluated)
		}
		if text == "compose" && programs.Contains(name) {
			name += "-compose"
		}
		at.Pass(name, text, option && literal)
	}
	return false
}
