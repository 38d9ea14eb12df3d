// Package tic is the command line of tic, the work-item tracker. Everything in
// it is in copse, too: "tic item list" is "copse item list", and "tic mcp serve"
// is "copse mcp serve --toolsets items", for those who have another tic, the
// compiler of terminal descriptions, on their path.
package tic

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
)

// Run is the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command(env)) }

// Command is the program's command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:     "tic",
		Short:   "Work items in files beside the code",
		Version: app.Version(),
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	root.AddCommand(mcp(env))
	return root
}
