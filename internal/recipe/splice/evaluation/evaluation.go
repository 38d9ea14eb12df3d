// Package evaluation finds out whether a shell script evaluates the values that are inserted into it, or
// that its variables contain.
//
// The shell does so in eval, in an arithmetic expression, or in a command whose name is not a constant.
// A program can do anything with its arguments, and copse does not know every program. So what counts
// is the position of a value: it must be a word of its own, or one with a plain beginning and end, that
// is neither the value of an option such as -c or --exec, nor the command that a program such as sudo
// runs. A constant word that is the name of a shell, or of another program that is known to run its
// arguments, makes the words after it the arguments of that program. The tables of package programs only
// allow more: a value in a longer text for programs that print, store, or compare it.
package evaluation

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// The reasons for a parameter that is quoted, but that the shell or a program can still evaluate.
const (
	evaluated = "the recipe passes it to a command that can evaluate it, such as eval, an arithmetic expression, declare, xargs, or an interpreter; pass it to a plain command"
	composed  = "the recipe passes it to a program that can evaluate it: inside a longer text, after an option such as -c or --exec, or as the command to run; " +
		"pass it as a word of its own"
	split     = "the shell splits it into words, because the recipe uses it without quotation marks; write quotation marks around it, as in \"$1\" and \"$@\""
	inherited = "make, just, or a script that the recipe runs has it in its environment, and can evaluate it; " +
		"pass it as an argument without exporting it (by \"$\" before its name, \"set export\", or export), or run that program with env -u NAME before it"
	nested    = "the recipe passes it to just, which can read it as code again; name the other recipe as a dependency, as in \"recipe x: (other x)\""
	readAgain = "the recipe passes it to eval, or to a shell with -c, which can read it as code again; run the commands without that"
	Unparsed  = "copse cannot parse the recipe's script, so it does not know what quote() protects; move the script into a file, and run that with \"$1\" and the like"
)

// Value represents an inserted value in the text of a script.
const Value = words.Value

// The limits of a script that is examined.
const (
	maxDepth     = 4   // of the constant scripts of shells in each other
	maxExported  = 100 // parameters in the environment
	maxArguments = 500 // of a command; each can be the name of a program
)

// Script is the text of a script with inserted values, and what else gives it the values of parameters.
type Script struct {
	Text  string
	Shell string // its name, such as bash
	// Exported are the parameters in the environment, and Inherited the names of other variables in it.
	// ExportsAll means that every variable is, or that its name is unknown.
	Exported   map[string]bool
	Inherited  []string
	ExportsAll bool
	// Positional means that the script reads them as "$1".
	Positional bool

	depth int // number of scripts of which it is a part
}

// script is what is known about a script.
type script struct {
	from      Script
	exported  variables             // those in the environment of all programs
	called    map[*syntax.Word]bool // the names of the programs that are examined
	files     []*syntax.File        // the script, and those inside its constants
	functions map[string]bool
	aliases   map[string]bool // the names of aliases for other commands
	around    []syntax.Node   // the node that is examined, and those around it
	origins   origins
	// inserted is the first reason why a value is evaluated where it is inserted, and variables the one
	// for variables.
	inserted, variables string
	other               bool              // the shell is neither POSIX sh nor bash
	texts               map[string]string // those of here-documents that the script writes into files
	// given is what the script's functions can read from their input.
	given   contents
	written Files
}

// Evaluates returns a reason if a script evaluates values that are inserted into it, and one if it
// evaluates variables with values; both are "" if it does not. The script can read the files that
// the whole recipe writes.
func (from Script) Evaluates(written Files) (inserted, variables string) {
	s, file := from.parse(written)
	if file == nil {
		return Unparsed, Unparsed
	}
	quoting.Walk(file, func(n syntax.Node, around []syntax.Node) {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			if name, _ := words.Text(call.Args[0]); s.functions[name] {
				s.given.add(s.input(around))
			}
		}
	})
	for _, file := range s.files {
		quoting.Walk(file, s.node)
	}
	return s.inserted, s.variables
}

// parse returns a script with its functions and variables, and no file if it is too long, or not a script.
func (from Script) parse(written Files) (*script, *syntax.File) {
	if from.depth > maxDepth || len(from.Exported) > maxExported {
		return nil, nil
	}
	file := quoting.Parse(from.Text, from.Shell)
	if file == nil {
		return nil, nil
	}
	s := &script{
		from: from, written: written, functions: map[string]bool{}, exported: variables{}, called: map[*syntax.Word]bool{},
		other: !slices.Contains([]string{"sh", "bash", "dash", "ash"}, from.Shell),
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				s.functions[n.Name.Value] = true
			}
		case *syntax.CallExpr:
			s.aliases = s.aliased(n)
		}
		return true
	})
	s.begin()
	s.files = append([]*syntax.File{file}, s.nested(file)...)
	s.trace()
	s.exports(slices.Collect(maps.Keys(from.Exported)))
	for _, name := range slices.Concat(usual, from.Inherited) {
		s.exported.add(name, s.origins.names[name])
	}
	if from.ExportsAll {
		s.exportAll()
	}
	for _, file := range s.files {
		quoting.Walk(file, func(n syntax.Node, _ []syntax.Node) { s.export(n) })
	}
	return s, file
}

