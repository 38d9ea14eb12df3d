// Package evaluation finds out whether a shell script evaluates the values that are inserted into it:
// it passes them to eval, to an arithmetic expression, to a command whose name is not a constant, or
// to a program that is known to run its arguments.
package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The reasons for a parameter that is quoted, but that the shell or a program can still evaluate.
const (
	evaluated = "the recipe passes it to a command that can evaluate it, such as eval, an arithmetic expression, declare, xargs, or an interpreter; pass it to a plain command"
	Unparsed  = "copse cannot parse the recipe's script, so it does not know what quote() protects"
)

// Value represents an inserted value in the text of a script.
const Value = "\ue000"

// The limits of a script that is parsed. The parser is recursive, and a repository can contain any
// justfile.
const (
	MaxScript  = 32 << 10
	MaxNesting = 1000
)

// Commands that evaluate their arguments, or run what these name.
var (
	// evaluators evaluate any argument.
	evaluators = []string{
		"eval", ".", "source", "trap", "alias", "let", "bind", "complete", "compgen", "coproc", "enable", "hash", "emulate", "functions", "print", "fc",
		"xargs", "parallel", "watch", "ssh", "su", "make", "gmake", "just", "script", "expect", "at", "batch", "crontab", "entr", "tmux", "screen",
	}
	// wrappers run another command, which is one of their arguments.
	wrappers = []string{
		"busybox", "command", "builtin", "exec", "nohup", "time", "env", "sudo", "doas", "nice", "ionice", "setsid", "stdbuf", "timeout", "chroot", "find", "fd", "xvfb-run", "caffeinate",
		"docker", "podman", "kubectl", "nix-shell", "flatpak",
	}
	// namers evaluate the names of variables among their arguments, and set variables.
	namers = []string{"read", "unset", "mapfile", "readarray", "getopts"}
	// special are variables whose values programs evaluate.
	special = []string{
		"PS0", "PS1", "PS2", "PS3", "PS4", "BASH_ENV", "ENV", "SHELL", "LESSOPEN", "LESSCLOSE", "BROWSER", "IFS", "PATH", "VISUAL", "ZDOTDIR", "HOME", "XDG_CONFIG_HOME",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "MAKEFLAGS",
		"JAVA_TOOL_OPTIONS", "CLASSPATH", "GOFLAGS", "RUSTC", "RUSTC_WRAPPER",
	}
	// specialBeginnings and specialEnds are those of more such variables.
	specialBeginnings = []string{"LD_", "DYLD_", "GIT_"}
	specialEnds       = []string{"EDITOR", "PAGER", "_COMMAND", "ASKPASS"}
)

// Special reports whether programs evaluate, or run, the value of the variable with a name.
func Special(name string) bool {
	return slices.Contains(special, name) ||
		slices.ContainsFunc(specialBeginnings, func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
		slices.ContainsFunc(specialEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// script is what is known about the text of a script with inserted values.
type script struct {
	functions map[string]bool
	// direct means that a value is evaluated where it is inserted, and indirect that variables are.
	direct, indirect bool
	// stored means that a value gets into a variable, or into a pipe.
	stored bool
	ksh    bool // [ evaluates numbers as arithmetic expressions
	// given is what the script's functions can read from their input.
	given   contents
	written Files
}

// Of returns a reason if a script evaluates values that are inserted into it as words, and one
// if it evaluates variables; both are "" if it does not. The script can read the files that the whole
// recipe writes.
func Of(text, shell string, written Files) (inserted, variables string) {
	s, file := parse(text, shell)
	if file == nil {
		return Unparsed, Unparsed
	}
	s.written = written
	walk(file, func(n syntax.Node, around []syntax.Node) {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			if name, _ := word(call.Args[0]); s.functions[name] {
				s.given.add(s.input(around))
			}
		}
	})
	plain := 0
	walk(file, func(n syntax.Node, around []syntax.Node) { plain += s.node(n, around) })
	s.stored = s.stored || plain < strings.Count(text, Value)
	if s.direct || s.indirect && s.stored {
		inserted = evaluated
	}
	if s.indirect {
		variables = evaluated
	}
	return inserted, variables
}

// parse returns a script with its functions, and no file if it is too long, or not a script.
func parse(text, shell string) (*script, *syntax.File) {
	if len(text) > MaxScript || strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "[")+strings.Count(text, "`") > MaxNesting {
		return nil, nil
	}
	s := &script{functions: map[string]bool{}, ksh: !slices.Contains([]string{"sh", "bash", "dash", "ash"}, shell)}
	variant := syntax.LangBash
	switch shell {
	case "zsh":
		variant = syntax.LangZsh
	case "ksh", "mksh":
		variant = syntax.LangMirBSDKorn
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, nil
	}
	walk(file, func(n syntax.Node, _ []syntax.Node) {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			s.functions[f.Name.Value] = true
		}
	})
	return s, file
}

