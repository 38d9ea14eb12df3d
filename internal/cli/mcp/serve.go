// Package mcp implements the command "copse mcp": serving MCP clients.
package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/mcp/hook"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// About is the first text that every client's model reads; the purpose of the served tools follows.
const About = "The developer's working context. A result that was cut states how to get the rest."

// Command returns "copse mcp".
func Command(env app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Connect MCP clients: install, serve, diagnose",
		Example: "  copse mcp install --client claude-code\n  copse mcp doctor",
		Args: app.Expect(map[string]string{
			"start run server":   "did you mean `copse mcp serve`?",
			"add new setup":      "did you mean `copse mcp install`?",
			"rm remove delete":   "did you mean `copse mcp uninstall`?",
			"ls list get status": "did you mean `copse mcp doctor` or `copse status`?",
			"test check tools":   "did you mean `copse mcp doctor`?",
			"up down open close": "these are commands of `copse server`",
		}),
		RunE: app.Help,
	}
	cmd.AddCommand(serve(env))
	if app.ServesClient(env.Args) {
		return cmd // a client waits, and the others take longer to create than the server
	}
	cmd.AddCommand(configCommand(env), installCommand(env), uninstallCommand(env), doctorCommand(env), hook.Command(env))
	return cmd
}

// Choice selects the served tools.
type Choice struct {
	ReadOnly bool

	toolsets []string
	disabled []string
}

// Flags adds the flags that choose.
func (c *Choice) Flags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.toolsets, "toolsets", nil, "serve only these `toolsets`, separated by commas: "+strings.Join(full.ToolsetNames(), ", ")+" (default: all)")
	f.StringSliceVar(&c.disabled, "disable", nil, "do not serve these `toolsets`, or \"prompts\"")
	f.BoolVar(&c.ReadOnly, "read-only", false, "serve only read-only tools")
}

// Check refuses unknown names.
func (c *Choice) Check() error {
	known := full.ToolsetNames()
	if err := checkKnown("--toolsets", c.toolsets, known); err != nil {
		return err
	}
	return checkKnown("--disable", c.disabled, append(slices.Clone(known), "prompts"))
}

// Disabled returns the omitted groups: toolsets, and "prompts".
func (c *Choice) Disabled() []string {
	disabled := slices.Clone(c.disabled)
	if len(c.toolsets) > 0 {
		for _, name := range full.ToolsetNames() {
			if !slices.Contains(c.toolsets, name) {
				disabled = append(disabled, name)
			}
		}
	}
	return disabled
}

// serveOptions are the flags of "copse mcp serve".
type serveOptions struct {
	name      string
	repo      string
	choice    Choice
	timeout   time.Duration
	verbosity int
}

func serve(env app.Env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve one MCP client on standard input and output",
		Long: `Serve one MCP client on standard input and output, until the input ends.

Clients start this command themselves: register it once, as in the examples. The server supports
every revision of the protocol from 2024-11-05 to 2026-07-28.`,
		Example: `  claude mcp add copse -- copse mcp serve
  copse mcp serve --toolsets branches,github
  copse mcp serve --repo ~/src/app -v`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), env, o) },
	}
	app.ExpectFlags(cmd, map[string]string{"http sse port p listen host transport": "it serves on standard input and output; `copse up` serves over HTTP"})
	f := cmd.Flags()
	o.choice.Flags(f)
	f.StringVar(&o.repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	f.StringVar(&o.name, "name", "copse", "the `name` of the server in the protocol")
	f.DurationVar(&o.timeout, "timeout", 0, "the time limit of a request to GitHub or Jira (default 15s)")
	f.CountVarP(&o.verbosity, "verbose", "v", "log more: -v for information, -vv for debugging, -vvv for everything")
	return cmd
}

func runServe(ctx context.Context, env app.Env, o serveOptions) error {
	if err := o.choice.Check(); err != nil {
		return err
	}
	if o.timeout < 0 {
		return app.UsageError(fmt.Sprintf("invalid value %v for --timeout: use a positive duration, such as 15s", o.timeout))
	}
	disabled := o.choice.Disabled()
	logger := app.NewLogger(env.Stderr, o.verbosity)
	worktrees := full.Follow(ctx, wiring.Options{
		Program: "copse", Env: env, Repo: o.repo, Timeout: o.timeout, Disabled: disabled, ReadOnly: o.choice.ReadOnly,
	}, logger)
	defer worktrees.Close()
	server := mcpserver.New(mcpserver.Options{
		Name:         o.name,
		Version:      app.Version(),
		Instructions: worktrees.Instructions(About, o.choice.ReadOnly),
		Toolsets:     worktrees.Toolsets(),
		Worktrees:    worktrees,
		Definitions:  full.Definitions(),
		Connected:    worktrees.Connected,
		Ready:        env.Ready,
		ReadOnly:     o.choice.ReadOnly,
		Secrets:      env.Secrets,
		Logger:       logger,
	})
	env.ExplainStdio("copse mcp install --client claude-code")
	return server.ServeStdio(ctx, env.Stdin, secret.Raw(env.Stdout))
}

func checkKnown(flag string, given, known []string) error {
	for _, g := range given {
		if !slices.Contains(known, g) {
			return app.UsageError(fmt.Sprintf("invalid value %q for %s: use %s", g, flag, strings.Join(known, ", ")))
		}
	}
	return nil
}
