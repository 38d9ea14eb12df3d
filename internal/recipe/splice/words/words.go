// Package words reads the words of a shell command.
package words

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Value represents an inserted value in the text of a script.
const Value = "\ue000"

// Text returns the text of a word without its quotation marks, and whether it is a constant.
func Text(w *syntax.Word) (text string, literal bool) {
	var b strings.Builder
	literal = true
	syntax.Walk(w, func(n syntax.Node) bool {
		literal = literal && !Marked(n)
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
			literal = literal && (!n.Dollar || !Coded(n.Value))
		case *syntax.ParamExp:
			literal = literal && n.Param != nil && slices.Contains([]string{"#", "?", "$", "!", "-"}, n.Param.Value)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			literal = false
		}
		return true
	})
	return b.String(), literal
}

// Marked reports whether a node is a text with an inserted value.
func Marked(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Lit:
		return strings.Contains(n.Value, Value)
	case *syntax.SglQuoted:
		return strings.Contains(n.Value, Value)
	}
	return false
}

// Coded reports whether a text has escapes for characters by their number.
func Coded(text string) bool {
	for i := range len(text) - 1 {
		if text[i] == '\\' && strings.IndexByte("xuUc01234567", text[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// Lead returns the constant text at the beginning of a word.
func Lead(w *syntax.Word) string {
	var b strings.Builder
	ended := false
	syntax.Walk(w, func(n syntax.Node) bool {
		text := ""
		switch n := n.(type) {
		case *syntax.Lit:
			text = n.Value
		case *syntax.SglQuoted:
			text = n.Value
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			ended = true
		}
		before, _, found := strings.Cut(text, Value)
		if !ended {
			b.WriteString(before)
		}
		ended = ended || found
		return !ended
	})
	return b.String()
}

// Tail returns the constant text at the end of a word.
func Tail(w *syntax.Word) (tail string) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			tail += n.Value
		case *syntax.SglQuoted:
			tail += n.Value
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			tail = ""
			return false
		}
		return true
	})
	if at := strings.LastIndex(tail, Value); at >= 0 {
		tail = tail[at+len(Value):]
	}
	return tail
}

// Temporary reports whether a text is the name of a new file, from mktemp.
func Temporary(n syntax.Node) (is bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		is = is || ok && len(call.Args) > 0 && call.Args[0].Lit() == "mktemp"
		return true
	})
	return is
}

// Plain reports whether the constant texts in a word have only characters that nothing evaluates.
func Plain(w *syntax.Word) bool {
	is := true
	check := func(text string) {
		for _, r := range strings.ReplaceAll(text, Value, "") {
			is = is && (Letter(r) || r >= '0' && r <= '9' || strings.ContainsRune("-./:=,@+%~", r))
		}
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			check(n.Value)
		case *syntax.SglQuoted:
			check(n.Value)
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			return false
		case *syntax.ParamExp:
			// Neither the name nor a pattern is a text; a word for another value can be one.
			if n.Exp != nil && n.Exp.Word != nil && !removes(n.Exp.Op) {
				is = is && Plain(n.Exp.Word)
			}
			if n.Repl != nil && n.Repl.With != nil {
				is = is && Plain(n.Repl.With)
			}
			return false
		}
		return true
	})
	return is
}

// removes reports whether an expansion only removes what its pattern matches.
func removes(op syntax.ParExpOperator) bool {
	return slices.Contains([]syntax.ParExpOperator{syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix}, op)
}

// Single reports whether the shell does not split a word into several.
func Single(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.CmdSubst:
			return false
		case *syntax.ParamExp:
			if !part.Length {
				return false
			}
		}
	}
	return true
}

// Many reports whether a word contains all arguments, each as a word of its own.
func Many(w *syntax.Word) bool {
	is := false
	syntax.Walk(w, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok {
			index, isWord := p.Index.(*syntax.Word)
			is = is || p.Param != nil && p.Param.Value == "@" || isWord && index.Lit() == "@"
		}
		return true
	})
	return is
}

