// Package tic implements the command line of tic, the work-item tracker. copse has the same
// commands: "tic item list" is "copse item list", and "tic mcp serve" is "copse mcp serve
// --toolsets items". Use those where tic is the terminfo compiler of ncurses.
package tic

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/item"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/item/itemproject"
)

// Run runs the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command returns the program's command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "tic",
		Short: "Track work items in files next to the code",
		Long: `tic tracks work items in the directory .tic of a project, as one Markdown file for each item.
Several processes can change the items at the same time, git can merge them, and you can edit
them with any editor.

The terminfo compiler of ncurses is also named tic. copse has all commands of this
program under other names: "tic item list" is "copse item list", "tic init" is "copse item init",
and "tic mcp serve" is "copse mcp serve --toolsets items".`,
		Example: `  tic init
  tic item create "Show the login form" --type issue
  tic item list
  claude mcp add tic -- tic mcp serve`,
		Version: app.Version(),
		Args:    app.Expect(expected()),
		RunE:    app.Help,
	}
	var flags itemcmd.Flags
	root.AddCommand(item.Items(env, "tic item", "tic init", &flags), mcp(env))
	root.AddCommand(itemproject.Commands(itemcmd.Base{Env: env, Program: "tic", InitCommand: "tic init", Flags: &flags})...)
	flags.Add(root)
	return root
}

// expected returns advice for words that people try because other programs have such a command.
func expected() map[string]string {
	return map[string]string{
		"ls":                         "did you mean `tic item list`?",
		"new add create":             "did you mean `tic item create TITLE`?",
		"rm remove delete":           "did you mean `tic item delete ID`?",
		"edit update":                "did you mean `tic item update ID` or `tic item open ID`?",
		"show view":                  "did you mean `tic item show ID`?",
		"done close finish complete": "did you mean `tic item update ID --status done`?",
		"search find":                "did you mean `tic item search TEXT`?",
		"next":                       "did you mean `tic item ready`?",
		"version":                    "did you mean `tic --version`?",
		"serve":                      "did you mean `tic mcp serve`?",
	}
}
