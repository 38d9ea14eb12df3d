package quoting

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// script is a script whose quotation marks matter.
type script struct{ text, shell string }

// doubtful reports whether shells, or versions of one, can disagree where a node ends, so that a later
// quotation mark can begin a text in one of them and end it in another.
func (s script) doubtful(n syntax.Node, around []syntax.Node) bool {
	marks := "'\"\\`"
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return n.Dollar && s.shell != "bash" // others do not have it
	case *syntax.ParamExp, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.ExtGlob:
		return strings.ContainsAny(s.of(n), marks)
	case *syntax.CmdSubst:
		return n.Backquotes && strings.ContainsAny(s.of(n), "'\"\\#")
	case *syntax.BinaryTest:
		return n.Op == syntax.TsReMatch && strings.ContainsAny(s.of(n.Y), marks+"#")
	case *syntax.CaseClause:
		return slices.ContainsFunc(around, substitutes) // old versions of bash count parentheses
	case *syntax.Redirect:
		return (n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc) && (slices.ContainsFunc(around, substitutes) || !s.ends(n))
	case *syntax.Lit: // the qualifier of a pattern
		return s.shell == "zsh" && strings.HasPrefix(n.Value, "(") && strings.ContainsAny(n.Value, marks)
	case *syntax.CallExpr:
		return len(n.Args) > 0 && n.Args[0].Lit() == "alias" // it can begin a text
	}
	return false
}

// substitutes reports whether a node has a script in parentheses as a part of a word.
func substitutes(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return true
	}
	return false
}

// ends reports whether a here-document ends where it seems to: no value, and no command of several lines,
// can have its last line.
func (s script) ends(r *syntax.Redirect) bool {
	name := strings.Trim(strings.TrimPrefix(s.of(r.Word), `\`), `'"`)
	if strings.ContainsAny(name, "'\"\\`$"+words.Value) {
		return false
	}
	return r.Hdoc == nil || !strings.Contains(s.of(r.Hdoc), words.Value) && !slices.ContainsFunc(r.Hdoc.Parts, func(part syntax.WordPart) bool {
		_, literal := part.(*syntax.Lit)
		return !literal && strings.Contains(s.of(part), "\n")
	})
}

// of returns the text of a node.
func (s script) of(n syntax.Node) string { return s.text[n.Pos().Offset():n.End().Offset()] }

// unclear matches what a value that is empty changes, and what the parser reads in another way: a line that
// continues after a part of a sign, and the characters that it ignores.
var unclear = lazyregexp.New(`\\` + words.Value + `|\$` + words.Value + `+['({\[]|<` + words.Value + `+[<(]|(?:\A|[\s;&|()<>])` + words.Value + `+#|[$<(]\\\n|[\r\x00]`)
