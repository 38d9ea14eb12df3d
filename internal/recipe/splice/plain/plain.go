// Package plain accepts the shell scripts in which a value, whatever its text is, stays an argument of a
// program.
//
// The accepted scripts are a small part of the language, which all POSIX shells read in the same way: commands
// whose names are constants, joined by &&, ||, ;, and |, inside if, while, for, and case, with words in
// quotation marks, plain expansions, and $(…) without values. A value is a word of its own, or has plain text
// around it, and can be kept in a variable. Everything else is refused: a construct that this package does
// not know cannot be a gap. What a program does with its arguments is not examined, but those that are known to
// evaluate them get no value.
package plain

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// The signs that a script has in place of a text that is not known before the recipe runs.
const (
	Value   = "\ue000" // an argument of any text, which is in single quotation marks
	Unknown = "\ue001" // text without quotation marks, operators, and expansions
	Foreign = "\ue002" // any other text of the justfile's author
)

// MaxScript limits the length of a script that is parsed, maxNesting its brackets, because the parser is
// recursive, and maxExported its parameters in the environment. A repository can contain any justfile.
const (
	MaxScript   = 32 << 10
	maxNesting  = 1000
	maxExported = 100
)

// The reasons to refuse a script, of which each has advice after a semicolon.
const (
	Construct = "the script of the recipe is not simple enough for copse to see that the value stays one argument; " +
		`pass it in a plain command, such as "tool {{quote(x)}}", or move the script into a file, and run that with "$1" and the like`
	Quoted    = "quote() does not protect it inside quotation marks, a comment, a here-document, or an expansion"
	split     = "the shell splits it into words, because the recipe uses it without quotation marks; write quotation marks around it, as in \"$1\" and \"$@\""
	evaluated = "the recipe passes it to a command that can evaluate it, such as eval, ssh, make, or an interpreter with -c; pass it to a plain command"
	composed  = "the recipe passes it to a program inside a longer text, after an option such as -c or --exec, or as the command to run, and the program can evaluate that; " +
		"pass it as a word of its own"
	piped     = "the recipe writes it into a file or to another program, which can evaluate it; pass it to the program as an argument"
	inherited = "a program that the recipe runs, such as make, just, or a shell, has it in its environment, and can evaluate it; " +
		`pass it as an argument without exporting it (by "$" before its name, "set export", or a variable before the command)`
	extended = "the script of the recipe has [[ ]], and sh can be a shell without it; write [ ], or run the script with bash, by \"set shell := ['bash', '-uc']\" or #!/usr/bin/env bash"
	nested   = "the recipe passes it to just, which can read it as code again; name the other recipe as a dependency, as in \"recipe x: (other x)\""
)

// Script is the text of a shell script.
type Script struct {
	Text  string
	Shell string // its name, such as bash
	// Exported are the parameters in the environment, and Inherited the names of all other variables in it.
	Exported, Inherited map[string]bool
	// Exports means that there can be more such variables, of which any name is possible.
	Exports bool
	// Positional means that the parameters are "$1" and the like.
	Positional bool
}

// Refused returns the reason why a value in a script can become something else than an argument, "" if it
// cannot. A script that uses no value is not refused.
func (s Script) Refused() string {
	if len(s.Exported) > maxExported {
		return Construct
	}
	file := s.parse()
	switch {
	case file == nil && (strings.ContainsAny(s.Text, Value+"$") || len(s.Exported) > 0 || loops.Get().MatchString(s.Text)):
		return Construct
	case file == nil || !s.uses(file):
		return ""
	}
	r := reader{Script: s, holding: s.flows(file), exports: len(s.Exported) > 0}
	for name := range r.holding {
		r.exports = r.exports || s.Exports || s.Exported[name] || s.Inherited[name]
	}
	r.statements(file.Stmts)
	r.command = nil
	if r.values != strings.Count(s.Text, Value) {
		r.refuse(Quoted) // one is in a comment, or the like
	}
	return r.reason
}

// unclear matches text that shells, or the parser, read in different ways: control characters, a line that
// continues inside a word, and arithmetic, which is two subshells to some shells.
var unclear = lazyregexp.New(`[^\n\t\x20-\x{10ffff}]|\x7f|[^ \t]\\\n|\A\\\n|(?:\A|[^$])\(\(|` + Foreign)

// loops matches what reads "$1" and the like without naming it.
var loops = lazyregexp.New(`\b(?:for|select|eval|source|getopts|shift|set|trap|alias|bind|complete|functions)\b|(?:^|[\s;&|(])\.\s`)

// printers matches what prints variables that it does not name.
var printers = lazyregexp.New(`\b(?:env|printenv|export|set|declare|typeset|compgen|readonly|local|environ|envsubst)\b`)

