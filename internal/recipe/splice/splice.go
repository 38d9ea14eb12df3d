// Package splice finds the parameters of recipes whose values become part of a script, so that an
// argument could end the author's text and begin another command.
//
// [Analyze] reads the output of "just --dump --dump-format json". A parameter is spliced where
// {{x}} is in a body, also inside quotation marks, which an argument can close, and also through an
// expression, a default value, or a dependency that receives it. It is not spliced where the recipe
// reads it as "$1" or "$x", nor where {{quote(x)}} is in a POSIX shell script, if package plain accepts
// the script. If the analysis does not support an expression, the parameter counts as spliced.
package splice

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/lines"
	"github.com/copse-dev/copse/internal/recipe/splice/programs"
)

// Recipes are the spliced parameters of each recipe, with the reason: the first key is
// the recipe's full name, such as "module::recipe", the second one the parameter's.
type Recipes map[string]map[string]string

// module is the relevant part of a dump.
type module struct {
	Assignments map[string]struct {
		Value  any  `json:"value"`
		Export bool `json:"export"`
	} `json:"assignments"`
	Modules  map[string]*module `json:"modules"`
	Recipes  map[string]*recipe `json:"recipes"`
	Settings struct {
		Shell             *programs.Command `json:"shell"`
		WindowsShell      *programs.Command `json:"windows_shell"`
		WindowsPowerShell bool              `json:"windows_powershell"`
		DefaultScript     bool              `json:"default_script"`

		PositionalArguments bool `json:"positional_arguments"`
		Export              bool `json:"export"`
		IgnoreComments      bool `json:"ignore_comments"`
		Lists               bool `json:"lists"`

		DotenvCommand  any  `json:"dotenv_command"`
		DotenvFilename any  `json:"dotenv_filename"`
		DotenvLoad     bool `json:"dotenv_load"`
		DotenvOverride bool `json:"dotenv_override"`
		DotenvPath     any  `json:"dotenv_path"`
		DotenvRequired bool `json:"dotenv_required"`
	} `json:"settings"`
	functions map[string]bool
	known     *Known
	parent    *module // whose exported variables the recipes have, too
	// Values of assignments can use each other many times, so what they are is decided once.
	unknown   map[string]bool
	variables map[string]bool    // those in the environment; nil until inherited needs them
	texts     map[string]*string // their texts, nil if they are not constants
	// constants limits the text of constants that recipes insert, for the whole justfile.
	constants *budget
}

type recipe struct {
	Attributes   []any   `json:"attributes"`
	Body         [][]any `json:"body"`
	Dependencies []struct {
		Arguments []any  `json:"arguments"`
		Recipe    string `json:"recipe"`
		Star      any    `json:"star"`
	} `json:"dependencies"`
	Parameters []parameter `json:"parameters"`
	Script     bool        `json:"shebang"`

	module   *module
	named    map[string]int    // the positions of the parameters, from 1; nil until has needs them
	program  []string          // what runs it; nil until interpreter needs it
	exported map[string]bool   // those in the environment; nil until environment needs them
	spliced  map[string]string // nil until known
	rough    map[string]bool   // the parameters that a default value or a dependency gives more than plain text
	joined   bool              // the lines of the body are commands
	all      bool              // the marks of variables are complete
}

type parameter struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Default any    `json:"default"`
	Export  bool   `json:"export"`
}

// Known is what the dump of a justfile does not contain.
type Known struct {
	// Functions are the names of those that the justfile and its modules define: their effect is unknown.
	Functions []string
	// Interpreter is the program for scripts that name none, nil if it is unknown.
	Interpreter []string
	// Environment are the names of the variables that recipes inherit.
	Environment []string

	environment map[string]bool
	dotenv      bool // files set variables, too
}

