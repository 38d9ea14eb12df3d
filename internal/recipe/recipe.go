// Package recipe lists and runs the recipes of a project's justfile with the program
// just.
//
// Create a [Justfile] with [New]. [Justfile.Recipes] returns the public ones, as just itself
// reads the file; they are cached until the file, or one that it imports, changes.
// [Justfile.Run] runs one. The package guarantees that
//
//   - only a recipe of the project's own justfile runs. It refuses a name that just would
//     interpret as an option, a path, a variable, or another directory's recipe, and
//     more arguments than the recipe takes, which would be further recipes;
//   - an argument that becomes part of a script is plain text, in which a shell
//     finds no command, unless a person typed it: see package splice;
//   - a recipe that no person started does not get the user's credentials, unless the user
//     allows it;
//   - the variables JUST_… of the environment, which change the behavior of just, have no
//     effect;
//   - one recipe runs once at a time; a second run is a [*BusyError], which names the first
//     one; [Justfile.Stop] ends it from any process of the user;
//   - when it is stopped, by the context or its time limit, none of its processes remains: see
//     [xec.Stream].
//
// Package justsource reads the justfile, capture stores the beginning and the end of a recipe's
// output, and a file records the last run, for later questions about it: see [Journal].
package recipe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// Recipe is one recipe.
type Recipe struct {
	// Name is the name to run it by: for a module's recipe, "module::recipe".
	Name string `json:"name"`
	// Doc is the comment before it.
	Doc        string      `json:"doc,omitempty"`
	Groups     []string    `json:"groups,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	// Aliases are its other names.
	Aliases []string `json:"aliases,omitempty"`
	// Confirm means that just asks before it runs the recipe.
	Confirm bool `json:"confirm,omitempty"`

	// credentials are the variables with logins in its text.
	credentials []string
}

// Parameter is a parameter of a recipe.
type Parameter struct {
	Name string `json:"name"`
	// Default is the value in the form of the justfile, if the parameter has one.
	Default string `json:"default,omitempty"`
	// Optional means that the argument may be missing, Many that there can be several.
	Optional bool `json:"optional,omitempty"`
	Many     bool `json:"many,omitempty"`
	// Option is the flag of the parameter, if it is not positional.
	Option string `json:"option,omitempty"`
	// Spliced says how the value becomes part of a script, and after a semicolon, what the author can do;
	// "" if it does not.
	Spliced string `json:"spliced,omitempty"`
}

// Usage returns the recipe with its parameters in the form of just's list: "build target='all'
// *flags".
func (r Recipe) Usage() string {
	var b strings.Builder
	b.WriteString(r.Name)
	for _, p := range r.Parameters {
		b.WriteByte(' ')
		switch {
		case p.Option != "":
			fmt.Fprintf(&b, "[%s]", p.Option)
			continue
		case p.Many && p.Optional && p.Default == "":
			b.WriteByte('*')
		case p.Many:
			b.WriteByte('+')
		}
		b.WriteString(p.Name)
		if p.Default != "" {
			b.WriteString("=" + p.Default)
		}
	}
	return b.String()
}

const (
	// maxArgument is the maximum length of an argument of a program on Linux, and here that of all
	// arguments together.
	maxArgument = 128<<10 - 1
	// maxArguments is the maximum number of arguments.
	maxArguments = 1000
)

// receivable returns what is wrong with arguments that no program can receive, and with those beyond
// the limits; "" for others.
func receivable(args []string) string {
	const instead = "and at most %d are allowed; write the text to a file, and pass its name"
	if len(args) > maxArguments {
		return fmt.Sprintf("there are %s, "+instead, cleantext.Count(len(args), "argument"), maxArguments)
	}
	together := 0
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Sprintf("argument %d contains a null byte, which no program can receive; remove it", i+1)
		}
		if len(arg) > maxArgument {
			return fmt.Sprintf("argument %d has %s, "+instead, i+1, cleantext.Count(len(arg), "byte"), maxArgument)
		}
		together += len(arg)
	}
	if together > maxArgument {
		return fmt.Sprintf("the arguments have %s together, "+instead, cleantext.Count(together, "byte"), maxArgument)
	}
	return ""
}

// accepts checks the arguments and their number. Options are left to just.
func (r Recipe) accepts(args []string) error {
	if problem := receivable(args); problem != "" {
		return &ArgumentsError{Recipe: r, Given: len(args), Problem: problem}
	}
	minimum, maximum := 0, 0
	for _, p := range r.Parameters {
		if p.Option != "" {
			return nil
		}
		if !p.Optional {
			minimum++
		}
		if maximum++; p.Many {
			maximum = int(^uint(0) >> 1)
		}
	}
	if len(args) >= minimum && len(args) <= maximum {
		return nil
	}
	return &ArgumentsError{Recipe: r, Given: len(args)}
}

// checkSpliced refuses arguments that are not plain and become part of a script.
func (r Recipe) checkSpliced(args []string) error {
	options := r.hasOptions()
	for i, arg := range args {
		if plain(arg) {
			continue
		}
		for at, p := range r.Parameters {
			// just assigns the arguments of a recipe with options.
			takes := options || at == i || at == len(r.Parameters)-1 && i > at
			if takes && p.Spliced != "" {
				return &SplicedError{Recipe: r.Name, Argument: arg, Parameter: p}
			}
		}
	}
	return nil
}

// plain reports whether a text means itself everywhere in a script.
func plain(arg string) bool {
	return strings.IndexFunc(arg, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !letter && (c < '0' || c > '9') && !strings.ContainsRune("-_./:=,@+", c)
	}) < 0
}

// SplicedError reports that an argument could change the effect of a recipe.
type SplicedError struct {
	Recipe   string
	Argument string
	// Parameter receives the argument.
	Parameter Parameter
}

// maxShown is the number of displayed characters of an argument in an error.
const maxShown = 60

func (e *SplicedError) Error() string {
	reason, advice, advised := strings.Cut(e.Parameter.Spliced, "; ")
	text := fmt.Sprintf("%s: the argument %q is refused, because it could run other commands: %s becomes part of a script (%s). "+
		"Such an argument can contain only unaccented letters, digits, and -_./:=,@+",
		e.Recipe, cleantext.Cut(cleantext.Line(e.Argument), maxShown), e.Parameter.Name, reason)
	if advised {
		text += ". To allow any argument, change the justfile: " + advice
	}
	return text
}

func (r Recipe) hasOptions() bool {
	return slices.ContainsFunc(r.Parameters, func(p Parameter) bool { return p.Option != "" })
}

// UnknownError reports that the recipe does not exist.
type UnknownError struct {
	Name string
	// Known are the existing recipes.
	Known []Recipe
}

// maxNamed is the number of recipes in an error.
const maxNamed = 40

func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("There is no task %q; the justfile has none", e.Name)
	}
	var names []string
	for _, r := range e.Known[:min(len(e.Known), maxNamed)] {
		names = append(names, r.Name)
	}
	text := fmt.Sprintf("There is no task %q. Tasks: %s", e.Name, strings.Join(names, ", "))
	if more := len(e.Known) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ArgumentsError reports that a recipe takes another number of arguments.
type ArgumentsError struct {
	Recipe Recipe
	Given  int
	// Problem is what is wrong with one of them; empty if their number is wrong.
	Problem string
}

func (e *ArgumentsError) Error() string {
	if e.Problem != "" {
		return e.Recipe.Name + " was not started: " + e.Problem
	}
	// The defaults of parameters are text of the author of the justfile.
	return fmt.Sprintf("%s was called with %s; call it as %s", e.Recipe.Name, cleantext.Count(e.Given, "argument"), foreign.Name(e.Recipe.Usage()).Markdown())
}

// BusyError reports that a recipe is already running, here or in another process.
type BusyError struct {
	Name string
	// Task is the run, if it is known.
	Task *running.Task
}

func (e *BusyError) Error() string {
	if e.Task == nil {
		return e.Name + " is already running; wait until it ends"
	}
	return fmt.Sprintf("%s is already running, as task %s: started by %s at %s (process %d)",
		e.Name, e.Task.ID, e.Task.Starter(), e.Task.Started.Format(time.RFC3339), e.Task.Owner.PID)
}

// MissingError reports that there is no justfile.
type MissingError struct{}

func (MissingError) Error() string {
	return "There is no justfile in the project root. Tasks are its recipes; see https://just.systems"
}

// NotInstalledError reports that the program just is not installed.
type NotInstalledError struct {
	// Skipped is the path of a just in the project, which does not count; "" if there is none.
	Skipped string
}

func (e NotInstalledError) Error() string {
	if e.Skipped != "" {
		return "`just` is installed only in the project, at " + foreign.Mention(e.Skipped) + ", and copse starts no program of the project for itself. " +
			"Install it for your account, too: `brew install just`, `apt install just`, or `cargo install just`; see https://just.systems"
	}
	return "`just` is not installed, or not on the PATH. Get it with `brew install just`, `apt install just`, `cargo install just`, or " +
		"`npm install -g rust-just`; see https://just.systems"
}
