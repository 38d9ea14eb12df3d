package evaluation

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/calls"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// usual are variables that are in the environment of any script.
var usual = []string{"LANG", "LC_ALL", "LOGNAME", "OLDPWD", "PWD", "TERM", "TMPDIR", "TZ", "USER"}

// variables has what each of some variables can contain, if that is a value of a parameter.
type variables map[string]contents

func (v variables) add(name string, c contents) {
	if c.add(v[name]); !c.none() {
		v[name] = c
	}
}

// all returns what the variables together can contain.
func (v variables) all() (all contents) {
	for _, c := range v {
		all.add(c)
	}
	return all
}

// environment returns the variables in the environment of a command, which is the innermost of nodes, and
// of all programs that it runs. What evaluates its environment asks here, and nowhere else.
func (s *script) environment(around []syntax.Node) variables {
	env := maps.Clone(s.exported)
	call, ok := around[len(around)-1].(*syntax.CallExpr)
	if !ok {
		return env
	}
	s.assigned(call, env)
	own := len(call.Args) > 0 && call.Args[0].Lit() == "env" // the word is one for env itself
	before := ""
	for _, arg := range call.Args {
		text, literal := words.Text(arg)
		lead := words.Lead(arg)
		switch at := strings.LastIndex(lead, "="); {
		case !literal && at > 0:
			env.add(calls.Setting(strings.TrimPrefix(lead[:at+1], "-e")), s.holds(arg))
		case own && text == "-i":
			clear(env)
		case own && before == "-u":
			delete(env, text)
		case own && strings.HasPrefix(text, "--unset="):
			delete(env, strings.TrimPrefix(text, "--unset="))
		case !strings.HasPrefix(text, "-") && text != "env" && !strings.Contains(text, "="):
			own = false
		}
		before = text
	}
	return env
}

// assigned adds the variables that are assigned before a command.
func (s *script) assigned(call *syntax.CallExpr, env variables) {
	for _, a := range call.Assigns {
		env.add(a.Name.Value, s.holds(a))
	}
}

// export adds the variables that a node puts into the environment of all programs that run later.
func (s *script) export(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		names := words.Constants(n.Args)
		switch {
		case len(names) == 0:
		case slices.Contains([]string{"set", "shopt", "setopt"}, names[0]) && slices.ContainsFunc(names, AllExport):
			s.exportAll()
		case names[0] == "export": // behind command, or builtin
			s.exports(names[1:])
		case s.functions[names[0]], programs.Builtin(names[0]):
			s.assigned(n, s.exported)
		}
	case *syntax.DeclClause:
		option := func(letter string) bool {
			return slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool {
				return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), letter)
			})
		}
		if !option("x") && (n.Variant.Value != "export" || option("n")) {
			return
		}
		for _, a := range n.Args {
			if a.Name != nil {
				s.exports([]string{a.Name.Value})
			}
		}
	}
}

// exports adds variables to the environment of all programs.
func (s *script) exports(names []string) {
	for _, name := range names {
		if name != "@" {
			s.exported.add(name, s.variable(name))
		}
	}
}

// exportAll adds all variables of the script to the environment of all programs.
func (s *script) exportAll() { s.exports(slices.Collect(maps.Keys(s.origins.names))) }

// AllExport reports whether an argument of a shell, set, shopt, or zsh's setopt exports all variables that
// are assigned later.
func AllExport(arg string) bool {
	return strings.EqualFold(strings.ReplaceAll(arg, "_", ""), "allexport") || strings.HasPrefix(arg, "-") && strings.Contains(arg, "a")
}

// runs records what a constant program of an interpreter evaluates, if it is given something, or has it in
// its environment. The name of the shell matters for a script only.
func (s *script) runs(base, shell, program string, given contents, around []syntax.Node) {
	env := s.environment(around)
	all := env.all()
	switch {
	case program == "" || given.none() && all.none():
	case base == "sh":
		inner := Script{Text: program, Shell: shell, Exported: map[string]bool{}, Positional: !given.none(), depth: s.from.depth + 1}
		for name := range env {
			inner.Exported[name] = true
		}
		if _, reason := inner.Evaluates(Union(s.written, inner.Writes())); reason != "" {
			s.evaluates(given, reason)
			s.evaluates(all, reason)
		}
	case programs.Suspicious(base, program):
		s.evaluates(given, evaluated)
		if strings.Contains(strings.ToLower(program), "env") || starts(program) {
			s.evaluates(all, inherited)
		}
	}
}

// starts reports whether a constant program mentions one that evaluates its environment, or a shell.
func starts(program string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(program, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;()[]{}/", r) }), func(name string) bool {
		return name == "eval" || programs.Includes(name) || programs.Evaluates(name) || programs.Shell(name)
	})
}
