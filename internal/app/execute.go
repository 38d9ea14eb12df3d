package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/secret"
)

// UsageError is an error in a command line. It ends the program with Usage.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ExitCode ends a program with another program's exit code, and prints nothing.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Execute builds a command for env, runs it, and returns the exit code. An error goes to
// stderr as one line that starts with the command's name; only main exits. The command's
// Stdout and Stderr omit the secrets of its Env.
func Execute(ctx context.Context, env Env, command func(Env) *cobra.Command) int {
	env, flush := env.guarded()
	defer flush()
	cmd := command(env)
	cmd.SetArgs(env.Args)
	cmd.SetIn(env.Stdin)
	cmd.SetOut(env.Stdout)
	if completing(env.Args) {
		cmd.SetOut(completions{w: env.Stdout, offers: map[string]bool{}})
	}
	cmd.SetErr(env.Stderr)
	cmd.SilenceErrors = true
	cmd.SilenceUsage = true
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetHelpFunc(printHelp)
	if cmd.HasSubCommands() {
		cmd.SetHelpCommand(helpCommand())
	}
	if len(env.Args) > 0 && env.Args[0] == completion {
		checkShells(cmd, env.Args)
	}
	if env.Ready != nil && !ServesClient(env.Args) {
		env.Ready()
	}
	ran, err := cmd.ExecuteContextC(secret.With(ctx, env.Secrets))
	if err == nil {
		return OK
	}
	if code, ok := errors.AsType[ExitCode](err); ok {
		return int(code)
	}
	if f := ran.Flags().Lookup("json"); f != nil && f.Value.String() == "true" {
		printError(env.Stderr, err)
	} else {
		env.Note(ran.CommandPath() + ": " + err.Error())
	}
	if _, usage := errors.AsType[UsageError](err); usage {
		if ran.Name() == help {
			about, _, err := ran.Root().Find(ran.Flags().Args())
			if ran = ran.Root(); err == nil {
				ran = about
			}
		}
		fmt.Fprintf(env.Stderr, "Run `%s --help` for usage.\n", ran.CommandPath())
		return Usage
	}
	return Failed
}

// printError writes an error as JSON, without characters that control a terminal: they are escaped,
// which JSON reads the same.
func printError(w io.Writer, err error) {
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // a string can always be encoded
	fmt.Fprintf(w, "%s\n", cleantext.JSON(text))
}

// Note writes a line to stderr, in the form of [foreign.Notice], so foreign text in it cannot
// imitate lines of copse or control a terminal. At a terminal, it wraps the line between words.
func (e Env) Note(line string) {
	line = foreign.Notice(line)
	if width := Width(e.Stderr); width > 0 {
		line = cleantext.Wrap(line, 0, noteIndent, width)
	}
	fmt.Fprintln(e.Stderr, line)
}

// noteIndent is the indentation of the further lines of a note.
const noteIndent = 2

// Notef formats its arguments and calls Note.
func (e Env) Notef(format string, args ...any) { e.Note(fmt.Sprintf(format, args...)) }

// NoArgs refuses arguments, as a usage error.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(fmt.Sprintf("takes no arguments, got %q", args[0]))
	}
	return nil
}

// Args returns a check for between minimum and maximum arguments. Another number is a usage
// error that names the arguments of the command.
func Args(minimum, maximum int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if n := len(args); n < minimum || n > maximum {
			return UsageError(fmt.Sprintf("got %s, expected %s", counted(n), usage))
		}
		return nil
	}
}

func counted(n int) string {
	if n == 0 {
		return "no arguments"
	}
	return cleantext.Count(n, "argument")
}
