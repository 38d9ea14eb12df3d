package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
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
	lifted    []string // the limits that the flags remove, such as --read-only=false
	hooks     bool
	dryRun    bool
	remove    bool
}

// ClientFiles returns the locations of the clients' files: the user's, and those of the project in
// dir.
func ClientFiles(env app.Env, dir string) clientfile.Location {
	return clientfile.Location{
		GOOS: env.GOOS, Home: env.Home(), AppData: env.Getenv("APPDATA"), ConfigHome: env.Getenv("XDG_CONFIG_HOME"),
		Getenv: env.Getenv, Dir: dir,
	}
}

// project returns the root of the project for a client's entry.
func (o *clientOptions) project(ctx context.Context) string {
	if o.root == "" {
		o.root = full.Find(ctx, o.env, o.repo).Workspace()
	}
	return o.root
}

const (
	overStdio = "stdio"
	overHTTP  = "http"
)

func (o *clientOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.clients, "client", nil, "the `clients`, separated by commas: "+strings.Join(clientconfig.IDs(), ", "))
	f.StringVar(&o.transport, "transport", "", "the `transport`: stdio, where the client starts copse, or http, for the servers of copse up (default: the transport of the existing entry, or stdio)")
	f.StringVar(&o.name, "name", "copse", "the `name` of the entry")
	f.StringVar(&o.scope, "scope", string(clientfile.User), "the `scope`: user, or project for the file that the members of the project share")
	f.StringVar(&o.repo, "repo", "", "always serve the repository at this `path`")
	for flag, values := range map[string][]string{
		"client": clientconfig.IDs(), "transport": {overStdio, overHTTP}, "scope": {string(clientfile.User), string(clientfile.Project)},
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flags are defined above
		}
	}
}

// serving adds the flags that select what the client gets.
func (o *clientOptions) serving(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.readOnly, "read-only", false, "serve only read-only tools")
	f.StringSliceVar(&o.toolsets, "toolsets", nil, "serve only these `toolsets`, separated by commas: "+strings.Join(full.ToolsetNames(), ", ")+" (default: all)")
}

// lift notes the limits that a person removes with an empty value.
func (o *clientOptions) lift(cmd *cobra.Command) {
	if cmd.Flags().Changed("read-only") && !o.readOnly {
		o.lifted = append(o.lifted, "--read-only")
	}
	if cmd.Flags().Changed("toolsets") && len(o.toolsets) == 0 {
		o.lifted = append(o.lifted, "--toolsets")
	}
}

// noClients refuses arguments. For the name of a client, it names the flag.
func noClients(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if near := clientconfig.Similar(args[0]); near != "" {
			return app.UsageError(fmt.Sprintf("takes no arguments, got %q; use --client %s", args[0], near))
		}
	}
	return app.NoArgs(cmd, args)
}

func (o *clientOptions) check(needsClient bool) error {
	switch {
	case len(o.clients) == 0 && needsClient:
		return app.UsageError("name a client with --client, or several with commas: " + strings.Join(clientconfig.IDs(), ", "))
	case len(o.clients) > 1 && !needsClient:
		return app.UsageError("each client has its own format: name one with --client")
	case o.transport != "" && o.transport != overStdio && o.transport != overHTTP:
		return app.UsageError(fmt.Sprintf("invalid value %q for --transport: use stdio or http", o.transport))
	case o.scope != string(clientfile.User) && o.scope != string(clientfile.Project):
		return app.UsageError(fmt.Sprintf("invalid value %q for --scope: use user or project", o.scope))
	case strings.TrimSpace(o.name) == "":
		return app.UsageError("--name is empty: use a name such as copse")
	}
	if err := o.checkLimits(); err != nil {
		return app.UsageError(err.Error())
	}
	for _, id := range o.clients {
		if _, err := clientconfig.Lookup(id); err != nil {
			return app.UsageError(err.Error())
		}
	}
	return checkKnown("--toolsets", o.toolsets, full.ToolsetNames())
}

// checkLimits refuses limits for an entry that copse up serves.
func (o *clientOptions) checkLimits() error {
	if o.transport == overHTTP && (o.readOnly || len(o.toolsets) > 0) {
		return errors.New("over http, copse up decides what to serve: pass --read-only and --toolsets to copse up")
	}
	return nil
}

func configCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the entry for a client's configuration",
		Long: `Print the entry of copse in the format of a client; without --client, in the format that most
clients read. Over http, the entry has the URL and the token of the server for all worktrees, or
with --repo of the server for that worktree. Do not share it.`,
		Example: `  copse mcp config --client codex
  copse mcp config --client vscode --transport http`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(false); err != nil {
				return err
			}
			id := "claude-code" // the most common form
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
				_, err = secret.Raw(env.Stdout).Write(text) // the entry's purpose is its token
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
		Short: "Add copse to a client's configuration",
		Long: `Add the entry of copse to the configuration of a client, and show the change. The rest of the
file and what you added to the entry do not change. copse backs up the file next to it, with
.copse-backup in the name.

The entry keeps --read-only and --toolsets from an earlier install: to remove them, pass
--read-only=false and --toolsets "". They do not apply over http, where copse up has these flags.
What you added to the entry for one transport comes back when you return to that transport.

Some clients start servers without the variables of your shell. For these clients, the entry
refers to the variables that copse needs by name. It never contains their values.

With --hooks, Claude Code, Codex, Gemini CLI, and Copilot CLI run copse mcp hook when a session
starts and after the client compacts it, so that each session starts with the context.
"uninstall" removes the hooks, too.`,
		Example: `  copse mcp install --client claude-code,codex
  copse mcp install --client gemini --read-only --toolsets branches,items
  copse mcp install --client cursor --scope project
  copse mcp install --client zed --dry-run`,
		Args: noClients,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.lift(cmd)
			return o.change(cmd.Context(), func(one *clientOptions) editing { return one.put(cmd.Context()) })
		},
	}
	o.flags(cmd)
	o.serving(cmd)
	cmd.Flags().BoolVar(&o.hooks, "hooks", false, "give each session of the client the context when it starts")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the changes, and write nothing")
	return cmd
}

func uninstallCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove copse from a client's configuration",
		Long: `Remove the entry of copse and its hooks from the configuration of a client, and show the change.
Entries of copse for single worktrees over http are removed, too. copse backs up the file next to
it, with .copse-backup in the name.`,
		Example: "  copse mcp uninstall --client claude-code",
		Args:    noClients,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.remove = true
			return o.change(cmd.Context(), func(one *clientOptions) editing { return one.takeOut(cmd.Context()) })
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.Lookup("repo").Usage = "the `path` of the repository, for --scope project (default: the one that contains the current directory)"
	f.Lookup("transport").Hidden = true // the entry is removed, whatever its transport
	f.BoolVar(&o.dryRun, "dry-run", false, "show the changes, and write nothing")
	return cmd
}

// takeOut removes the entry of that name, and all entries of a server of copse over HTTP,
// because they hold tokens.
func (o *clientOptions) takeOut(ctx context.Context) editing {
	checker := o.checker(ctx)
	return func(c clientconfig.Client, text []byte, _ []clientconfig.Named, keep []string) ([]byte, error) {
		return withoutEntries(c, text, keep, func(e clientconfig.Named) bool { return e.Name == o.name || checker.Ours(e) })
	}
}

// put writes the entry, and removes stale ones. The entry for all worktrees supersedes those that
// earlier versions wrote for each worktree.
func (o *clientOptions) put(ctx context.Context) editing {
	checker := o.checker(ctx)
	return func(c clientconfig.Client, text []byte, entries []clientconfig.Named, keep []string) ([]byte, error) {
		text, err := withoutEntries(c, text, keep, func(e clientconfig.Named) bool {
			each := o.transport == overHTTP && o.repo == "" && strings.HasPrefix(e.Name, o.name+"-") && checker.Ours(e)
			return e.Name != o.name && (each || checker.Stale(e))
		})
		if err != nil {
			return nil, err
		}
		return set(c, text, entries, keep)
	}
}

// checker returns a checker that has the addresses of the running servers of copse up, if there are any.
func (o *clientOptions) checker(ctx context.Context) *cliententries.Checker {
	files, err := servers.Places(o.env)
	if err != nil {
		return cliententries.New("", files.Tokens, nil)
	}
	var running *control.Status
	if status, err := control.NewClient(files.Runtime).Status(ctx); err == nil {
		running = &status
	}
	return cliententries.New(files.Ports, files.Tokens, running)
}

// maxRemoved is the maximum number of entries that copse removes from a text: each is parsed again.
const maxRemoved = 100

// withoutEntries returns a client's text without the entries that gone reports.
func withoutEntries(c clientconfig.Client, text []byte, keep []string, gone func(clientconfig.Named) bool) ([]byte, error) {
	all, err := c.AllEntries(text)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e clientconfig.Named) bool { return !gone(e) })
	if len(all) > maxRemoved {
		return nil, fmt.Errorf("it has %d entries to remove; copse removes at most %d; remove the others manually", len(all), maxRemoved)
	}
	for _, e := range all {
		if text, err = c.Remove(text, e.Name, keep...); err != nil {
			return nil, err
		}
	}
	return text, nil
}