// moves matches what changes the working directory.
var moves = lazyregexp.New(`\b(?:cd|pushd)\b`)

// parse returns the syntax of a script, nil if shells can read it in different ways.
func (s Script) parse() *syntax.File {
	brackets := strings.Count(s.Text, "(") + strings.Count(s.Text, "{") + strings.Count(s.Text, "[") + strings.Count(s.Text, "`")
	if len(s.Text) > MaxScript || brackets > maxNesting || unclear.Get().MatchString(s.Text) {
		return nil
	}
	variant := syntax.LangPOSIX // sh can be any shell
	if s.Shell == "bash" {
		variant = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(s.Text), "")
	if err != nil {
		return nil
	}
	return file
}

// uses reports whether a script has a value, or can read one in a variable.
func (s Script) uses(file *syntax.File) (uses bool) {
	if strings.Contains(s.Text, Value) {
		return true
	}
	if !s.Positional && len(s.Exported) == 0 {
		return false
	}
	if s.Positional && loops.Get().MatchString(s.Text) || strings.Contains(s.Text, Unknown) || len(s.Exported) > 0 && printers.Get().MatchString(s.Text) {
		return true // an inserted text can also be the name of a variable
	}
	for name := range s.Exported {
		uses = uses || strings.Contains(s.Text, name) // also without a dollar sign, in arithmetic
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			uses = uses || n.Param == nil || n.Excl || s.holds(n.Param.Value)
		case *syntax.CallExpr:
			r := reader{Script: s}
			words := r.words(n.Args)
			uses = uses || len(s.Exported) > 0 && len(words) > 0 && (!words[0].constant || r.inherits(words))
		}
		return true
	})
	return uses
}

// holds reports whether a parameter has its value in the variable with a name.
func (s Script) holds(name string) bool {
	last := []string{"_", "BASH_COMMAND", "BASH_EXECUTION_STRING", "ZSH_EXECUTION_STRING", "BASH_ARGV"} // of a command before
	moved := (name == "PWD" || name == "OLDPWD") && moves.Get().MatchString(s.Text)
	return s.Exported[name] || moved || slices.Contains(last, name) || s.Positional && (name == "argv" || name == "@" || name == "*" || name != "0" && strings.Trim(name, "0123456789") == "")
}

// flows returns the variables of a script that can hold a value.
func (s Script) flows(file *syntax.File) map[string]bool {
	from := map[string][]*syntax.Word{} // what a variable gets
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				from[n.Name.Value] = append(from[n.Name.Value], n.Value)
			}
		case *syntax.WordIter:
			items := n.Items
			if !n.InPos.IsValid() {
				items = []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ParamExp{Param: &syntax.Lit{Value: "@"}}}}}
			}
			from[n.Name.Value] = append(from[n.Name.Value], items...)
		}
		return true
	})
	to := map[string][]string{} // the variables that get the value of a variable
	var found []string
	for name, words := range from {
		for _, w := range words {
			holds, names := s.mentions(w)
			for _, other := range names {
				to[other] = append(to[other], name)
			}
			if holds {
				found = append(found, name)
			}
		}
	}
	holding := map[string]bool{}
	for len(found) > 0 {
		name := found[len(found)-1]
		if found = found[:len(found)-1]; !holding[name] {
			holding[name] = true
			found = append(found, to[name]...)
		}
	}
	return holding
}

// mentions reports whether a word has a value itself, and returns the variables in it.
func (s Script) mentions(w *syntax.Word) (holds bool, names []string) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			holds = holds || strings.Contains(n.Value, Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				names = append(names, n.Param.Value)
				holds = holds || s.holds(n.Param.Value)
			}
		}
		return true
	})
	return holds, names
}

// reader follows the statements of a script. The first reason to refuse it stays.
type reader struct {
	Script
	holding map[string]bool // the variables of the script with values
	exports bool            // a variable with a value can be in the environment
	values  int             // the values in words that are accepted
	used    int             // the words that have a value, inserted or in a variable
	command *syntax.CallExpr
	reason  string
}

// refuse records a reason, with the command that is read, and its line.
func (r *reader) refuse(reason string) {
	if r.reason != "" {
		return
	}
	why, advice, advised := strings.Cut(reason, "; ")
	if r.command != nil && len(r.command.Args) > 0 {
		if name := r.command.Args[0].Lit(); name != "" && len(name) < 50 {
			why += ", in the command " + name
		}
		if strings.Count(r.Text, "\n") > 1 {
			why += fmt.Sprintf(" on line %d", r.command.Pos().Line())
		}
	}
	if r.reason = why; advised {
		r.reason += "; " + advice
	}
}

