// Package copse is the program copse: its root command, and what belongs to no
// noun.
package copse

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/branch"
	"github.com/copse-dev/copse/internal/cli/command"
	contextcmd "github.com/copse-dev/copse/internal/cli/context"
	"github.com/copse-dev/copse/internal/cli/item"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/repo"
	"github.com/copse-dev/copse/internal/cli/setup"
	"github.com/copse-dev/copse/internal/cli/task"
	"github.com/copse-dev/copse/internal/cli/up"
)

// Run is the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command is the root command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "copse",
		Short: "The developer's working context, for AI assistants and people",
		Long: `copse gives an AI assistant, and you, the context that you work in: the branch and its
stack, the Jira issue behind it, the pull request and its checks, the work items, files,
tasks and prompts of the project.

Results go to stdout: tables at a terminal, tab-separated values in a pipe, JSON with
--json. It ends with 0 for success, 1 when something could not be done, and 2 for a
command line that could not be understood.`,
		Example: `  copse init                        # set up the repository that you are in
  copse context                     # what an assistant would be told
  copse mcp doctor                  # does everything between it and copse work?`,
		Version: app.Version(),
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	var flags item.Flags
	items := item.Items(env, "copse item", "copse item init", &flags)
	items.AddCommand(item.Project(env, "copse item", "copse item init", &flags)...)
	flags.Add(items)
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"begin", "To begin:", []*cobra.Command{setup.Command(env), mcp.Command(env)}},
		{"work", "To see and keep:", []*cobra.Command{
			branch.Command(env), command.Command(env), contextcmd.Command(env), items, repo.Command(env), task.Command(env),
		}},
		{"serve", "To serve each worktree over HTTP:", up.Commands(env)},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(version(env))
	return root
}