// walk calls do with every node of a file, and with the nodes around it, of which it is the last.
func walk(file *syntax.File, do func(n syntax.Node, around []syntax.Node)) {
	var around []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		do(n, around)
		return true
	})
}

// node examines one node. It returns how many values are plain words of a simple command whose
// output goes nowhere else in the script.
func (s *script) node(n syntax.Node, around []syntax.Node) (plain int) {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		s.arithmetic(n)
	case *syntax.ParamExp:
		if n.Index != nil && !constant(n.Index) || n.Slice != nil && (!constant(n.Slice.Offset) || n.Slice.Length != nil && !constant(n.Slice.Length)) ||
			n.Excl || n.Flags != nil || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
			s.arithmetic(n)
		}
	case *syntax.BinaryTest:
		if slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}, n.Op) {
			s.arithmetic(n)
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			s.arithmetic(n)
		}
	case *syntax.DeclClause:
		s.declaration(n)
	case *syntax.Assign:
		if n.Index != nil && !constant(n.Index) || n.Name != nil && n.Value != nil && Special(n.Name.Value) {
			s.content(n)
		}
	case *syntax.ArrayElem:
		if n.Index != nil && !constant(n.Index) {
			s.arithmetic(n)
		}
	case *syntax.CallExpr:
		return s.call(n, around)
	}
	return 0
}

// content records what a node evaluates.
func (s *script) content(nodes ...syntax.Node) {
	for _, n := range nodes {
		direct, variables := values(n)
		s.evaluates(contents{direct, variables})
	}
}

// arithmetic records that a node is evaluated as an arithmetic expression, in which the names of
// variables need no dollar sign.
func (s *script) arithmetic(n syntax.Node) {
	s.content(n)
	syntax.Walk(n, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok && strings.ContainsFunc(lit.Value, letter) {
			s.indirect = true
		}
		return true
	})
}

func letter(r rune) bool { return r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' }

// values reports whether a node contains an inserted value, and whether it contains a variable or the
// output of a command.
func values(n syntax.Node) (direct, variables bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			direct = direct || strings.Contains(n.Value, Value)
		case *syntax.SglQuoted:
			direct = direct || strings.Contains(n.Value, Value)
		case *syntax.ParamExp:
			variables = variables || n.Param == nil || !slices.Contains([]string{"#", "?", "$", "!", "-"}, n.Param.Value)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			variables = true
		}
		return true
	})
	return direct, variables
}

// constant reports whether an index is a number, or all elements.
func constant(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	lit := word.Lit()
	return lit == "@" || lit == "*" || lit != "" && strings.Trim(lit, "0123456789") == ""
}

// declaration examines declare and the like, which evaluate names, and with some options also values.
func (s *script) declaration(n *syntax.DeclClause) {
	for _, arg := range n.Args {
		if arg.Name == nil && arg.Value != nil {
			option, literal := word(arg.Value)
			if !literal {
				s.content(arg)
			} else if strings.ContainsAny(option, "aAin") && (option[0] == '-' || option[0] == '+') {
				s.content(n)
				// A later assignment evaluates its value.
				s.indirect = s.indirect || strings.ContainsAny(option, "in") && n.Variant.Value != "export"
			}
		}
	}
}

// word returns the text of a word without its quotation marks, and whether it is a constant.
func word(w *syntax.Word) (text string, literal bool) {
	direct, variables := values(w)
	var b strings.Builder
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			escaped := false
			for _, r := range n.Value {
				if escaped = r == '\\' && !escaped; !escaped {
					b.WriteRune(r)
				}
			}
		case *syntax.SglQuoted:
			b.WriteString(n.Value)
		}
		return true
	})
	return b.String(), !direct && !variables
}

