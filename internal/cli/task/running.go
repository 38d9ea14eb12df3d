package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

func ps(env app.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List running tasks of all projects",
		Long: `List your running tasks in all projects, started by an assistant or by "copse task run". In a
pipe, each line has ID, task, client, duration, and project, separated by tabs.`,
		Example: "  copse task ps --json",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tasks := open(cmd.Context(), env).Running()
			out := output.New(env)
			if asJSON {
				return out.JSON(append([]running.Task{}, tasks...))
			}
			if len(tasks) == 0 {
				env.Note("note: no task is running; `copse task show` shows the latest run")
			}
			var cells [][]string
			for _, t := range tasks {
				call := strings.Join(append([]string{t.Name}, t.Args...), " ")
				cells = append(cells, []string{t.ID, cleantext.Line(call), t.Client, env.Now().Sub(t.Started).Round(time.Second).String(), cleantext.Line(t.Root)})
			}
			return out.Table([]output.Column{{Name: "id"}, {Name: "task", Flexible: true}, {Name: "started by"}, {Name: "for"}, {Name: "project", Flexible: true, Path: true}}, cells)
		},
	}
	output.JSONFlag[[]running.Task](cmd, &asJSON)
	return cmd
}

func show(env app.Env) *cobra.Command {
	var (
		asJSON bool
		wait   time.Duration
		tail   int
	)
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show the state and the last output of a task run",
		Long: `Show the state and the end of the output of a task run, in any project, started by an assistant
or by "copse task run". Without an ID, show the latest run of this project. copse keeps the last
100 runs, each for three days. The state is running, done, failed, stopped, or lost if the process
that ran the task was killed.`,
		Example: `  copse task show
  copse task show --wait 5m k3j9x2m4ab`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return app.UsageError("name the ID of one task run, or none for the latest; `copse task ps` lists those that run")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return runningIDs(cmd.Context(), env), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if tail < 1 || wait < 0 {
				return app.UsageError("invalid value for --tail or --wait: use at least 1 line, and a positive duration, such as 5m")
			}
			tasks := open(cmd.Context(), env)
			var id string
			if len(args) > 0 {
				id = args[0]
			} else if id = latest(tasks, full.Find(cmd.Context(), env, "").Workspace()); id == "" {
				return errors.New("no task of this project was run; `copse task show ID` shows a run of another project")
			}
			r, err := tasks.Report(cmd.Context(), id, wait)
			if err != nil {
				return err
			}
			out := output.New(env)
			if asJSON {
				return out.JSON(r)
			}
			lines := strings.Split(strings.TrimRight(r.Output, "\n"), "\n")
			for _, line := range lines[max(0, len(lines)-tail):] {
				if err := out.Exact(line + "\n"); err != nil {
					return err
				}
			}
			env.Notef("%s", state(r, env.Now()))
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&wait, "wait", 0, "wait for the end of the task, at most this `duration`")
	f.IntVar(&tail, "tail", 40, "show this `number` of lines")
	output.JSONFlag[runlog.Report](cmd, &asJSON)
	return cmd
}

// latest returns the ID of the latest run in the project at root, "" if there is none.
func latest(t *tasks.Tasks, root string) string {
	runs := t.Latest()
	if i := slices.IndexFunc(runs, func(r runlog.Report) bool { return r.Root == root }); i >= 0 {
		return runs[i].ID
	}
	return ""
}

// state describes the state of a run on one line.
func state(r runlog.Report, now time.Time) string {
	text := fmt.Sprintf("%s (%s): %s", r.Name, r.ID, r.State)
	if r.Problem != "" {
		text += ", " + r.Problem
	}
	switch r.State {
	case runlog.Running:
		text += " for " + now.Sub(r.Started).Round(time.Second).String()
	case runlog.Done, runlog.Failed:
		text += fmt.Sprintf(", exit code %d after %s", r.ExitCode, r.Ended.Sub(r.Started).Round(time.Millisecond))
	case runlog.Stopped, runlog.Lost:
	}
	return cleantext.Line(text)
}

// runningIDs returns the IDs of the running tasks, for the shell to complete.
func runningIDs(ctx context.Context, env app.Env) []cobra.Completion {
	var ids []cobra.Completion
	for _, t := range open(ctx, env).Running() {
		ids = append(ids, cobra.CompletionWithDesc(t.ID, t.Name))
	}
	return ids
}

func stop(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "stop ID...",
		Short: "Stop running tasks",
		Long: `Stop running tasks and their child processes, which have 5 seconds to clean up. "copse task ps"
lists their IDs. An assistant that waits for the task learns that it was stopped.`,
		Example: "  copse task stop k3j9x2m4ab",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.UsageError("name the ID of a running task; `copse task ps` lists them")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return runningIDs(cmd.Context(), env), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return stopAll(cmd.Context(), env, args) },
	}
}

// stopAll stops tasks, up to the first one that cannot be stopped.
func stopAll(ctx context.Context, env app.Env, ids []string) error {
	tasks := open(ctx, env)
	for _, id := range ids {
		stopped, err := tasks.Stop(ctx, id, "copse task stop")
		if err != nil {
			return err
		}
		env.Notef("stopped %s (%s)", stopped.ID, stopped.Name)
	}
	return nil
}
