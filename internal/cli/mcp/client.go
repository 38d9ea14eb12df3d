package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/workflow/clients"
)

// clientOptions are the flags of config, install and uninstall.
type clientOptions struct {
	env       app.Env
	clients   []string
	transport string
	name      string
	scope     string
	repo      string
	root      string // once it is known
	readOnly  bool
	toolsets  []string
	hooks     bool
	dryRun    bool
	remove    bool
}

// ClientFiles returns where the clients' files are: the user's, and those of the project in
// dir.
func ClientFiles(env app.Env, dir string) clientconfig.Place {
	return clientconfig.Place{
		GOOS: env.GOOS, Home: env.Home(), AppData: env.Getenv("APPDATA"), ConfigHome: env.Getenv("XDG_CONFIG_HOME"),
		Getenv: env.Getenv, Dir: dir,
	}
}

// project returns the root of the project that a client is told about.
func (o *clientOptions) project(ctx context.Context) string {
	if o.root == "" {
		o.root = workspace.Find(ctx, o.env, o.repo).Workspace()
	}
	return o.root
}

const (
	overStdio = "stdio"
	overHTTP  = "http"
)

func (o *clientOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.clients, "client", nil, "the `client`: "+strings.Join(clientconfig.IDs(), ", "))
	f.StringVar(&o.transport, "transport", "", "stdio, where the client starts copse, or http, where `copse up` runs")
	f.StringVar(&o.name, "name", "copse", "the `name` of the entry")
	f.StringVar(&o.scope, "scope", string(clientconfig.User), "user, or project: the file that the `project`'s people share")
	f.StringVar(&o.repo, "repo", "", "serve the repository at this `path` wherever the client is started")
	for flag, values := range map[string][]string{
		"client": clientconfig.IDs(), "transport": {overStdio, overHTTP}, "scope": {string(clientconfig.User), string(clientconfig.Project)},
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flags are defined above
		}
	}
}

// serving adds the flags that choose what the client is served.
func (o *clientOptions) serving(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.readOnly, "read-only", false, "serve only tools that change nothing")
	f.StringSliceVar(&o.toolsets, "toolsets", nil, "serve only these `toolsets`, separated by commas: "+strings.Join(workspace.ToolsetNames(), ", ")+" (default all)")
}

func (o *clientOptions) check(needsClient bool) error {
	switch {
	case len(o.clients) == 0 && needsClient:
		return app.UsageError("name a client with --client, or several with commas: " + strings.Join(clientconfig.IDs(), ", "))
	case len(o.clients) > 1 && !needsClient:
		return app.UsageError("clients have forms of their own: name one with --client")
	case o.transport != "" && o.transport != overStdio && o.transport != overHTTP:
		return app.UsageError(fmt.Sprintf("invalid value %q for --transport: use stdio or http", o.transport))
	case o.scope != string(clientconfig.User) && o.scope != string(clientconfig.Project):
		return app.UsageError(fmt.Sprintf("invalid value %q for --scope: use user or project", o.scope))
	case strings.TrimSpace(o.name) == "":
		return app.UsageError("--name is empty")
	case o.transport == overHTTP && (o.readOnly || len(o.toolsets) > 0):
		return app.UsageError("over http, copse up decides what is served: give it --read-only and --toolsets")
	}
	for _, id := range o.clients {
		if _, err := clientconfig.Lookup(id); err != nil {
			return app.UsageError(err.Error())
		}
	}
	if o.transport == "" {
		o.transport = overStdio
	}
	return among("--toolsets", o.toolsets, workspace.ToolsetNames())
}

func configCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print what to write into a client's configuration",
		Long: `Print the entry of copse in a client's own format; without a client, the form that most
of them read. Over http it has the address and the token of the server that answers for all
worktrees, or with --repo of that worktree's own: show it to nobody.`,
		Example: `  copse mcp config --client codex
  copse mcp config --client vscode --transport http`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(false); err != nil {
				return err
			}
			id := "claude-code" // whose form most read
			if len(o.clients) > 0 {
				id = o.clients[0]
			}
			client, err := clientconfig.Lookup(id)
			if err != nil {
				return err
			}
			entries, err := o.entries(cmd.Context())
			if err != nil {
				return err
			}
			text, err := client.Print(entries)
			if err == nil {
				_, err = secret.Raw(env.Stdout).Write(text) // the entry is there for its token
			}
			return err
		},
	}
	o.flags(cmd)
	o.serving(cmd)
	return cmd
}

func installCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write copse into a client's configuration",
		Long: `Write the entry of copse into a client's configuration and show the change. Everything
else in the file stays as it is, and so does what you have added to the entry. What the
file was before is kept beside it, with .copse-backup in its name.

Some clients start servers without your shell's variables. Their entries refer to those
that copse needs by name; values are never written.

With --hooks a session starts informed: Claude Code, Codex, Gemini CLI and Copilot CLI run
copse mcp hook when a session starts and after it was compacted. Uninstall removes that, too.`,
		Example: `  copse mcp install --client claude-code,codex
  copse mcp install --client gemini --read-only --toolsets branches,items
  copse mcp install --client cursor --scope project
  copse mcp install --client zed --dry-run`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.change(cmd.Context(), o.put(cmd.Context()))
		},
	}
	o.flags(cmd)
	o.serving(cmd)
	cmd.Flags().BoolVar(&o.hooks, "hooks", false, "let the client tell each session about the project when it starts")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change and write nothing")
	return cmd
}

func uninstallCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Take copse out of a client's configuration",
		Example: "  copse mcp uninstall --client claude-code",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.remove = true
			return o.change(cmd.Context(), o.takeOut(cmd.Context()))
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change and write nothing")
	return cmd
}

// takeOut removes the entry of that name, and those that lead to a server of copse over HTTP,
// whatever their names: they hold tokens.
func (o *clientOptions) takeOut(ctx context.Context) editing {
	checker := o.checker(ctx)
	return func(c clientconfig.Client, text []byte, _ []clientconfig.Named) ([]byte, error) {
		return withoutEntries(c, text, func(e clientconfig.Named) bool { return e.Name == o.name || checker.Ours(e) })
	}
}

// put writes the entry, and removes those that lead nowhere any longer. Those that earlier
// versions wrote for each worktree are superseded by the one for all.
func (o *clientOptions) put(ctx context.Context) editing {
	checker := o.checker(ctx)
	return func(c clientconfig.Client, text []byte, entries []clientconfig.Named) ([]byte, error) {
		text, err := withoutEntries(c, text, func(e clientconfig.Named) bool {
			each := o.transport == overHTTP && o.repo == "" && strings.HasPrefix(e.Name, o.name+"-") && checker.Ours(e)
			return e.Name != o.name && (each || checker.Stale(e))
		})
		if err != nil {
			return nil, err
		}
		return set(c, text, entries)
	}
}

// checker knows the servers of copse up, as far as it runs.
func (o *clientOptions) checker(ctx context.Context) *clients.Checker {
	files, err := servers.Places(o.env)
	if err != nil {
		return clients.New("", files.Tokens, nil)
	}
	var running *control.Status
	if status, err := control.NewClient(files.Runtime).Status(ctx); err == nil {
		running = &status
	}
	return clients.New(files.Ports, files.Tokens, running)
}

// withoutEntries returns a client's text without the entries that gone reports.
func withoutEntries(c clientconfig.Client, text []byte, gone func(clientconfig.Named) bool) ([]byte, error) {
	all, err := c.Entries(text)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !gone(e) {
			continue
		}
		if text, err = c.Remove(text, e.Name); err != nil {
			return nil, err
		}
	}
	return text, nil
}
