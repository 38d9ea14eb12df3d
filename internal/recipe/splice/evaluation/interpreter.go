package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// interpreter examines a call of an interpreter: its program must be a constant.
func (s *script) interpreter(base string, args []*syntax.Word, around []syntax.Node) {
	base = programs.Interpreter(base)
	if programs.Reads(base) {
		for i, arg := range args {
			if !programs.Edits(base) || !names(arg) || i > 0 && !names(args[i-1]) {
				s.content(arg)
			}
		}
		s.evaluator(args, around)
		return
	}
	args = withoutCommand(base, args)
	found := meaning(programs.Known(base), args)
	found.inline = found.inline || base == "sh" && slices.ContainsFunc(args[:found.rest], fromOption)
	given, input := s.holds(nodes(args)...), s.input(around)
	reason := evaluated
	if found.inline && base == "sh" {
		reason = ReadAgain
	}
	reads := !found.constant || base == "sh" && slices.ContainsFunc(args, fromInput)
	if !found.constant {
		s.evaluates(given, reason)
		s.evaluator(args, nil)
	}
	for _, program := range found.programs {
		s.evaluates(s.fileNamed(program), evaluated)
		reads = reads || program == "-" || strings.HasPrefix(program, "/dev/") || strings.HasPrefix(program, "/proc/")
		given.add(input)
		if found.inline {
			s.runs(base, program, given, reason)
		} else if base != "sh" {
			s.runs(base, s.texts[path.Base(program)], given, reason)
		}
		if base == "python" && program == "timeit" {
			s.evaluates(given, evaluated) // of its arguments, too
		}
	}
	if reads {
		s.evaluates(input, evaluated)
		if base != "sh" {
			s.runs(base, inputText(around), given, evaluated)
		}
	}
	if found.constant && !found.inline && len(found.programs) > 0 {
		name := path.Base(found.programs[len(found.programs)-1])
		s.arguments(name, programs.Lookup(name, ""), args[found.rest:], around)
	}
}

// runs records that a constant program evaluates what it gets, and the environment, if it can.
func (s *script) runs(base, program string, given contents, reason string) {
	if base == "" || !programs.Suspicious(base, program) {
		return
	}
	if s.exports && strings.Contains(strings.ToLower(program), "env") {
		given.add(s.origins.all)
	}
	s.evaluates(given, reason)
}

// export reports whether a node puts a variable with a value into the environment of programs.
func (s *script) export(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			return false
		}
		if n.Args[0].Lit() == "set" {
			first := words.First(n.Args[1:])
			return strings.HasPrefix(first, "-") && strings.Contains(first, "a") || slices.Contains(constants(n.Args), "allexport")
		}
		return slices.ContainsFunc(n.Assigns, func(a *syntax.Assign) bool { return !s.holds(a).none() })
	case *syntax.DeclClause:
		return n.Variant.Value != "local" && slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name != nil && !s.variable(a.Name.Value).none() })
	}
	return false
}

// editor reports whether a command is the user's editor, which no value of a parameter is a part of.
func (s *script) editor(w *syntax.Word) bool {
	is := false
	syntax.Walk(w, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		is = is || ok && p.Param != nil && (p.Param.Value == "EDITOR" || p.Param.Value == "VISUAL")
		return true
	})
	return is && words.Lead(w) == "" && s.holds(w).none()
}

// names reports whether a word begins as the name of a file does.
func names(w *syntax.Word) bool {
	lead := words.Lead(w)
	return lead != "" && lead[0] != '-' && lead[0] != '+' && words.Single(w) && words.Plain(w)
}

// fromOption reports whether a word has the option -c of a shell.
func fromOption(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "c")
}

// fromInput reports whether a word has the option -s of a shell.
func fromInput(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "s")
}

// withoutCommand returns the arguments without the command of deno or bun that runs a program.
func withoutCommand(base string, args []*syntax.Word) []*syntax.Word {
	if (base == "deno" || base == "bun") && len(args) > 0 {
		if name, _ := words.Text(args[0]); slices.Contains([]string{"run", "eval", "exec", "x", "serve"}, name) {
			return args[1:]
		}
	}
	return args
}

// call is what the arguments of an interpreter mean.
type call struct {
	programs []string // the program, or its files
	constant bool
	inline   bool // the text of the program is among the arguments
	rest     int  // the index of the first argument for the program
}

// meaning returns the meaning of the arguments of an interpreter. A program that comes from the input is
// not a constant, unless a word such as - says so.
func meaning(o programs.Options, args []*syntax.Word) (c call) {
	var found programs.Meaning // of the options together
	others := false            // the words that are neither options nor the program have begun
	for i := 0; i < len(args); i++ {
		text, literal := words.Text(args[i])
		isOption := literal && len(text) > 1 && (text[0] == '-' || text[0] == '+' && o.Plus())
		switch {
		case !literal && o.IsData(words.Lead(args[i])):
		case !literal && strings.HasPrefix(words.Lead(args[i]), "-") && (!others || o.Anywhere):
			return c // an option with a value attached
		case isOption && (!others || o.Anywhere):
			read, values, known := option(o, args[i:], others)
			if !known {
				return c
			}
			c.programs = append(c.programs, texts(read, values)...)
			c.inline = c.inline || read.Program && !read.File
			i += read.Words
			found.Program, found.Opens, found.Doubt = found.Program || read.Program, found.Opens || read.Opens, read.Doubt
			others = read.Program && o.Ends
			c.rest = i + 1
		case others:
		case found.Program:
			others = true // this is one
		case !literal:
			return c
		case o.Anywhere && (text == "" || text[0] == '.'): // the suffix of sed -i on BSD and macOS
		case found.Doubt:
			found.Doubt = false
			c.programs = append(c.programs, text)
			c.rest = i + 1
		default:
			found.Program, others = true, true
			c.programs = append(c.programs, text)
			c.inline = o.Text
			c.rest = i + 1
		}
		if others && found.Opens && words.Variable(args[min(i, len(args)-1)]) {
			return c
		}
	}
	c.rest = min(c.rest, len(args))
	c.constant = found.Program
	return c
}

// option returns the meaning of the option that arguments begin with, and its values. Without known, one
// of them can be a program that is not a constant.
func option(o programs.Options, args []*syntax.Word, others bool) (read programs.Meaning, values []*syntax.Word, known bool) {
	text, _ := words.Text(args[0])
	read = o.Read(text)
	n := read.Words
	if others && read.Doubt {
		n = max(n, 1)
	}
	values = args[1:min(1+n, len(args))]
	read.Opens = read.Opens || o.Opens != "" && slices.ContainsFunc(values, opens)
	return read, values, o.IsData(text) || !slices.ContainsFunc(values, words.Variable)
}

// opens reports whether the text of a program reads the files that its arguments name with <>, which
// runs commands in Perl; <<>> does not.
func opens(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.Contains(strings.ReplaceAll(text, "<<>>", ""), "<>")
}

// texts returns the program, or its file, if an option has one, with the values after it.
func texts(m programs.Meaning, values []*syntax.Word) []string {
	if !m.Program {
		return nil
	}
	all := []string{m.Attached}
	for _, w := range values {
		text, _ := words.Text(w)
		all = append(all, text)
	}
	return all
}
