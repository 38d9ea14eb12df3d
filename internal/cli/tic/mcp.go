package tic

import (
	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/wiring/full"
)

const about = "The work items of this project. The cheapest first call is list_items. A result that was cut states how to get the rest."

func mcp(env app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve MCP clients",
		Example: "  tic mcp serve --read-only",
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	cmd.AddCommand(serve(env))
	return cmd
}

func serve(env app.Env) *cobra.Command {
	var (
		readOnly  bool
		verbosity int
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve one MCP client on standard input and output",
		Long: `Serve the work items of the current project to one MCP client on standard input and output, until
the input ends. Clients start this command themselves: register it once, as in the example.`,
		Example: `  claude mcp add tic -- tic mcp serve`,
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ws := full.Find(cmd.Context(), env, "")
			logger := app.NewLogger(env.Stderr, verbosity)
			ws.Log(cmd.Context(), logger)
			all := ws.ServeItems(logger)
			defer all.Close()
			server := mcpserver.New(mcpserver.Options{
				Name:         "tic",
				Version:      app.Version(),
				Instructions: all.Instructions(about, readOnly),
				Toolsets:     all.Toolsets,
				ReadOnly:     readOnly,
				Secrets:      env.Secrets,
				Logger:       logger,
			})
			env.ExplainStdio("claude mcp add tic -- tic mcp serve")
			return server.ServeStdio(cmd.Context(), env.Stdin, secret.Raw(env.Stdout))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&readOnly, "read-only", false, "serve only read-only tools")
	f.CountVarP(&verbosity, "verbose", "v", "log more: -v for information, -vv for debugging, -vvv for everything")
	return cmd
}
