// Package task implements "copse task": the recipes of the project's justfile for a person.
package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/xec/terminal"
)

// Command returns "copse task".
func Command(env app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "List, run, and stop the tasks of the project",
		Long: `List, run, and stop the recipes of the justfile in the project's root directory, as an assistant
does with run_just_task. This requires just; see https://just.systems.`,
		Example: `  copse task list
  copse task run test ./internal/...`,
		Args: Own(env, app.Expect(map[string]string{
			"ls":                       "did you mean `copse task list`?",
			"start exec":               "did you mean `copse task run`?",
			"log logs output":          "did you mean `copse task show`?",
			"kill cancel":              "did you mean `copse task stop`?",
			"status":                   "did you mean `copse task ps` or `copse task show`?",
			"new add edit create init": "tasks are recipes of the justfile: change them there",
		})),
		RunE: app.Help,
	}
	cmd.AddCommand(list(env), run(env), ps(env), show(env), stop(env))
	return cmd
}

// Own adds advice to that of a group, for a word that is the name of a task.
func Own(env app.Env, otherwise cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := otherwise(cmd, args)
		if err == nil || cmd.Context() == nil { // help has no context
			return err
		}
		recipes, _ := open(cmd.Context(), env).Recipes(cmd.Context()) // without any, there is no advice
		if !slices.ContainsFunc(recipes, func(r recipe.Recipe) bool { return r.Name == args[0] }) {
			return err
		}
		return app.UsageError(fmt.Sprintf("unknown command %q; to run the task, use `%s`", args[0], cleantext.Command("copse", "task", "run", args[0])))
	}
}

// open finds the justfile.
func open(ctx context.Context, env app.Env) *tasks.Tasks {
	ws := full.Find(ctx, env, "")
	ws.Warn()
	return ws.Tasks()
}

// located adds the directory to an error about a missing justfile.
func located(ctx context.Context, env app.Env, err error) error {
	if _, missing := errors.AsType[recipe.MissingError](err); missing {
		return fmt.Errorf("there is no justfile in %s. Tasks are its recipes; see https://just.systems", foreign.Mention(full.Find(ctx, env, "").Workspace()))
	}
	return err
}

func list(env app.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tasks",
		Long:    "List the tasks. In a pipe, each line has task, groups, and description, separated by tabs.",
		Example: "  copse task list --json",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			recipes, err := open(cmd.Context(), env).Recipes(cmd.Context())
			if err != nil {
				return located(cmd.Context(), env, err)
			}
			out := output.New(env)
			if asJSON {
				return out.JSON(append([]recipe.Recipe{}, recipes...))
			}
			if len(recipes) == 0 {
				env.Note("note: the justfile has no recipes; see https://just.systems")
			}
			var cells [][]string
			for _, r := range recipes {
				cells = append(cells, []string{r.Usage(), strings.Join(r.Groups, ", "), r.Doc})
			}
			return out.Table([]output.Column{{Name: "task", Handle: true}, {Name: "groups"}, {Name: "description", Flexible: true}}, cells)
		},
	}
	output.JSONFlag[[]recipe.Recipe](cmd, &asJSON)
	return cmd
}

func run(env app.Env) *cobra.Command {
	var (
		timeout time.Duration
		yes     bool
	)
	cmd := &cobra.Command{
		Use:   "run TASK [ARGUMENT...]",
		Short: "Run a task",
		Long: `Run a task, and print its output and errors on standard output. The exit code is the task's, or
1 if the task was stopped. A task that already runs does not start again. "copse context" and the
assistants of the project see the end of the output.

In the foreground of a terminal, the task has a terminal, too: it can ask for a password, and start an
editor. What you type goes to the task until it ends. What the terminal shows of it is a part of the
recorded output, so type secrets only where they do not appear. If the input or the output of this command is
not a terminal, and on Windows, the task has no input.

Ctrl+C interrupts the task and gives it 5 seconds to clean up. A second Ctrl+C ends the task at once.
Where a program reads single keys, as an editor does, Ctrl+C is for that program. Ctrl+Z suspends
copse, and the task continues until it prints or reads more.

The flags of this command come before TASK: the words after it are arguments of the task. To pass
the task --timeout or --yes, put -- before TASK.`,
		Example: `  copse task run build
  copse task run --yes deploy staging
  copse task run -- release --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.UsageError("name a task; `copse task list` shows them")
			}
			if cmd.ArgsLenAtDash() < 0 {
				return misplaced(cmd, args[0], args[1:])
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			recipes, _ := open(cmd.Context(), env).Recipes(cmd.Context()) // without any, there are no completions
			var names []cobra.Completion
			for _, r := range recipes {
				names = append(names, cobra.CompletionWithDesc(r.Name, r.Doc))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout < 0 {
				return app.UsageError(fmt.Sprintf("invalid value %v for --timeout: use a positive duration, such as 5m", timeout))
			}
			project := open(cmd.Context(), env)
			defer project.Close()
			if env.Linger != nil {
				env.Linger(running.StopTimeout)
			}
			out := &screen{w: secret.Raw(env.Stdout), person: terminal.Of(env.Stdin, secret.Raw(env.Stdout))}
			done, err := project.Run(cmd.Context(), recipe.Call{
				Name: args[0], Args: slices.Clone(args[1:]), Timeout: timeout, Confirmed: yes, Person: true, Client: running.Person,
				Terminal: out.person,
			}, out)
			if err != nil || done.Problem != "" {
				out.endLine()
			}
			if e, ok := errors.AsType[*failure.Error](err); ok {
				words := failure.Words{StopTask: "`copse task stop ID`"}
				return fmt.Errorf("%s. %s", e.Message(words), strings.TrimSuffix(e.Hint(words), "."))
			}
			switch {
			case err != nil:
				return located(cmd.Context(), env, err)
			case done.Problem != "":
				return errors.New(done.Task + ": " + done.Problem)
			case done.ExitCode != 0:
				return app.ExitCode(done.ExitCode) // just has printed the reason
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the words after the task are its arguments
	f.DurationVar(&timeout, "timeout", recipe.DefaultTimeout, "stop the task after this `duration`")
	f.BoolVar(&yes, "yes", false, "answer yes if the task asks for confirmation")
	return cmd
}

// misplaced refuses a flag of the command among the arguments of a task: a person who puts it last
// expects that it applies.
func misplaced(cmd *cobra.Command, task string, args []string) error {
	for _, arg := range args {
		if arg == "--" {
			return nil
		}
		name, long := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		flag := cmd.LocalNonPersistentFlags().Lookup(name)
		if !long || flag == nil || name == "help" {
			continue
		}
		before := []string{"copse", "task", "run", "--" + name}
		if flag.NoOptDefVal == "" {
			before = append(before, strings.ToUpper(flag.Value.Type()))
		}
		return app.UsageError(fmt.Sprintf("--%s comes before the task: `%s`. To pass it to the task, use `%s`",
			name, cleantext.Command(append(before, task)...), cleantext.Command("copse", "task", "run", "--", task, "--"+name)))
	}
	return nil
}

// screen is what shows the output of a task. It ignores write errors after the reader has gone, so the
// task continues.
type screen struct {
	w      io.Writer
	person *terminal.Person // nil in a pipe
	last   byte
}

func (s *screen) Write(p []byte) (int, error) {
	if len(p) > 0 {
		s.last = p[len(p)-1]
	}
	_, _ = s.w.Write(p)
	return len(p), nil
}

// endLine makes the messages of copse begin a line of the terminal.
func (s *screen) endLine() {
	if s.person != nil && s.last != 0 && s.last != '\n' {
		_, _ = s.Write([]byte("\n"))
	}
}
