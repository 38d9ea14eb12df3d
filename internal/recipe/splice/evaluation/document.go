package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// reading are the redirections that give a command its input.
var reading = []syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}

// sources calls do with each redirection, and each command before a pipe, that gives the innermost of nodes
// its input.
func sources(around []syntax.Node, do func(syntax.Node)) {
	for i, above := range around {
		switch above := above.(type) {
		case *syntax.Stmt:
			for _, r := range above.Redirs {
				itself := i+1 < len(around) && around[i+1] == syntax.Node(r) // the command prints it
				if !itself && slices.Contains(reading, r.Op) {
					do(r)
				}
			}
		case *syntax.BinaryCmd:
			if isPipe(above) && around[i+1] == syntax.Node(above.Y) {
				do(above.X)
			}
		}
	}
}

// documents returns the constant texts of the here-documents and here-strings in a node.
func documents(n syntax.Node) string {
	var b strings.Builder
	syntax.Walk(n, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		switch {
		case ok && r.Op == syntax.WordHdoc:
			text, _ := words.Text(r.Word)
			b.WriteString(text + "\n")
		case ok && r.Hdoc != nil && strings.ContainsAny(r.Word.Lit(), `\`), ok && r.Hdoc != nil && r.Word.Lit() == "":
			b.WriteString(r.Hdoc.Lit()) // nothing in it is escaped
		case ok && r.Hdoc != nil:
			text, _ := words.Text(r.Hdoc)
			b.WriteString(text)
		}
		return true
	})
	return b.String()
}

// inputText returns the constant texts of the documents that the innermost of nodes can read.
func inputText(around []syntax.Node) string {
	var b strings.Builder
	sources(around, func(n syntax.Node) { b.WriteString(documents(n)) })
	return b.String()
}

// begins returns the name of the interpreter in the first line of a script, "" if there is none.
func begins(script string) string {
	line, _, _ := strings.Cut(script, "\n")
	line, _ = strings.CutPrefix(line, "#!")
	for _, word := range strings.Fields(line) {
		if base := path.Base(word); programs.Interprets(base) {
			return programs.Interpreter(base)
		}
	}
	return ""
}

// documented returns the scripts of shells among the here-documents of a command, and remembers the
// texts of the files that it writes.
func (s *script) documented(call *syntax.CallExpr, around []syntax.Node) (scripts []string) {
	text := inputText(around)
	if text == "" {
		return nil
	}
	shell := slices.ContainsFunc(call.Args, isShell)
	stmt, _ := around[len(around)-2].(*syntax.Stmt)
	for _, r := range stmt.Redirs {
		name, _ := words.Text(r.Word)
		if slices.Contains(reading, r.Op) {
			continue
		}
		if s.texts == nil {
			s.texts = map[string]string{}
		}
		s.texts[path.Base(name)] += text
		shell = shell || path.Ext(name) == ".sh" || begins(text) == "sh"
	}
	if shell {
		scripts = append(scripts, text)
	}
	return scripts
}

// isShell reports whether a word is the name of a POSIX shell.
func isShell(w *syntax.Word) bool {
	text, literal := words.Text(w)
	return literal && programs.Interpreter(path.Base(text)) == "sh"
}