// First returns the first word, and "" if there is none or it is not a constant.
func First(args []*syntax.Word) string {
	if len(args) == 0 {
		return ""
	}
	text, literal := Text(args[0])
	if !literal {
		return ""
	}
	return text
}

// Subcommand returns the first argument that is neither an option nor the value of one.
func Subcommand(args []*syntax.Word) string {
	for i := 0; i < len(args); i++ {
		text, literal := Text(args[i])
		switch {
		case literal && (text == "-C" || text == "-c" || text == "-R" || text == "--repo"):
			i++
		case literal && !strings.HasPrefix(text, "-"):
			if text == "config" && len(args) > i+1 {
				return strings.TrimSpace(text + " " + Subcommand(args[i+1:]))
			}
			return text
		case !literal && !strings.HasPrefix(Lead(args[i]), "-"):
			return ""
		}
	}
	return ""
}

// Quoted reports whether a word stays one word whatever its variables contain.
func Quoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return false
		}
	}
	return true
}

// WithoutPrompt returns the arguments of read without the prompt.
func WithoutPrompt(args []*syntax.Word) []*syntax.Word {
	for i, arg := range args {
		text, literal := Text(arg)
		switch {
		case !literal || !strings.HasPrefix(text, "-"):
			return args
		case strings.HasSuffix(text, "p") && i+1 < len(args):
			return slices.Concat(args[:i], args[i+2:])
		}
	}
	return args
}

// Letter reports whether the name of a variable can begin with a character.
func Letter(r rune) bool { return r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' }

// Variable reports whether a word is not a constant.
func Variable(w *syntax.Word) bool {
	_, literal := Text(w)
	return !literal
}

// Constants returns the texts of words, "" for those that are not Constants, without command and builtin.
func Constants(args []*syntax.Word) (texts []string) {
	for _, arg := range args {
		text, literal := Text(arg)
		if !literal {
			text = ""
		}
		if len(texts) > 0 || text != "command" && text != "builtin" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Names reports whether a word begins as the name of a file does.
func Names(w *syntax.Word) bool {
	lead := Lead(w)
	return lead != "" && lead[0] != '-' && lead[0] != '+' && Single(w) && Plain(w)
}

// Expands reports whether a word is a constant with a dollar sign, for a program that expands it.
func Expands(w *syntax.Word) bool {
	text, literal := Text(w)
	return literal && strings.Contains(text, "$")
}

// Unknown reports whether a word names a program that only a command, or a pattern of files, selects.
func Unknown(w *syntax.Word) bool {
	last, selected := "", false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob:
			last, selected = "", true
			return false
		case *syntax.Lit:
			last = n.Value
		case *syntax.SglQuoted:
			last = n.Value
		}
		return true
	})
	name := last[strings.LastIndex(last, "/")+1:]
	return strings.ContainsAny(name, "*?[") && name != "[" && name != "[[" || selected && !strings.Contains(last, "/")
}

// MentionsEnvironment reports whether a word is, or names, what prints the environment. A file such as
// .env does not.
func MentionsEnvironment(w *syntax.Word) bool {
	text, _ := Text(w)
	file := strings.HasPrefix(path.Base(text), ".env") && Plain(w)
	return strings.Contains(strings.ToLower(text), "env") && !file
}

// Index reports whether an index is a number, or all elements.
func Index(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	lit := w.Lit()
	return lit == "@" || lit == "*" || lit != "" && strings.Trim(lit, "0123456789") == ""
}

// maxCommand limits the length of the name of a command in a reason.
const maxCommand = 40

// Command returns the name of the innermost command that nodes are in, with its line; "" if there is none
// with a plain name.
func Command(around []syntax.Node) (name string, line uint) {
	for _, n := range slices.Backward(around) {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && Plain(call.Args[0]) {
			if name, literal := Text(call.Args[0]); literal && len(name) <= maxCommand {
				return name, call.Pos().Line()
			}
		}
	}
	return "", 0
}

// Matches reports whether a word can be a pattern for the names of files.
func Matches(w *syntax.Word) bool {
	text, _ := Text(w)
	return strings.ContainsAny(text, "*?[")
}
