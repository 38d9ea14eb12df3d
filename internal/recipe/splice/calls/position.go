package calls

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// Position is the place of a word in the arguments of a program.
type Position struct {
	Program programs.Program
	// Option is the word before, if it is an option.
	Option string
	// Needs is the number of constant words that must come before a value, because the last of them is
	// the command that the program runs.
	Needs int
	Ran   bool // there is such a command
	named bool // a word other than an option came before
}

// Runs reports whether a constant word is the command that the program runs.
func (at *Position) Runs(name, text string) bool {
	inner := path.Base(text)
	switch {
	case strings.HasPrefix(at.Option, "--") && programs.TakesCommand(at.Option) && !slices.Contains(at.Program.Options, at.Option):
		return true
	case !at.Operand(text):
		return false
	case inner == "test" && (at.Program.Needs == 0 || programs.External(name)):
		return false // a task, or a program that evaluates nothing
	}
	return at.Needs == 1 && at.Option == "" || programs.External(inner)
}

// Splits reports whether an option of env splits its value into words.
func Splits(option string) bool {
	return strings.HasPrefix(option, "--split-string") || strings.HasPrefix(option, "-") && strings.Contains(option, "S") && !strings.Contains(option, "=")
}

// Operand reports whether a constant word is neither an option nor the value of one, nor a variable for
// the command, nor a time.
func (at *Position) Operand(text string) bool {
	return !strings.HasPrefix(text, "-") && !at.Program.Valued(at.Option) &&
		(at.Needs == 0 || !strings.Contains(text, "=") && strings.Trim(text, "0123456789.smhd") != "")
}

// Pass continues with the word after one without a value.
func (at *Position) Pass(name, text string, option bool) {
	switch {
	case text == "--":
	case option, !at.Operand(text):
	case at.Needs > 0:
		at.Needs--
	default:
		at.named = true
		if needs := programs.CommandAfter(name, text); needs > 0 && !at.Program.Texts {
			at.Needs, at.Ran = needs, true
		}
	}
	at.Option = ""
	if option && text != "--" {
		at.Option = text
	}
}

// Accepts reports whether a word with a value is only data in its position.
func (at *Position) Accepts(w *syntax.Word) bool {
	p, begin := at.Program, words.Lead(w)
	before := !at.Ran || at.Needs > 0 // the command that the program runs
	attached := strings.HasPrefix(begin, "-")
	setting := strings.HasSuffix(begin, "=")
	option := at.Option
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
	case setting && programs.TakesCommand(begin), setting && programs.Special(Setting(begin)):
		return false
	case slices.Contains(own.Options, option):
		return true
	case option != "" && own.TakesCommand(option, attached):
		return false
	case at.Needs > 0 && !attached && !setting && (words.Many(w) || !at.Program.Valued(at.Option)):
		return false
	}
	return own.Texts || words.Plain(w) || programs.Message(option)
}

// Setting returns the name before the sign = at the end of a text.
func Setting(begin string) string {
	begin = strings.TrimSuffix(begin, "=")
	return begin[strings.LastIndexAny(begin, "-= ,")+1:]
}

// Command returns the name of the command that xargs runs, and "" if it is not a constant.
func Command(p programs.Program, args []*syntax.Word) string {
	at := Position{Program: p, Needs: p.Needs}
	for _, arg := range args {
		text, literal := words.Text(arg)
		switch {
		case !literal:
			return ""
		case at.Operand(text):
			return text
		}
		at.Pass("", text, strings.HasPrefix(text, "-"))
	}
	return "echo"
}

// ReadsData reports whether a word is the name of a program that does not evaluate its input.
func ReadsData(w *syntax.Word) bool {
	name, literal := words.Text(w)
	return literal && programs.Lookup(path.Base(name), "").Input
}