// aliased returns the known aliases with those that a command defines.
func (s *script) aliased(n *syntax.CallExpr) map[string]bool {
	all := s.aliases
	if !slices.ContainsFunc(n.Args, func(w *syntax.Word) bool { return w.Lit() == "alias" }) {
		return all
	}
	for _, arg := range n.Args {
		if name, _, ok := strings.Cut(words.Lead(arg), "="); ok {
			if all == nil {
				all = map[string]bool{}
			}
			all[name] = true
		}
	}
	return all
}

// node examines one node.
func (s *script) node(n syntax.Node, around []syntax.Node) {
	s.around = around
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		s.arithmetic(n)
	case *syntax.ParamExp:
		s.parameter(n)
	case *syntax.BinaryTest:
		if slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}, n.Op) {
			s.arithmetic(n)
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar || s.other && n.Op == syntax.TsFdTerm {
			s.arithmetic(n)
		}
	case *syntax.DeclClause:
		s.declaration(n)
	case *syntax.Assign:
		if n.Index != nil && !words.Index(n.Index) {
			s.content(n)
			s.names(n.Index)
		}
	case *syntax.ArrayElem:
		if n.Index != nil && !words.Index(n.Index) {
			s.arithmetic(n)
		}
	case *syntax.Lit:
		s.qualifier(n)
	case *syntax.CoprocClause:
		s.content(n)
	case *syntax.Redirect:
		if n.N != nil {
			s.element(n.N.Value)
		}
	case *syntax.CallExpr:
		if len(n.Args) > maxArguments {
			s.evaluates(s.origins.all, Unparsed)
		} else if len(n.Args) > 0 {
			s.call(n.Args, around)
		}
	}
}

// parameter examines an expansion, of which some forms evaluate an index, the value, or a name.
func (s *script) parameter(n *syntax.ParamExp) {
	if n.Index != nil && !words.Index(n.Index) || n.Slice != nil && (!words.Index(n.Slice.Offset) || n.Slice.Length != nil && !words.Index(n.Slice.Length)) {
		s.arithmetic(n)
	}
	if n.Excl || n.Flags != nil || n.GlobSubst != 0 || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
		s.content(n)
		s.names(n)
	}
}

// evaluates records that contents are evaluated, and why.
func (s *script) evaluates(c contents, reason string) {
	if c.inserted && s.inserted == "" {
		s.inserted = s.located(reason)
	}
	if c.variables && s.variables == "" {
		s.variables = s.located(reason)
	}
}

// located returns a reason with the name of the command that is examined, and its line.
func (s *script) located(reason string) string {
	why, advice, _ := strings.Cut(reason, "; ")
	if name, line := words.Command(s.around); name != "" {
		why += ", in the command " + name
		if s.around[0] == syntax.Node(s.files[0]) && strings.Count(s.from.Text, "\n") > 1 {
			why += fmt.Sprintf(" on line %d", line)
		}
	}
	return why + "; " + advice
}

// content records that nodes are evaluated.
func (s *script) content(nodes ...syntax.Node) { s.evaluates(s.holds(nodes...), evaluated) }

// declaration examines declare and the like, which evaluate names, and with some options also values.
func (s *script) declaration(n *syntax.DeclClause) {
	for _, arg := range n.Args {
		if arg.Name == nil && arg.Value != nil {
			option, literal := words.Text(arg.Value)
			if !literal {
				s.content(arg)
			} else if strings.ContainsAny(option, "aAin") && (option[0] == '-' || option[0] == '+') {
				s.content(n)
				// A later assignment evaluates its value.
				if strings.ContainsAny(option, "in") && n.Variant.Value != "export" {
					s.evaluates(s.origins.all, evaluated)
				}
			}
		}
	}
	for _, arg := range n.Args {
		if arg.Name == nil && arg.Value != nil {
			s.elements([]*syntax.Word{arg.Value})
		}
	}
	if s.other && n.Variant.Value != "export" {
		s.content(n) // integer and float are other names of it
	}
}

