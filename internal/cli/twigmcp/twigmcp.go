// Package twigmcp implements the command line of twig-mcp: the read-only MCP server for branch
// stacks, GitHub pull requests, and Jira issues, on stdio.
package twigmcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/wiring"
)

const instructions = "Twig MCP server. Provides read-only access to branch metadata, Jira issues, and GitHub PRs for the current repository."

// groups are the values of --disable.
var groups = []string{"github", "jira", "prompts"}

// Run runs the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command returns the program's command, for running and for the documentation.
func Command(env app.Env) *cobra.Command {
	var (
		verbosity int
		repo      string
		disabled  []string
		timeout   time.Duration
	)
	cmd := &cobra.Command{
		Use:   "twig-mcp",
		Short: "Read-only MCP server for branch stacks, GitHub PRs, and Jira issues",
		Long: `twig-mcp serves one MCP client on standard input and output. It answers for the current git
repository: branches, stacks, and worktrees; pull requests with reviews and checks; and Jira
issues. It is read-only.`,
		Example: `  twig-mcp                          # as a client starts it
  twig-mcp --repo ~/src/app -v      # another repository, with log lines
  claude mcp add twig-mcp -- twig-mcp`,
		Version: app.Version(),
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, g := range disabled {
				if !slices.Contains(groups, g) {
					return app.UsageError(fmt.Sprintf("invalid value %q for --disable: use github, jira, or prompts", g))
				}
			}
			if timeout < 0 {
				return app.UsageError(fmt.Sprintf("invalid value %v for --timeout: use a positive duration, such as 15s", timeout))
			}
			sources := wiring.New(wiring.Options{Program: "twig-mcp", Env: env, Repo: repo, Timeout: timeout, Disabled: disabled})
			server := mcpserver.New(mcpserver.Options{
				Name:         "twig-mcp",
				Version:      app.Version(),
				Instructions: instructions,
				Toolsets:     sources.ReadOnlyToolsets(),
				Secrets:      env.Secrets,
				Logger:       app.NewLogger(env.Stderr, verbosity),
			})
			env.ExplainStdio("claude mcp add twig-mcp -- twig-mcp")
			return server.ServeStdio(cmd.Context(), env.Stdin, secret.Raw(env.Stdout))
		},
	}
	f := cmd.Flags()
	f.CountVarP(&verbosity, "verbose", "v", "log more: -v for information, -vv for debugging, -vvv for everything")
	f.StringVar(&repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	f.StringArrayVar(&disabled, "disable", nil, "do not serve a `group`: github, jira, or prompts; can be repeated")
	f.DurationVar(&timeout, "timeout", 0, "the time limit of a request to GitHub or Jira (default 15s)")
	return cmd
}
