// Package tic is the command line of tic, the work-item tracker. Everything in
// it is in copse, too: "tic item list" is "copse item list", and "tic mcp serve"
// is "copse mcp serve --toolsets items", for those who have another tic, the
// compiler of terminal descriptions, on their path.
package tic

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/item"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/item/itemproject"
)

// Run is the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command is the program's command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "tic",
		Short: "Work items in files beside the code",
		Long: `tic keeps work items in a folder .tic of a project, one Markdown file for each, for
people and for their assistants: any number of processes can change them at once,
git can merge them, and an editor can open them.

Another program has this name, too: the compiler of terminal descriptions that comes
with ncurses. All commands are in copse as well: "copse item list" is "tic item list",
"copse item init" is "tic init", and "copse mcp serve --toolsets items" is "tic mcp
serve".`,
		Example: `  tic init
  tic item create "Show the login form" --type issue
  tic item list
  claude mcp add tic -- tic mcp serve`,
		Version: app.Version(),
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	var flags itemcmd.Flags
	root.AddCommand(item.Items(env, "tic item", "tic init", &flags), mcp(env))
	root.AddCommand(itemproject.Commands(itemcmd.Base{Env: env, Program: "tic", InitCommand: "tic init", Flags: &flags})...)
	flags.Add(root)
	return root
}