func (r *reader) statements(all []*syntax.Stmt) {
	for _, s := range all {
		r.statement(s, false)
	}
}

// statement follows a statement. It can have a value in its input.
func (r *reader) statement(s *syntax.Stmt, input bool) {
	before := r.used
	if s.Coprocess || s.Disown || s.Cmd == nil {
		r.refuse(Construct)
	}
	switch n := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(n, input)
	case *syntax.BinaryCmd:
		r.statement(n.X, input)
		piped := n.Op == syntax.Pipe && (r.used > before || input || r.exports)
		if n.Op == syntax.PipeAll {
			r.refuse(Construct)
		}
		r.statement(n.Y, piped)
	default:
		if input {
			r.refuse(piped)
		}
		r.compound(n)
	}
	for _, redirect := range s.Redirs {
		r.redirect(redirect, r.used > before || input)
	}
}

// compound follows a command that contains others.
func (r *reader) compound(command syntax.Command) {
	switch n := command.(type) {
	case *syntax.IfClause:
		r.statements(n.Cond)
		r.statements(n.Then)
		if n.Else != nil {
			r.compound(n.Else)
		}
	case *syntax.WhileClause:
		r.statements(n.Cond)
		r.statements(n.Do)
	case *syntax.ForClause:
		each, ok := n.Loop.(*syntax.WordIter)
		if !ok || n.Select || n.Braces {
			r.refuse(Construct)
			return
		}
		for _, item := range each.Items {
			r.word(item, false)
		}
		r.variable(each.Name.Value)
		r.statements(n.Do)
	case *syntax.CaseClause:
		r.word(n.Word, true)
		for _, item := range n.Items {
			for _, pattern := range item.Patterns {
				if w := r.word(pattern, false); !w.constant || item.Op != syntax.Break {
					r.refuse(Construct)
				}
			}
			r.statements(item.Stmts)
		}
	case *syntax.Block:
		r.statements(n.Stmts)
	case *syntax.Subshell:
		r.statements(n.Stmts)
	case *syntax.TestClause:
		r.test(n.X)
	case *syntax.DeclClause:
		r.declare(n)
	default:
		r.refuse(Construct)
	}
}

// declare follows export and readonly, which give a constant to a variable that never has a value.
func (r *reader) declare(n *syntax.DeclClause) {
	for _, a := range n.Args {
		switch {
		case a.Name == nil || a.Value == nil || a.Index != nil || a.Append:
			r.refuse(Construct)
		case r.word(a.Value, true).holds, r.holding[a.Name.Value]:
			r.refuse(inherited)
		}
	}
	if n.Variant.Value != "export" && n.Variant.Value != "readonly" {
		r.refuse(Construct)
	}
}

// test follows an expression of [[ ]], which splits nothing.
func (r *reader) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		r.word(x, true)
	case *syntax.ParenTest:
		r.test(x.X)
	case *syntax.UnaryTest:
		if !slices.Contains([]syntax.UnTestOperator{syntax.TsNot, syntax.TsEmpStr, syntax.TsNempStr, syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty}, x.Op) {
			r.refuse(Construct)
		}
		r.test(x.X)
	case *syntax.BinaryTest:
		if slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLss, syntax.TsLeq, syntax.TsGtr, syntax.TsGeq}, x.Op) {
			r.numbers(x.X, x.Y)
			return
		}
		if !slices.Contains([]syntax.BinTestOperator{syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.AndTest, syntax.OrTest}, x.Op) {
			r.refuse(Construct)
		}
		r.test(x.X)
		r.test(x.Y)
	default:
		r.refuse(Construct)
	}
}

// numbers follows what a shell evaluates as arithmetic, which must be numbers.
func (r *reader) numbers(all ...syntax.TestExpr) {
	for _, x := range all {
		if w, ok := x.(*syntax.Word); !ok || !r.word(w, true).number() {
			r.refuse(Construct)
		}
	}
}

// redirect follows a redirection of a statement, which can have a value in its output.
func (r *reader) redirect(n *syntax.Redirect, holds bool) {
	w := r.word(n.Word, false)
	switch {
	case n.Hdoc != nil, n.N != nil && strings.Trim(n.N.Value, "0123456789") != "", w.inserted, w.many:
		r.refuse(Construct)
	case n.Op == syntax.DplOut, n.Op == syntax.DplIn:
		if !w.constant || strings.Trim(w.text, "0123456789-") != "" {
			r.refuse(Construct)
		}
	case n.Op == syntax.RdrIn:
	case n.Op == syntax.RdrOut, n.Op == syntax.AppOut, n.Op == syntax.RdrAll:
		if holds && w.text != "/dev/null" {
			r.refuse(piped)
		}
	default:
		r.refuse(Construct)
	}
}