// call examines a command with its arguments.
func (s *script) call(command []*syntax.Word, around []syntax.Node) {
	if s.called[command[0]] {
		return
	}
	s.called[command[0]] = true
	name, literal := words.Text(command[0])
	if s.editor(command[0]) {
		name, literal = "vi", true
	}
	base, args := path.Base(name), command[1:]
	own := base
	if strings.Contains(name, "/") && !strings.HasPrefix(name, "/") {
		own = name // the project's, whatever it is called
	}
	switch {
	case base == "eval", base == "just":
		reason := readAgain
		if base == "just" {
			reason = nested
		}
		s.evaluates(s.holds(nodes(args)...), reason)
		fallthrough
	case !literal, name == "", name != "[" && strings.ContainsAny(name, "*?[{"), s.aliases[name], programs.Builtin(base), programs.Evaluates(base):
		s.content(nodes(command)...)
		s.evaluator(command, around)
		if programs.Includes(base) {
			s.evaluates(s.anyFile(), evaluated)
		}
		s.elements(args)
		if programs.Includes(base) || s.aliases[base] || !literal && s.command(command[0]) || words.Unknown(command[0]) || programs.Evaluates(base) && slices.ContainsFunc(args, words.Expands) {
			s.evaluates(s.environment(around).all(), inherited)
		}
	case programs.Interprets(base):
		s.interpreter(base, args, around)
	case base == "command" && strings.EqualFold(words.First(args), "-v"): // prints what the others are
	case s.functions[name]: // the values get into variables
	case base == "read" && !s.other:
		s.content(nodes(words.WithoutPrompt(args))...)
		s.elements(args)
	case programs.Names(base), s.other && (programs.Counts(base) || base == "set" && strings.HasSuffix(words.First(args), "A")):
		s.content(nodes(args)...)
		s.elements(args)
	case base == "printf":
		s.printf(args)
	case base == "test", base == "[":
		s.test(args)
	case base != "set" && base != "shift":
		s.program(own, args, around)
	}
	if strings.Contains(name, "/") {
		s.evaluates(s.file(command[0]), evaluated)
		interpreter := cmp.Or(programs.Begins(s.texts[base]), "sh")
		s.runs(interpreter, interpreter, s.texts[base], s.holds(nodes(args)...), around)
	}
}

// evaluator examines the input of an evaluator, and the files that its arguments name.
func (s *script) evaluator(args []*syntax.Word, around []syntax.Node) {
	s.evaluates(s.input(around), evaluated)
	for _, arg := range args {
		s.evaluates(s.file(arg), evaluated)
	}
}

// nested returns the scripts among the arguments of commands such as trap, which the shell parses again,
// and those that it reads from files whose texts are in here-documents. It remembers such texts.
func (s *script) nested(file *syntax.File) (files []*syntax.File) {
	quoting.Walk(file, func(n syntax.Node, around []syntax.Node) {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return
		}
		s.documented(around)
		var scripts []string
		if name := call.Args[0].Lit(); programs.Builtin(name) {
			for _, arg := range call.Args[1:] {
				if text, literal := words.Text(arg); name == "." || name == "source" {
					scripts = append(scripts, s.texts[path.Base(text)])
					delete(s.texts, path.Base(text)) // it can contain itself
				} else if literal {
					scripts = append(scripts, text)
				}
			}
		}
		for _, text := range scripts {
			inner, err := quoting.Parser(s.from.Shell).Parse(strings.NewReader(text), "")
			if err != nil {
				if strings.Contains(text, "$") {
					s.evaluates(s.origins.all, evaluated)
				}
				continue
			}
			files = append(append(files, inner), s.nested(inner)...)
		}
	})
	return files
}

func nodes(args []*syntax.Word) []syntax.Node {
	nodes := make([]syntax.Node, len(args))
	for i, w := range args {
		nodes[i] = w
	}
	return nodes
}

// printf examines the arguments of printf, whose format must be a constant.
func (s *script) printf(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	format, literal := words.Text(args[0])
	if strings.HasPrefix(format, "-v") {
		s.elements(args[:min(2, len(args))])
	}
	numbers := s.other && strings.ContainsAny(strings.NewReplacer("%%", "", "%s", "", "%b", "", "%q", "").Replace(format), "%*")
	if !literal || numbers || strings.HasPrefix(format, "-") && strings.Trim(format, "-") != "" {
		s.content(nodes(args)...)
	}
}

// test examines the arguments of test and [.
func (s *script) test(args []*syntax.Word) {
	count, compared := 0, false
	for _, arg := range args {
		text, literal := words.Text(arg)
		switch {
		case !literal:
			count++
			if !words.Quoted(arg) || words.Many(arg) {
				s.content(arg) // it can become several words
			}
		case text == "-v", text == "-R", text == "-a", text == "-o", s.other && slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-t"}, text):
			s.content(nodes(args)...)
			s.elements(args)
		case text != "]" && text != "!":
			compared = true
		}
	}
	if count > 1 && !compared {
		s.content(nodes(args)...)
	}
}