// Analyze returns the spliced parameters.
func Analyze(dump []byte, known Known) (Recipes, error) {
	var top module
	if err := json.Unmarshal(dump, &top); err != nil {
		return nil, fmt.Errorf("read the justfile's dump: %w", err)
	}
	functions := make(map[string]bool, len(known.Functions))
	for _, name := range known.Functions {
		functions[name] = true
	}
	known.environment = make(map[string]bool, len(known.Environment))
	for _, name := range known.Environment {
		known.environment[name] = true
	}
	top.define(&known, functions, &budget{left: maxConstants, scripts: maxScripts})
	found := Recipes{}
	top.each("", func(_ string, r *recipe) { r.roughen() })
	top.each("", func(name string, r *recipe) { found[name] = r.analyze() })
	return found, nil
}

// define sets the justfile's functions, and what runs its scripts, in a module and its submodules.
func (m *module) define(known *Known, functions map[string]bool, constants *budget) {
	m.known = known
	known.dotenv = known.dotenv || m.readsDotenv()
	m.functions, m.unknown, m.texts, m.constants = functions, map[string]bool{}, map[string]*string{}, constants
	for _, sub := range m.Modules {
		sub.parent = m
		sub.define(known, functions, constants)
	}
}

// isUnknown reports whether the value of an assignment, which no parameter is visible to, is unknown. It
// remembers the answer.
func (m *module) isUnknown(name string) bool {
	answer, ok := m.unknown[name]
	if !ok {
		m.unknown[name] = false // just refuses circles
		answer = (&recipe{module: m}).unknown(m.Assignments[name].Value)
		m.unknown[name] = answer
	}
	return answer
}

