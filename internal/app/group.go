package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/suggest"
)

// Subcommands checks the arguments of a command that only groups others: an unknown word is a usage
// error.
func Subcommands(cmd *cobra.Command, args []string) error { return Expect(nil)(cmd, args) }

// Expect returns a group as [Subcommands] does, with advice for words that people try because other
// programs have such a command. The keys of advice can be several words, separated by spaces.
func Expect(advice map[string]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		expected := map[string]string{} // by word
		for words, text := range advice {
			for word := range strings.FieldsSeq(words) {
				expected[word] = text
			}
		}
		message := fmt.Sprintf("unknown command %q", args[0])
		if text := suggestion(cmd, args[0], expected); text != "" {
			message += "; " + text
		}
		return UsageError(message)
	}
}

// suggestion returns advice about a word that no command below cmd has as its name; "" if there is
// none. expected is advice by word.
func suggestion(cmd *cobra.Command, word string, expected map[string]string) string {
	if text, ok := expected[word]; ok {
		return text
	}
	if same := below(cmd, word); len(same) > 0 {
		return "did you mean " + either(same) + "?"
	}
	names := []string{help}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	commands := len(names)
	near := suggest.Near(word, append(names, slices.Sorted(maps.Keys(expected))...))
	var paths []string
	for _, name := range near {
		if slices.Contains(names[:commands], name) {
			paths = append(paths, path(cmd, name))
		}
	}
	switch {
	case len(paths) > 0:
		return "did you mean " + either(paths) + "?"
	case len(near) > 0:
		return expected[near[0]]
	case commands-1 <= few:
		return "use " + either(names[1:])
	}
	return ""
}

// few is how many commands a message can list.
const few = 6

// path returns the command line of a command below cmd, in backticks. Help comes before its topic.
func path(cmd *cobra.Command, name string) string {
	root := cmd.Root().Name()
	if name == help {
		return "`" + root + " " + help + strings.TrimPrefix(cmd.CommandPath(), root) + "`"
	}
	return "`" + cmd.CommandPath() + " " + name + "`"
}

// either joins the names of commands for a question.
func either(names []string) string {
	last := len(names) - 1
	switch last {
	case 0:
		return names[0]
	case 1:
		return names[0] + " or " + names[1]
	}
	return strings.Join(names[:last], ", ") + ", or " + names[last]
}

// help is the name of the command that shows help. Cobra never suggests it.
const help = "help"

// below returns the paths of the commands below cmd that have a name, in backticks.
func below(cmd *cobra.Command, name string) []string {
	var same []string
	for _, c := range cmd.Commands() {
		if c.Name() == name && c.IsAvailableCommand() {
			same = append(same, "`"+c.CommandPath()+"`")
		}
		if !c.Hidden {
			same = append(same, below(c, name)...)
		}
	}
	return same
}

// Help runs a command that only groups others.
func Help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// helpCommand returns the command "help". An unknown topic is a usage error, with the same advice
// as an unknown command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show help for a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if about, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range about.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return UsageError(err.Error())
			}
			if len(rest) > 0 && about.HasSubCommands() {
				return about.ValidateArgs(rest)
			}
			if len(rest) > 0 {
				return UsageError(fmt.Sprintf("`%s` has no command %q", about.CommandPath(), rest[0]))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// flagError returns the message for an error of a flag. For an unknown flag, it suggests the
// nearest one.
func flagError(cmd *cobra.Command, err error) error {
	// An unknown command before the flag is the better explanation: nobody knows its flags.
	if wrong := cmd.ValidateArgs(cmd.Flags().Args()); wrong != nil && cmd.ValidateArgs(nil) == nil {
		return wrong
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if allowed := values(bad.GetFlag().Value.Type()); allowed != "" {
			return UsageError(fmt.Sprintf("invalid value %q for --%s: use %s", bad.GetValue(), bad.GetFlag().Name, allowed))
		}
	}
	name, missing := unknownFlag(err)
	if !missing {
		return UsageError(err.Error())
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if meant := suggest.Flag(name, flags); meant != "" {
		return UsageError(err.Error() + "; did you mean --" + meant + "?")
	}
	for _, c := range cmd.Commands() {
		if c.Name() == name && c.IsAvailableCommand() {
			return UsageError(err.Error() + "; did you mean " + path(cmd, name) + "?")
		}
	}
	return UsageError(err.Error())
}

// values describes the values of a type of flags; "" if the flag explains them itself.
func values(kind string) string {
	switch kind {
	case "duration":
		return "a number with a unit, such as 90s, 30m, or 2h"
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return ""
}

// unknownFlag returns the name or the letter of the flag that an error does not know.
func unknownFlag(err error) (name string, ok bool) {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return "", false
	}
	return missing.GetSpecifiedName(), true
}

// ExpectFlags adds advice for flags that people try because other programs have them. The keys of
// advice can be several flags without their hyphens, separated by spaces; one that ends in "*" is the beginning of names.
func ExpectFlags(cmd *cobra.Command, advice map[string]string) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name, unknown := unknownFlag(err); unknown {
			for names, text := range advice {
				if slices.ContainsFunc(strings.Fields(names), func(pattern string) bool {
					beginning, several := strings.CutSuffix(pattern, "*")
					return name == pattern || several && strings.HasPrefix(name, beginning)
				}) {
					return UsageError(err.Error() + "; " + text)
				}
			}
		}
		return flagError(cmd, err)
	})
}

// completion is the name of the command that prints the completions of a shell.
const completion = "completion"

// checkShells makes the command "completion" refuse the name of an unknown shell. Cobra shows its help
// instead, which a shell would run.
func checkShells(cmd *cobra.Command, args []string) {
	cmd.InitDefaultCompletionCmd(args...)
	for _, c := range cmd.Commands() {
		if c.Name() != completion {
			continue
		}
		c.Args, c.RunE = Subcommands, Help
		for _, shell := range c.Commands() {
			shell.Args = NoArgs
		}
	}
}
