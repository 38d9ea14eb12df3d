package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// contents says what a text can contain.
type contents struct{ inserted, variables bool }

func (c *contents) add(other contents) {
	c.inserted, c.variables = c.inserted || other.inserted, c.variables || other.variables
}

func (c contents) none() bool { return c == contents{} }

// origins say what the variables of a script can contain.
type origins struct {
	// all is everything that any text of the script can contain.
	all contents
	// names has what each variable can contain, and "@" what "$1" and the like can.
	names map[string]contents
	// lettered are the variables whose value is, or can be, the name of another one.
	lettered map[string]bool
	// commands are the variables whose value, or a part of it, is the name of an interpreter or an
	// option that takes a command.
	commands map[string]bool
	// fresh are the variables that have the name of a new file, from mktemp, each time.
	fresh map[string]bool
	// read means that lettered and commands are complete.
	read bool
	// unclear means that any variable can contain anything.
	unclear bool
}

// maxRounds limits how often a script is read to follow values from variable to variable.
const maxRounds = 5

// harmless are the special variables that contain a number, or the options of the shell.
var harmless = []string{"#", "?", "$", "!", "-", "0", "LINENO", "SECONDS", "RANDOM", "EPOCHSECONDS", "UID", "EUID", "PPID", "BASHPID"}

// automatic are the variables that the shell, or a command, sets.
var automatic = []string{"@", "*", "_", "REPLY", "MAPFILE", "OPTARG", "COPROC"}

// variable returns what a variable can contain.
func (s *script) variable(name string) contents {
	o := s.origins
	switch {
	case slices.Contains(harmless, name):
		return contents{}
	case o.unclear, strings.HasPrefix(name, "BASH_"):
		return o.all
	case name == "@", name == "*", strings.Trim(name, "0123456789") == "":
		return o.names["@"]
	case slices.Contains(automatic, name):
		return o.all
	}
	c := o.names[name]
	c.variables = c.variables || s.from.Exported[name]
	return c
}

// holds returns what the text of nodes can contain.
func (s *script) holds(nodes ...syntax.Node) (c contents) {
	for _, n := range nodes {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				if !words.Counts(n) {
					c.add(s.output(n))
				}
				return false
			case *syntax.ProcSubst:
				c.add(s.output(n))
				return false
			case *syntax.ParamExp:
				if !n.Length || n.Excl {
					c.add(s.expansion(n))
				}
			default:
				c.inserted = c.inserted || words.Marked(n)
			}
			return true
		})
	}
	return c
}

func (s *script) expansion(p *syntax.ParamExp) contents {
	if p.Param == nil || p.Excl {
		return s.origins.all
	}
	return s.variable(p.Param.Value)
}

// begin sets what the variables of a script contain at its start.
func (s *script) begin() {
	from := s.from
	s.origins = origins{
		all:      contents{strings.Contains(from.Text, Value), from.Positional || len(from.Exported) > 0},
		names:    map[string]contents{"@": {variables: from.Positional}},
		lettered: map[string]bool{}, commands: map[string]bool{}, fresh: map[string]bool{}, unclear: s.other,
	}
	if len(s.functions) > 0 {
		s.origins.names["@"] = s.origins.all
	}
}

// trace finds out what the variables of a script can contain.
func (s *script) trace() {
	o := &s.origins
	var setters []syntax.Node
	for _, file := range s.files {
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n.(type) {
			case *syntax.Assign, *syntax.ForClause, *syntax.ParamExp, *syntax.CoprocClause, *syntax.CallExpr:
				setters = append(setters, n)
			}
			return true
		})
	}
	for rounds := 0; rounds == 0 || !o.unclear; rounds++ {
		changed := false
		set := func(name string, c contents) {
			if programs.Special(name) {
				s.evaluates(c, evaluated)
			}
			all := o.names[name]
			all.add(c)
			changed = changed || all != o.names[name]
			o.names[name] = all
		}
		for _, n := range setters {
			s.sets(n, set)
		}
		o.read = true
		if !changed {
			return
		}
		o.unclear = o.unclear || rounds == maxRounds
	}
}

