// Package recipe lists and runs the recipes of a project's justfile with the program
// just.
//
// Make a [Justfile] with [New]. [Justfile.Recipes] are the public ones, as just itself
// understands the file; they are kept until the file, or one that it imports, changes.
// [Justfile.Run] runs one. It guarantees that
//
//   - only a recipe of the project's own justfile is run: a name that just would take
//     for an option, a path, a variable or another directory's recipe is refused, and so
//     are more arguments than the recipe takes, which would be further recipes;
//   - an argument that the recipe makes a part of a script is plain text, in which a shell
//     finds no command, unless a person typed it: see package splice;
//   - a recipe that no person started does not see the user's credentials, unless the user
//     allows it;
//   - the variables JUST_… of the environment, which change what just does, do not
//     count;
//   - one recipe runs once at a time; a second run is a [*BusyError], which names the first
//     one; [Justfile.Stop] ends it from any process of the user;
//   - when it is stopped, by the context or its time limit, nothing of it is left: see
//     [xec.Stream].
//
// What a recipe prints is kept in an [Output]: its beginning and its end. The last run
// is remembered in a file, for later questions about the run: see [Journal].
package recipe

import (
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// Recipe is one recipe.
type Recipe struct {
	// Name is as it is run: that of a module's recipe is "module::recipe".
	Name string `json:"name"`
	// Doc is the comment before it.
	Doc        string      `json:"doc,omitempty"`
	Groups     []string    `json:"groups,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	// Aliases are other names of it.
	Aliases []string `json:"aliases,omitempty"`
	// Confirm says that just asks before it runs the recipe.
	Confirm bool `json:"confirm,omitempty"`

	// credentials are the variables with logins that its text names.
	credentials []string
}

// Parameter is what a recipe takes.
type Parameter struct {
	Name string `json:"name"`
	// Default is the value as the justfile writes it, if the parameter has one.
	Default string `json:"default,omitempty"`
	// Optional says that there need be no argument, Many that there can be several.
	Optional bool `json:"optional,omitempty"`
	Many     bool `json:"many,omitempty"`
	// Option is the flag that the parameter is given with, if it is not given by its
	// place.
	Option string `json:"option,omitempty"`
	// Spliced says how the value becomes a part of a script; "" if it does not.
	Spliced string `json:"spliced,omitempty"`
}

// Usage returns the recipe with its parameters as just lists it: "build target='all' *flags".
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

// accepts checks the number of arguments. Options are left to just.
func (r Recipe) accepts(args []string) error {
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

// checkSpliced refuses arguments that are not plain where they become a part of a script.
func (r Recipe) checkSpliced(args []string) error {
	options := r.hasOptions()
	for i, arg := range args {
		if plain(arg) {
			continue
		}
		for at, p := range r.Parameters {
			// just decides which argument of a recipe with options goes where.
			takes := options || at == i || at == len(r.Parameters)-1 && i > at
			if takes && p.Spliced != "" {
				return &SplicedError{Recipe: r.Name, Argument: arg, Parameter: p, Position: at + 1}
			}
		}
	}
	return nil
}

// plain reports whether a text means itself wherever a script has it.
func plain(arg string) bool {
	return strings.IndexFunc(arg, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !letter && (c < '0' || c > '9') && !strings.ContainsRune("-_./:=,@+", c)
	}) < 0
}

// SplicedError says that an argument could change what a recipe does.
type SplicedError struct {
	Recipe   string
	Argument string
	// Parameter takes the argument, at a position from 1 on.
	Parameter Parameter
	Position  int
}

// maxShown is how many characters of an argument an error shows.
const maxShown = 60

func (e *SplicedError) Error() string {
	name := e.Parameter.Name
	return fmt.Sprintf("%s: the argument %q is refused, because it could run commands of its own: %s becomes a part of a script (%s). "+
		"Such an argument can have letters, digits and -_./:=,@+ only. "+
		"To allow any argument, change the justfile: write {{quote(%s)}} outside of quotation marks, "+
		"or add \"set positional-arguments\" and use \"$%d\"",
		e.Recipe, cleantext.Cut(cleantext.Line(e.Argument), maxShown), name, e.Parameter.Spliced, name, e.Position)
}

func (r Recipe) hasOptions() bool {
	for _, p := range r.Parameters {
		if p.Option != "" {
			return true
		}
	}
	return false
}

// UnknownError says that there is no such recipe.
type UnknownError struct {
	Name string
	// Known are the recipes that there are.
	Known []Recipe
}

// maxNamed is how many recipes an error names.
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

// ArgumentsError says that a recipe takes another number of arguments.
type ArgumentsError struct {
	Recipe Recipe
	Given  int
}

func (e *ArgumentsError) Error() string {
	// The defaults of parameters are text of whoever wrote the justfile.
	return fmt.Sprintf("%s takes other arguments than the %d given: %s", e.Recipe.Name, e.Given, foreign.Name(e.Recipe.Usage()).Markdown())
}

// BusyError says that a recipe runs already, here or in another process.
type BusyError struct {
	Name string
	// Task is the run, if it is known.
	Task *running.Task
}

func (e *BusyError) Error() string {
	if e.Task == nil {
		return e.Name + " is running already; wait until it has ended"
	}
	return fmt.Sprintf("%s is running already, as task %s: started by %s at %s (process %d)",
		e.Name, e.Task.ID, e.Task.Client, e.Task.Started.Format(time.RFC3339), e.Task.Owner.PID)
}

// FileError says why the project's justfile cannot be used.
type FileError struct {
	// Problem is for showing; what just said of a mistake is in it.
	Problem string
}

func (e *FileError) Error() string { return e.Problem }

// MissingError says that there is no justfile.
type MissingError struct{}

func (MissingError) Error() string {
	return "There is no justfile in the project root. Tasks are its recipes; see https://just.systems"
}

// NotInstalledError says that the program just is not there.
type NotInstalledError struct{}

func (NotInstalledError) Error() string {
	return "`just` is not installed, or not on the PATH. Get it with `brew install just`, `apt install just`, `cargo install just` or " +
		"`npm install -g rust-just`; see https://just.systems"
}
