package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		if text, ok := expected[args[0]]; ok {
			return UsageError(message + "; " + text)
		}
		if text := suggestion(cmd, args[0]); text != "" {
			return UsageError(message + "; " + text)
		}
		if near := nearest(args[0], slices.Sorted(maps.Keys(expected))...); len(near) > 0 {
			message += "; " + expected[likeliest(args[0], near)]
		}
		return UsageError(message)
	}
}

// suggestion returns a question about commands below cmd whose names are like a word; "" if there
// are none.
func suggestion(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = slips(word)
	if same := below(cmd, word); len(same) > 0 {
		return "did you mean " + either(same) + "?"
	}
	near := append(cmd.SuggestionsFor(word), nearest(word, help)...)
	if len(near) == 0 {
		return ""
	}
	command := cmd.CommandPath() + " " + likeliest(word, near)
	if strings.HasSuffix(command, " "+help) { // it comes before the topic
		command = cmd.Root().Name() + " " + help + strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	}
	return fmt.Sprintf("did you mean `%s`?", command)
}

// likeliest returns the first of some names with the letters of a word in another order, or else the
// first.
func likeliest(word string, near []string) string {
	return near[max(0, slices.IndexFunc(near, func(name string) bool { return swapped(word, name) }))]
}

// slips is how many letters of a word can be wrong: two of three make another word.
func slips(word string) int {
	if len(word) <= len("foo") {
		return 1
	}
	return 2
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

// swapped reports whether two words have the same letters in another order. That slip is more likely
// than two wrong letters.
func swapped(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b))))
}

// nearest returns those of some names that a slip of the keyboard turns into word.
func nearest(word string, names ...string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: slips(word)}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(word)
}

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
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "duration" {
		return UsageError(fmt.Sprintf("invalid value %q for --%s: use a number with a unit, such as 90s, 30m, or 2h", bad.GetValue(), bad.GetFlag().Name))
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return UsageError(err.Error())
	}
	text, name := err.Error(), missing.GetSpecifiedName()
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if near := nearest(name, flags...); missing.GetSpecifiedShortnames() == "" && len(near) > 0 {
		text += "; did you mean --" + near[0] + "?"
	}
	return UsageError(text)
}

// completion is the name of the command that prints the completions of a shell.
const completion = "completion"

// checkShells makes the command "completion" refuse the name of an unknown shell. Cobra shows its help
// instead, which a shell would run.
func checkShells(cmd *cobra.Command, args []string) {
	cmd.InitDefaultCompletionCmd(args...)
	for _, c := range cmd.Commands() {
		if c.Name() == completion {
			c.Args, c.RunE = Subcommands, Help
		}
	}
}