// sets calls set for each variable that a node sets.
func (s *script) sets(n syntax.Node, set func(string, contents)) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			return
		}
		if n.Value != nil {
			s.letters(n.Name.Value, n.Value)
			set(n.Name.Value, s.holds(n.Value))
			if programs.Special(n.Name.Value) && !words.Variable(n.Value) {
				s.evaluates(s.file(n.Value), evaluated) // a program reads the file
			}
		}
		if n.Array != nil {
			s.letters(n.Name.Value, n.Array)
			set(n.Name.Value, s.holds(n.Array))
		}
	case *syntax.ForClause:
		if each, ok := n.Loop.(*syntax.WordIter); ok {
			for _, item := range each.Items {
				s.letters(each.Name.Value, item)
				set(each.Name.Value, s.holds(item))
			}
			if !each.InPos.IsValid() {
				s.origins.lettered[each.Name.Value] = true
				set(each.Name.Value, s.variable("@"))
			}
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && n.Exp.Word != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			s.letters(n.Param.Value, n.Exp.Word)
			set(n.Param.Value, s.holds(n.Exp.Word))
		}
	case *syntax.CoprocClause:
		s.origins.unclear = true
	case *syntax.CallExpr:
		s.setsByName(n, set)
	}
}

// letters records that the value of a variable can be the name of another one, or a part of a command.
func (s *script) letters(name string, value syntax.Node) {
	if s.origins.read {
		return
	}
	before, again := s.origins.fresh[name]
	s.origins.fresh[name] = words.Temporary(value) && (before || !again)
	s.origins.commands[name] = s.origins.commands[name] || s.command(value)
	syntax.Walk(value, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ArithmExp:
			return false
		case *syntax.ParamExp:
			return !n.Length && (n.Param == nil || !slices.Contains(harmless, n.Param.Value))
		case *syntax.Lit:
			s.origins.lettered[name] = s.origins.lettered[name] || strings.ContainsFunc(n.Value, words.Letter)
		case *syntax.SglQuoted:
			s.origins.lettered[name] = s.origins.lettered[name] || strings.ContainsFunc(n.Value, words.Letter)
		}
		return true
	})
}

// command reports whether a part of a text is the name of an interpreter, or an option that takes a
// command, or becomes several words with braces.
func (s *script) command(n syntax.Node) (is bool) {
	check := func(text string) {
		is = is || slices.ContainsFunc(strings.Fields(text), func(part string) bool {
			option := strings.HasPrefix(part, "-") && programs.Program{}.TakesCommand(part, false)
			return option || programs.Evaluates(path.Base(part)) || programs.Interprets(path.Base(part))
		})
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			check(n.Value)
			is = is || strings.Contains(n.Value, "{") && strings.ContainsAny(n.Value, ",.")
		case *syntax.SglQuoted:
			check(n.Value)
			is = is || n.Dollar && words.Coded(n.Value)
		case *syntax.ParamExp:
			is = is || n.Param != nil && s.origins.commands[n.Param.Value]
			return n.Exp != nil
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			return false
		}
		return true
	})
	return is
}

// setsByName calls set for the variables whose names are arguments of a builtin command.
func (s *script) setsByName(n *syntax.CallExpr, set func(string, contents)) {
	names := words.Constants(n.Args)
	if len(names) > 0 && names[0] == "read" && !s.other {
		names = append(names[:1], words.Constants(words.WithoutPrompt(n.Args[1:]))...)
	}
	if len(names) == 0 {
		return
	}
	switch names[0] {
	case "", "eval":
		s.origins.unclear = s.origins.unclear || names[0] != "" || !s.editor(n.Args[0])
	case "cd", "pushd":
		for _, name := range []string{"PWD", "OLDPWD", "DIRSTACK"} {
			s.origins.lettered[name] = true
			set(name, s.holds(nodes(n.Args)...))
		}
	case "set":
		set("@", s.origins.all)
	case "printf":
		if len(names) == 1 || !strings.HasPrefix(names[1], "-v") {
			return
		}
		fallthrough
	case "read", "mapfile", "readarray", "getopts", "wait":
		for _, name := range names[1:] {
			name, _, _ = strings.Cut(name, "[")
			for i := range name {
				if i > 0 && name[0] != '-' {
					break // only the name can be attached to an option
				}
				s.origins.lettered[name[i:]] = true
				set(name[i:], s.origins.all)
			}
		}
		s.origins.unclear = s.origins.unclear || names[0] == "read" && slices.Contains(names, "")
	}
}
