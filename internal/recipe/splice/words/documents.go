package words

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reading are the redirections that give a command its input.
var reading = []syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}

// Sources calls do with each redirection, and each command before a pipe, that gives the innermost of nodes
// its input.
func Sources(around []syntax.Node, do func(syntax.Node)) {
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
			if Pipes(above) && around[i+1] == syntax.Node(above.Y) {
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
			text, _ := Text(r.Word)
			b.WriteString(text + "\n")
		case ok && r.Hdoc != nil && strings.ContainsAny(r.Word.Lit(), `\`), ok && r.Hdoc != nil && r.Word.Lit() == "":
			b.WriteString(r.Hdoc.Lit()) // nothing in it is escaped
		case ok && r.Hdoc != nil:
			text, _ := Text(r.Hdoc)
			b.WriteString(text)
		}
		return true
	})
	return b.String()
}

// InputText returns the constant texts of the documents that the innermost of nodes can read.
func InputText(around []syntax.Node) string {
	var b strings.Builder
	Sources(around, func(n syntax.Node) { b.WriteString(documents(n)) })
	return b.String()
}

// Writes reports whether a redirection can write a file.
func Writes(r *syntax.Redirect) bool {
	return r.Op == syntax.RdrInOut || r.Op != syntax.DplOut && !slices.Contains(reading, r.Op)
}

// Pipes reports whether a command reads the output of the one before.
func Pipes(b *syntax.BinaryCmd) bool { return b.Op == syntax.Pipe || b.Op == syntax.PipeAll }

// Counts reports whether a command only prints numbers: wc without the names of files.
func Counts(n *syntax.CmdSubst) bool {
	if len(n.Stmts) != 1 {
		return false
	}
	last := n.Stmts[0]
	for {
		pipe, ok := last.Cmd.(*syntax.BinaryCmd)
		if !ok || !Pipes(pipe) {
			break
		}
		last = pipe.Y
	}
	call, ok := last.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 2 && call.Args[0].Lit() == "wc" && strings.HasPrefix(call.Args[1].Lit(), "-")
}

// BeforeReading returns the nodes inside the innermost loop that reads its own input.
func BeforeReading(around []syntax.Node) []syntax.Node {
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
