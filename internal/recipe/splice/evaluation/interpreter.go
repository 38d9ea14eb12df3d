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
	found := calls.Read(base, args)
	given, input := s.holds(nodes(args)...), s.input(around)
	reason := evaluated
	if found.Inline && base == "sh" {
		reason = ReadAgain
	}
	reads := found.Reads
	if !found.Constant {
		s.evaluates(given, reason)
		s.evaluator(args, nil)
	}
	for _, program := range found.Programs {
		s.evaluates(s.fileNamed(program), evaluated)
		given.add(input)
		if found.Inline {
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
			s.runs(base, words.InputText(around), given, evaluated)
		}
	}
	if found.Constant && !found.Inline && len(found.Programs) > 0 {
		name := path.Base(found.Programs[len(found.Programs)-1])
		s.arguments(name, programs.Lookup(name, ""), found.Rest, around)
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
