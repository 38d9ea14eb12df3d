package task

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/recipe/running"
)

func ps(env app.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the tasks that run, in every project",
		Long: `List your tasks that run at present: those of this project and of every other one,
whether an assistant or "copse task run" started them.`,
		Example: "  copse task ps --json",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tasks := open(cmd.Context(), env).Running()
			out := output.New(env)
			if asJSON {
				return out.JSON(append([]running.Task{}, tasks...))
			}
			var cells [][]string
			for _, t := range tasks {
				call := strings.Join(append([]string{t.Name}, t.Args...), " ")
				cells = append(cells, []string{t.ID, cleantext.Line(call), t.Client, env.Now().Sub(t.Started).Round(time.Second).String(), cleantext.Line(t.Root)})
			}
			return out.Table([]output.Column{{Name: "id"}, {Name: "task", Flexible: true}, {Name: "started by"}, {Name: "for"}, {Name: "project"}}, cells)
		},
	}
	output.JSONFlag[[]running.Task](cmd, &asJSON)
	return cmd
}

func stop(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "stop ID...",
		Short: "Stop running tasks",
		Long: `Stop tasks that run, with everything that they have started. "copse task ps" lists their
IDs. Whoever waits for a task is told that it was stopped.`,
		Example: "  copse task stop k3j9x2m4ab",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.UsageError("name the ID of a running task; `copse task ps` lists them")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var ids []cobra.Completion
			for _, t := range open(cmd.Context(), env).Running() {
				ids = append(ids, cobra.CompletionWithDesc(t.ID, t.Name))
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
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