// each calls do with every recipe of a module and its submodules, in the same order each time.
func (m *module) each(prefix string, do func(string, *recipe)) {
	for _, r := range m.Recipes {
		r.module = m
	}
	for _, name := range slices.Sorted(maps.Keys(m.Recipes)) {
		do(prefix+name, m.Recipes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(m.Modules)) {
		m.Modules[name].each(prefix+name+"::", do)
	}
}

// command returns the program that runs the lines of recipes.
func (m *module) command() programs.Command {
	s := m.Settings
	switch {
	case runtime.GOOS == "windows" && s.WindowsPowerShell:
		return programs.Command{Command: "powershell.exe", Arguments: []string{"-NoLogo", "-Command"}}
	case runtime.GOOS == "windows" && s.WindowsShell != nil:
		return *s.WindowsShell
	case s.Shell != nil:
		return *s.Shell
	}
	return programs.Command{Command: "sh", Arguments: []string{"-cu"}}
}

// analyze returns the spliced parameters of a recipe.
func (r *recipe) analyze() map[string]string {
	if r.spliced != nil {
		return r.spliced
	}
	r.spliced = map[string]string{}
	if len(r.Parameters) == 0 {
		return r.spliced
	}
	if !r.joined && !r.isScript() {
		r.joined = true
		r.Body = lines.Joined(r.Body, r.module.Settings.IgnoreComments)
	}
	for _, p := range r.Parameters {
		interactive := p.Name == programs.Startup && slices.ContainsFunc(r.interpreter(), programs.Interactive)
		if r.exports(p.Export) && (programs.Special(p.Name) || interactive) {
			r.mark(p.Name, special)
		}
	}
	r.attributes()
	r.body()
	r.dependencies()
	// A default value can use earlier parameters.
	for _, p := range slices.Backward(r.Parameters) {
		r.commands(p.Default)
		if _, ok := r.spliced[p.Name]; ok {
			r.markAll(p.Default, defaulted(p.Name, r.spliced[p.Name]))
		}
	}
	return r.spliced
}

// roughen finds parameters that get more than plain text from a default value or a dependency.
func (r *recipe) roughen() {
	for _, p := range r.Parameters {
		r.give(p.Name, p.Default, r)
	}
	for _, d := range r.Dependencies {
		to := r.module.find(d.Recipe)
		if to == nil {
			continue
		}
		for i, e := range d.Arguments {
			if len(to.Parameters) > 0 {
				to.give(to.Parameters[min(i, len(to.Parameters)-1)].Name, e, r)
			}
		}
	}
}

// give records that a parameter gets the value of an expression of a recipe.
func (r *recipe) give(name string, e any, from *recipe) {
	if e == nil || !from.unknown(e) {
		return
	}
	if r.rough == nil {
		r.rough = map[string]bool{}
	}
	r.rough[name] = true
}

// mark records that a parameter is spliced; the first reason stays.
func (r *recipe) mark(name, reason string) {
	if _, ok := r.spliced[name]; !ok && r.has(name) {
		r.spliced[name] = r.advised(name, reason)
	}
}

// markAll records it for all parameters in an expression.
func (r *recipe) markAll(e any, reason string) {
	for _, name := range r.mentioned(e) {
		r.mark(name, reason)
	}
}

// mentioned returns the parameters in an expression. A condition selects a value and is not a part of it.
func (r *recipe) mentioned(e any) []string {
	var names []string
	switch e := e.(type) {
	case []any:
		if name, ok := variable(e); ok && r.has(name) {
			return []string{name}
		}
		if condition(e) {
			e = e[2:]
		}
		for _, part := range e {
			names = append(names, r.mentioned(part)...)
		}
	case map[string]any:
		for _, part := range e {
			names = append(names, r.mentioned(part)...)
		}
	}
	return names
}

// condition reports whether an expression is a conditional one. A line can have the same texts.
func condition(e []any) bool {
	if len(e) != 4 || e[0] != "if" {
		return false
	}
	compared, _ := e[1].([]any)
	return len(compared) == 3 && slices.Contains([]any{"==", "!=", "=~", "!~"}, compared[0])
}

func (r *recipe) has(name string) bool {
	if r.named == nil {
		r.named = make(map[string]int, len(r.Parameters))
		for i, p := range r.Parameters {
			r.named[p.Name] = i + 1
		}
	}
	return r.named[name] > 0
}

// variable returns the name if an expression is one.
func variable(e []any) (string, bool) {
	if len(e) != 2 || e[0] != "variable" {
		return "", false
	}
	name, ok := e[1].(string)
	return name, ok
}

// attributes finds parameters in attributes. just only prints a question and a comment.
func (r *recipe) attributes() {
	for _, a := range r.Attributes {
		fields, ok := a.(map[string]any)
		if !ok {
			r.markAll(a, attribute)
		}
		for name, value := range fields {
			if r.commands(value); name != "confirm" && name != "doc" {
				r.markAll(value, attribute)
			}
		}
	}
}

// dependencies finds parameters that are passed on to recipes that splice them.
func (r *recipe) dependencies() {
	for _, d := range r.Dependencies {
		for _, e := range d.Arguments {
			r.commands(e)
		}
		to := r.module.find(d.Recipe)
		if to == nil || d.Star != nil {
			r.markAll(d.Arguments, passedOn+d.Recipe)
			r.markAll(d.Star, passedOn+d.Recipe)
			continue
		}
		if to.module == nil {
			to.module = r.module
		}
		spliced := to.analyze()
		constants := false // before a value, in the parameter that takes several
		for i, e := range d.Arguments {
			if len(to.Parameters) == 0 {
				break
			}
			p := to.Parameters[min(i, len(to.Parameters)-1)]
			many := p.Kind == "star" || p.Kind == "plus"
			if reason, ok := spliced[p.Name]; ok {
				r.markAll(e, passed(d.Recipe, p.Name, reason))
			} else if composed(e) || many && constants {
				r.markAll(e, passedOn+d.Recipe+composedArgument)
			}
			constants = constants || many && len(r.mentioned(e)) == 0
		}
	}
}

// find returns a recipe by its name in a module, nil if it does not exist.
func (m *module) find(name string) *recipe {
	for {
		first, rest, nested := strings.Cut(name, "::")
		if !nested {
			break
		}
		if m = m.Modules[first]; m == nil {
			return nil
		}
		name = rest
	}
	found := m.Recipes[name]
	if found != nil && found.module == nil {
		found.module = m
	}
	return found
}
