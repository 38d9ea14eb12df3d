package plain

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// word is what is known about a word of a script. Its text has no quotation marks.
type word struct {
	text     string
	constant bool // the text is known
	holds    bool // the word has a value
	many     bool // it is "$@"
	inserted bool // a part of the text is an [Unknown] of the justfile
}

// number reports whether a word is a number.
func (w word) number() bool {
	return w.constant && w.text != "" && strings.Trim(w.text, "0123456789") == ""
}

var (
	// plain matches the text around a value with which it stays one word in all shells.
	plain = lazyregexp.New(`\A[A-Za-z0-9_./:=,@%+#` + Value + Unknown + `-]*\z`)
	// literal matches text without quotation marks that all shells read in the same way.
	literal = lazyregexp.New(`\A(?:[!"#%&'()*+,\-./0-9:;<=>?@A-Z\[\]^_a-z{|}~` + Unknown + `]|\\[!-~])*\z`)
	// special matches what is a comment if an [Unknown] is empty, and in some shells several words, a variable, or
	// the end of a block.
	special = lazyregexp.New(`\A(?:` + Unknown + `+#|\{[^}]|[{}]\z)|\{.*(?:,|\.\.)`)
	escape  = lazyregexp.New(`\\(.)`)
)

// reserved are variables that zsh reads, and beginnings are those of the names of others that shells read.
var (
	reserved   = []string{"path", "cdpath", "fpath", "mailpath", "manpath", "module_path", "argv", "status", "pipestatus", "options", "prompt", "psvar", "signals", "watch", "aliases", "functions", "commands", "_"}
	beginnings = []string{"BASH", "ZSH", "COMP", "HIST", "READLINE", "KSH", "PS", "ENV", "FPATH", "CDPATH"}
)

// word reads a word. In some places, such as an assignment, the shell keeps it whole.
func (r *reader) word(w *syntax.Word, whole bool) word {
	found := word{constant: true}
	r.parts(w.Parts, whole, &found)
	if found.many && (len(w.Parts) != 1 || found.text != Value) {
		r.refuse(composed)
	}
	found.constant = found.constant && !found.holds && !strings.Contains(found.text, Unknown)
	if found.holds {
		r.used++
	}
	return found
}

// parts reads the parts of a word, or of a text in double quotation marks, which is whole.
func (r *reader) parts(all []syntax.WordPart, whole bool, found *word) {
	for i, part := range all {
		holds := false
		switch n := part.(type) {
		case *syntax.Lit:
			if i > 0 && strings.HasPrefix(n.Value, "[") || special.Get().MatchString(n.Value) || !literal.Get().MatchString(n.Value) {
				r.refuse(Construct)
			}
			found.inserted = found.inserted || strings.Contains(n.Value, Unknown)
			found.text += escape.Get().ReplaceAllString(n.Value, "$1")
		case *syntax.SglQuoted:
			if n.Dollar {
				r.refuse(Construct)
			}
			r.values += strings.Count(n.Value, Value)
			found.holds = found.holds || strings.Contains(n.Value, Value)
			found.text += n.Value
		case *syntax.DblQuoted:
			if n.Dollar {
				r.refuse(Construct)
			}
			r.quoted(n.Parts, found)
		case *syntax.ParamExp:
			holds = r.expansion(n, found)
		case *syntax.CmdSubst:
			holds = r.substitution(n, found)
		default:
			r.refuse(Construct)
		}
		if holds && !whole {
			r.refuse(split)
		}
	}
}

// quoted reads the parts of a text in double quotation marks, in which only a dollar sign is special.
func (r *reader) quoted(all []syntax.WordPart, found *word) {
	for i, part := range all {
		text, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			r.parts(all[i:i+1], true, found)
		case strings.Contains(text.Value, Value):
			r.refuse(Quoted)
		case i > 0 && strings.HasPrefix(text.Value, "["):
			r.refuse(Construct)
		default:
			found.inserted = found.inserted || strings.Contains(text.Value, Unknown)
			found.text += text.Value
		}
	}
}

// expansion reads the expansion of a variable, and reports whether it can have a value.
func (r *reader) expansion(n *syntax.ParamExp, found *word) bool {
	simple := n.Param != nil && n.Flags == nil && !n.Excl && !n.Width && !n.IsSet && n.Split == syntax.OptUnset && n.GlobSubst == syntax.OptUnset &&
		n.RcExpand == syntax.OptUnset && n.NestedParam == nil && n.Index == nil && len(n.Modifiers) == 0 && n.Repl == nil && n.Names == 0
	operators := []syntax.ParExpOperator{
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
	}
	if e := n.Exp; e != nil && (!slices.Contains(operators, e.Op) || e.Word != nil && !plain.Get().MatchString(strings.Trim(e.Word.Lit(), "*")) || e.Word != nil && e.Word.Lit() == "") {
		simple = false
	}
	if n.Slice != nil && (!simple || r.Shell != "bash" || n.Param.Value != "@" || n.Exp != nil || !constant(n.Slice.Offset) || n.Slice.Length != nil) {
		simple = false // but "${@:2}" is more than one word
	}
	if !simple {
		r.refuse(Construct)
		return false
	}
	name := n.Param.Value
	switch {
	case n.Length && n.Exp == nil, name == "#" && n.Exp == nil, name == "?" && n.Exp == nil:
		found.text += "0" // a number
		return false
	case n.Length || !r.holds(name) && !r.holding[name]:
		found.text += Unknown
		found.constant = false
		return false
	}
	found.text += Value
	found.holds, found.many = true, found.many || name == "@"
	return true
}

// constant reports whether an arithmetic expression is a number.
func constant(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && w.Lit() != "" && strings.Trim(w.Lit(), "0123456789") == ""
}

// substitution reads a command whose output becomes a part of a word, and reports whether it can have a value.
func (r *reader) substitution(n *syntax.CmdSubst, found *word) bool {
	before, outside := r.used, r.command
	if n.Backquotes || n.TempFile || n.ReplyVar {
		r.refuse(Construct)
	}
	r.statements(n.Stmts)
	if r.command = outside; r.used > before {
		found.text += Value
		found.holds = true
		return true
	}
	found.text += Unknown
	found.constant = false
	return false
}

// variable refuses a variable with a value that a shell or other programs read.
func (r *reader) variable(name string) {
	begins := func(begin string) bool { return strings.HasPrefix(name, begin) }
	if r.holding[name] && (slices.Contains(reserved, name) || programs.Special(name) || slices.ContainsFunc(beginnings, begins)) {
		r.refuse(evaluated)
	}
}