// call examines a simple command.
func (s *script) call(n *syntax.CallExpr, around []syntax.Node) (plain int) {
	if len(n.Args) == 0 {
		return 0 // only assignments
	}
	name, literal := word(n.Args[0])
	base := path.Base(name)
	switch {
	case !literal, name == "", slices.Contains(evaluators, base):
		s.content(n)
		s.evaluator(n.Args[1:], around)
		return 0
	case interprets(base):
		s.interpreter(base, n.Args[1:], around)
	case slices.Contains(wrappers, base):
		s.wrapper(base, n.Args[1:], around)
	case slices.Contains(namers, base):
		s.stored = true
		for _, arg := range n.Args[1:] {
			s.content(arg)
		}
	case base == "printf":
		if first, literal := second(n.Args); !literal || strings.HasPrefix(first, "-") && strings.Trim(first, "-") != "" {
			s.content(n)
		}
	case base == "test", base == "[":
		s.test(n.Args[1:])
	case base == "set", base == "shift", s.functions[name]:
		return 0 // the values get into variables
	}
	if strings.Contains(name, "/") {
		s.evaluates(s.file(n.Args[0]))
	}
	for i, above := range around[:len(around)-1] {
		switch above := above.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			return 0
		case *syntax.BinaryCmd:
			if isPipe(above) && around[i+1] == syntax.Node(above.X) {
				return 0
			}
		}
	}
	for _, arg := range n.Args[1:] {
		plain += inserted(arg)
	}
	return plain
}

// evaluator examines the input of an evaluator, and the files that its arguments name.
func (s *script) evaluator(args []*syntax.Word, around []syntax.Node) {
	s.evaluates(s.input(around))
	for _, arg := range args {
		s.evaluates(s.file(arg))
	}
}

// second returns the second word, "" and true if there is none.
func second(args []*syntax.Word) (text string, literal bool) {
	if len(args) < 2 {
		return "", true
	}
	return word(args[1])
}

// inserted counts the values in a node.
func inserted(n syntax.Node) (count int) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			count += strings.Count(n.Value, Value)
		case *syntax.SglQuoted:
			count += strings.Count(n.Value, Value)
		}
		return true
	})
	return count
}

// wrapper examines the arguments of a command that runs another one.
func (s *script) wrapper(base string, args []*syntax.Word, around []syntax.Node) {
	found := base == "find" || base == "fd"
	for i, arg := range args {
		text, literal := word(arg)
		if !literal {
			if !found {
				s.content(arg) // it can choose the command
			}
			continue
		}
		inner := path.Base(text)
		runs := slices.Contains(evaluators, inner) && (inner != "." || base == "command" || base == "builtin")
		if runs || interprets(inner) || slices.Contains(namers, inner) ||
			slices.Contains([]string{"declare", "typeset", "local", "export", "readonly", "printf", "test", "["}, inner) || base == "env" && strings.HasPrefix(text, "-") {
			s.content(wordsOf(args)...)
		}
		switch {
		case runs:
			s.evaluator(args[i+1:], around)
		case interprets(inner):
			s.fed(interpreter(inner), args[i+1:], around)
		}
		if !found && strings.Contains(text, "/") {
			s.evaluates(s.file(arg))
		}
		found = found || !strings.HasPrefix(text, "-") && !strings.Contains(text, "=") && strings.Trim(text, "0123456789.smhd") != ""
	}
}

func wordsOf(args []*syntax.Word) []syntax.Node {
	nodes := make([]syntax.Node, len(args))
	for i, arg := range args {
		nodes[i] = arg
	}
	return nodes
}

// test examines the arguments of test and [.
func (s *script) test(args []*syntax.Word) {
	count, compared := 0, false
	for _, arg := range args {
		text, literal := word(arg)
		switch {
		case !literal:
			count++
			if !quotedWord(arg) {
				s.content(arg) // it can become several words
			}
		case text == "-v", text == "-R", text == "-a", text == "-o", s.ksh && slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, text):
			s.content(wordsOf(args)...)
		case text != "]" && text != "!":
			compared = true
		}
	}
	if count > 1 && !compared {
		s.content(wordsOf(args)...)
	}
}

// quotedWord reports whether a word stays one word whatever its variables contain.
func quotedWord(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return false
		}
	}
	return true
}
