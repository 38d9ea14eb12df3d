package evaluation

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/calls"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// interpreter examines a call of an interpreter: its program must be a constant.
func (s *script) interpreter(base string, args []*syntax.Word, around []syntax.Node) {
	shell := strings.TrimRight(base, "0123456789.-")
	base = programs.Interpreter(base)
	if programs.Reads(base) {
		for i, arg := range args {
			if !programs.Edits(base) || !words.Names(arg) || i > 0 && !words.Names(args[i-1]) {
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
		reason = readAgain
	}
	reads := found.Reads
	if !found.Constant {
		s.evaluates(given, reason)
		s.evaluator(args, nil)
	}
	for _, program := range found.Programs {
		s.evaluates(s.fileNamed(program), evaluated)
		given.add(input)
		text := program
		if !found.Inline {
			text = s.texts[path.Base(program)]
		} else if base == "sh" {
			s.evaluates(given, reason)
		}
		s.runs(base, shell, text, given, around)
		if base == "python" && program == "timeit" {
			s.evaluates(given, evaluated) // of its arguments, too
		}
	}
	if reads {
		s.evaluates(input, evaluated)
		s.runs(base, shell, words.InputText(around), given, around)
	}
	if found.Constant && !found.Inline && len(found.Programs) > 0 {
		name := path.Base(found.Programs[len(found.Programs)-1])
		s.arguments(name, programs.Lookup(name, ""), found.Rest, around)
	}
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
