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
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command(env)) }

// Command is the root command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "copse",
		Short: "The developer's working context, for AI assistants and people",
		Long: `copse gives an AI assistant the context a developer works in: the branch and its
stack, the Jira issue behind it, the pull request and its checks.`,
		Example: `  copse context                              # what an assistant would be told
  claude mcp add copse -- copse mcp serve    # let one ask for itself`,
		Version: app.Version(),
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	items := item.Items(env, "copse item", "copse item init")
	items.AddCommand(item.Project(env, "copse item", "copse item init")...)
	root.AddCommand(branch.Command(env), command.Command(env), contextcmd.Command(env), items, mcp.Command(env), repo.Command(env), setup.Command(env), task.Command(env), version(env))
	root.AddCommand(up.Commands(env)...)
	return root
}
