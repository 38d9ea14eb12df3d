package evaluation

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/calls"
	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// printers print variables that they do not name.
var printers = []string{"set", "export", "declare", "typeset", "local", "readonly"}

// unknownFile is the name of a new file, which only a variable has.
const unknownFile = "$"

// target returns the name of the file that a word names, without its directory. After an asterisk, it is the end
// of the name of any file.
func (s *script) target(w *syntax.Word) string {
	name, literal := words.Text(w)
	if literal {
		return path.Base(strings.TrimPrefix(name, "of="))
	}
	tail, fresh := words.Tail(w), true
	syntax.Walk(w, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok {
			fresh = fresh && p.Param != nil && s.origins.fresh[p.Param.Value]
		}
		return true
	})
	if slash := strings.LastIndex(tail, "/"); slash >= 0 && slash < len(tail)-1 {
		return tail[slash+1:]
	} else if fresh {
		return unknownFile
	}
	return "*" + strings.TrimSuffix(tail, "/")
}

// output returns what a node can print, if it is a command, and what it gives to a command, if it is a
// redirection.
func (s *script) output(n syntax.Node) (out contents) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name, _ := words.Text(n.Args[0])
				if (name == "echo" || name == "printf") && !s.functions[name] && !slices.ContainsFunc(n.Args, words.Matches) {
					out.add(s.holds(n)) // it reads no files
					return false
				}
				if name == "pwd" || name == "dirs" {
					out.add(s.variable("PWD"))
				}
				if s.functions[name] || slices.Contains(printers, path.Base(name)) || slices.ContainsFunc(n.Args, words.MentionsEnvironment) {
					out.add(s.origins.all)
				}
			}
		case *syntax.DeclClause:
			out.add(s.origins.all)
		case *syntax.ParamExp:
			out.add(s.expansion(n))
		case *syntax.Word:
			out.add(s.file(n))
		default:
			out.inserted = out.inserted || words.Marked(n)
		}
		return true
	})
	return out
}

// input returns what the innermost of nodes can read from its input.
func (s *script) input(around []syntax.Node) (in contents) {
	words.Sources(around, func(n syntax.Node) { in.add(s.output(n)) })
	for _, above := range around {
		switch above := above.(type) {
		case *syntax.ProcSubst:
			if above.Op == syntax.CmdOut {
				in.add(s.origins.all)
			}
		case *syntax.CoprocClause:
			in.add(s.origins.all)
		case *syntax.FuncDecl:
			in.add(s.given)
		}
	}
	return in
}

// Files are the names of the files that a recipe writes, without their directories, and what they can
// contain.
type Files map[string]contents

// Union returns the files of both.
func Union(one, other Files) Files {
	all := maps.Clone(one)
	for name, c := range other {
		c.add(all[name])
		if all == nil {
			all = Files{}
		}
		all[name] = c
	}
	return all
}

// file returns what the file with the name in a word can contain. A plain word is a file only if the recipe
// writes one with just that name.
func (s *script) file(w *syntax.Word) contents {
	name, literal := words.Text(w)
	if !literal {
		return s.anyFile()
	} else if !strings.ContainsAny(name, "./*?[") {
		return s.written[name]
	}
	return s.fileNamed(name)
}

// fileNamed returns what the files that a constant word names can contain.
func (s *script) fileNamed(name string) contents {
	switch {
	case strings.ContainsAny(name, "*?["):
		return s.anyFile()
	case strings.HasPrefix(name, "/proc/"):
		return s.origins.all // it can be the environment
	}
	all := s.written[path.Base(name)]
	for file, c := range s.written {
		if end, any := strings.CutPrefix(file, "*"); any && strings.HasSuffix(name, end) {
			all.add(c)
		}
	}
	return all
}

// anyFile returns what the files that the recipe writes can contain.
func (s *script) anyFile() (all contents) {
	for _, c := range s.written {
		all.add(c)
	}
	return all
}

// Writes returns the files into which a script writes a value, or a variable that can have one.
func (from Script) Writes() Files {
	s, file := from.parse(nil)
	if file == nil {
		return nil
	}
	s.written = Files{}
	quoting.Walk(file, func(n syntax.Node, around []syntax.Node) {
		switch n := n.(type) {
		case *syntax.Stmt:
			s.redirected(n, around, file)
		case *syntax.CallExpr:
			if len(n.Args) > 1 && calls.Copies(n.Args) {
				s.write(s.output(n), around, n.Args[1:]...)
			}
		}
	})
	return s.written
}

// redirected records the files that the redirections of a statement write.
func (s *script) redirected(n *syntax.Stmt, around []syntax.Node, file *syntax.File) {
	for _, r := range n.Redirs {
		if !words.Writes(r) {
			continue
		}
		out := s.output(n)
		if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec" {
			out = s.output(file)
		}
		s.write(out, around, r.Word)
	}
}

// write records that the innermost of nodes writes files with an output, or with its input.
func (s *script) write(out contents, around []syntax.Node, names ...*syntax.Word) {
	out.add(s.input(around))
	for _, above := range around {
		if _, ok := above.(*syntax.FuncDecl); ok {
			out.add(s.origins.all)
		}
	}
	for _, w := range names {
		name := s.target(w)
		text, _ := words.Text(w)
		if name == "." || strings.HasPrefix(name, "-") || strings.HasPrefix(text, "/dev/") || out == (contents{}) {
			continue
		}
		all := s.written[name]
		all.add(out)
		s.written[name] = all
	}
}

// documented remembers the texts of the files that a command writes from here-documents.
func (s *script) documented(around []syntax.Node) {
	text := words.InputText(around)
	if text == "" {
		return
	}
	stmt, _ := around[len(around)-2].(*syntax.Stmt)
	for _, r := range stmt.Redirs {
		if name, _ := words.Text(r.Word); words.Writes(r) {
			if s.texts == nil {
				s.texts = map[string]string{}
			}
			s.texts[path.Base(name)] += text
		}
	}
}
