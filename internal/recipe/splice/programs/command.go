package programs

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Command is a program that runs a recipe's lines or its script.
type Command struct {
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// Shell reports whether the command is a POSIX shell with no arguments but options. With a script
// of its own, such as "sh -c SCRIPT", it can do anything with what it gets.
func (c Command) Shell() bool {
	if !posix(c.Command) {
		return false
	}
	for i, arg := range c.Arguments {
		named := i > 0 && strings.HasSuffix(strings.ToLower(c.Arguments[i-1]), "o") && !strings.ContainsAny(arg, " \t\n")
		last := i == len(c.Arguments)-1
		if slices.Contains([]string{"--login", "--norc", "--noprofile", "--posix", "--no-rcs"}, arg) {
			continue
		}
		if !options.Get().MatchString(arg) && !named || strings.HasSuffix(arg, "c") && options.Get().MatchString(arg) && !last {
			return false
		}
	}
	return true
}

// Separates reports whether a program that gets a script and values keeps the values apart from the
// script: it is a POSIX shell, or another interpreter whose last option takes the script. PowerShell and
// the command processor of Windows join them.
func (c Command) Separates() bool {
	c = c.BehindEnv()
	if posix(c.Command) || len(c.Arguments) == 0 {
		return c.Shell()
	}
	base, last := base(c.Command), c.Arguments[len(c.Arguments)-1]
	joins := slices.Contains([]string{"pwsh", "powershell", "cmd"}, base)
	return Of(base) == Interprets && !joins && options.Get().MatchString(last) && strings.ContainsAny(last[len(last)-1:], "ce")
}

// BehindEnv returns the program that env runs, if the command is env.
func (c Command) BehindEnv() Command {
	words := append([]string{c.Command}, c.Arguments...)
	if base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return Command{}
	}
	return Command{words[0], words[1:]}
}

// options matches short options, such as -eu and +x.
var options = lazyregexp.New(`\A[-+][a-zA-Z]+\z`)

// posix reports whether a program is a shell that reads quotation marks as POSIX does.
func posix(program string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}, base(program))
}

// Words returns the program and its arguments.
func (c Command) Words() []string { return append([]string{c.Command}, c.Arguments...) }

// With returns the command with arguments of a dump.
func (c Command) With(args []any) Command {
	for _, arg := range args {
		text, _ := arg.(string)
		c.Arguments = append(c.Arguments, text)
	}
	return c
}

// Selects reports whether the word after an option of nix-shell or nix is the interpreter of a script.
func Selects(option string) bool { return slices.Contains([]string{"-i", "-c", "--command"}, option) }

// Language is what reads a script.
type Language int

// The languages of scripts.
const (
	Other Language = iota // copse does not know how it reads the values
	Shell                 // a POSIX shell
	Code                  // a programming language, whose arguments and environment are data
)

// LanguageOf returns the language of a script for a program with arguments, which can be behind env, and the
// name of the program, without a version.
func LanguageOf(words []string) (language Language, name string) {
	if len(words) == 0 {
		return Other, ""
	}
	c := Command{Command: words[0], Arguments: words[1:]}.BehindEnv()
	name = interpreter(base(c.Command))
	switch {
	case c.Shell():
		return Shell, name
	case slices.ContainsFunc(c.Arguments, func(arg string) bool { return IsShell(arg) || Of(arg) == Evaluates }):
	case slices.Contains(languages, name), slices.Contains(scripting, name):
		return Code, name
	}
	return Other, name
}

// scripting are programs that run scripts in their languages, beside those that are programs of their own.
var scripting = []string{"uv", "go", "gorun", "rust-script", "tsx", "ts-node", "elixir", "swift", "kotlin", "scala", "dotnet", "groovy", "crystal", "runghc", "ocaml", "racket"}

// AllExport reports whether an argument of a shell exports all variables that are assigned later.
func AllExport(arg string) bool {
	return strings.EqualFold(strings.ReplaceAll(arg, "_", ""), "allexport") || strings.HasPrefix(arg, "-") && strings.Contains(arg, "a")
}
