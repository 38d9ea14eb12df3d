package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/wiring/where"
	"github.com/copse-dev/copse/internal/xec"
)

// clientOptions are the flags of config, install and uninstall.
type clientOptions struct {
	env       app.Env
	client    string
	transport string
	name      string
	scope     string
	repo      string
	dryRun    bool
}

const (
	overStdio = "stdio"
	overHTTP  = "http"
)

func (o *clientOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.client, "client", "", "the `client`: "+strings.Join(clientconfig.IDs(), ", "))
	f.StringVar(&o.transport, "transport", "", "stdio, where the client starts copse, or http, where `copse up` runs")
	f.StringVar(&o.name, "name", "copse", "the `name` of the entry; with several worktrees over http, what their names begin with")
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

func (o *clientOptions) check(needsClient bool) error {
	switch {
	case o.client == "" && needsClient:
		return app.UsageError("name a client with --client: " + strings.Join(clientconfig.IDs(), ", "))
	case o.transport != "" && o.transport != overStdio && o.transport != overHTTP:
		return app.UsageError(fmt.Sprintf("invalid value %q for --transport: use stdio or http", o.transport))
	case o.scope != string(clientconfig.User) && o.scope != string(clientconfig.Project):
		return app.UsageError(fmt.Sprintf("invalid value %q for --scope: use user or project", o.scope))
	case strings.TrimSpace(o.name) == "":
		return app.UsageError("--name is empty")
	}
	if o.transport == "" {
		o.transport = overStdio
		if o.client == "" {
			o.transport = overHTTP
		}
	}
	return nil
}

func configCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print what to write into a client's configuration",
		Long: `Print the entry of copse in a client's own format; without a client, the form that most
of them read. Over http it has the address of each worktree that copse up serves, and the
token: show it to nobody.`,
		Example: `  copse mcp config --client codex
  copse mcp config --client vscode --transport http`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(false); err != nil {
				return err
			}
			id := o.client
			if id == "" {
				id = "claude-code" // whose form most read
			}
			client, err := clientconfig.Lookup(id)
			if err != nil {
				return app.UsageError(err.Error())
			}
			entries, err := o.entries(cmd.Context())
			if err != nil {
				return err
			}
			text, err := client.Print(entries)
			if err == nil {
				_, err = env.Stdout.Write(text)
			}
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

func installCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write copse into a client's configuration",
		Long: `Write the entry of copse into a client's configuration and show the change. Everything
else in the file stays as it is; what it was before is kept beside it, with .copse-backup
at the end of its name.`,
		Example: `  copse mcp install --client claude-code
  copse mcp install --client cursor --scope project
  copse mcp install --client zed --dry-run`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.change(cmd.Context(), set)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
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
			return o.change(cmd.Context(), func(c clientconfig.Client, text []byte, entries []clientconfig.Named) ([]byte, error) {
				text, err := c.Remove(text, o.name)
				for _, e := range entries {
					if err == nil {
						text, err = c.Remove(text, e.Name)
					}
				}
				return text, err
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
	return cmd
}

// entries are the servers to write: one to start, or those that copse up serves for this
// repository.
func (o *clientOptions) entries(ctx context.Context) ([]clientconfig.Named, error) {
	if o.transport == overStdio {
		command, err := o.command()
		if err != nil {
			return nil, err
		}
		args := []string{"mcp", "serve"}
		if o.repo != "" {
			args = append(args, "--repo", o.folder())
		}
		return []clientconfig.Named{{Name: o.name, Server: clientconfig.Server{Command: command, Args: args}}}, nil
	}
	files, err := servers.Places(o.env)
	if err != nil {
		return nil, err
	}
	status, err := control.NewClient(files.Runtime).Status(ctx)
	guarded := status.Guarded
	switch {
	case errors.Is(err, control.ErrNotRunning):
		guarded = true // as it will be
	case err != nil:
		return nil, err
	}
	token := ""
	if guarded {
		if o.scope == string(clientconfig.Project) {
			return nil, errors.New("the file of a project is for everybody, and the token is not: use --scope user, or --transport stdio")
		}
		if token, err = bearer.New(files.Token).Token(ctx); err != nil {
			return nil, err
		}
	}
	served, err := o.served(ctx, status)
	if err != nil {
		return nil, err
	}
	var entries []clientconfig.Named
	for _, s := range served {
		s.Token = token
		entries = append(entries, s)
	}
	return entries, nil
}

// served are the addresses of this repository's worktrees. One that is not served yet
// will be at the first port.
func (o *clientOptions) served(ctx context.Context, status control.Status) ([]clientconfig.Named, error) {
	here, err := servers.Repository{Env: o.env}.Worktrees(ctx, o.folder())
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for _, w := range here {
		ours[w.Path] = true
	}
	var found []clientconfig.Named
	for _, s := range status.Worktrees {
		if ours[s.Path] && s.MCP.ServerRunning {
			found = append(found, clientconfig.Named{Name: o.name + "-" + nameOf(s.Branch, s.Path), Server: clientconfig.Server{URL: address(s.MCP.Port)}})
		}
	}
	switch len(found) {
	case 0:
		return []clientconfig.Named{{Name: o.name, Server: clientconfig.Server{URL: address(3000)}}}, nil
	case 1:
		found[0].Name = o.name
	}
	return found, nil
}

// nameOf is a branch as a part of a name.
func nameOf(branch, path string) string {
	if branch == "" {
		branch = filepath.Base(path)
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, branch)
}

func address(port int) string { return fmt.Sprintf("http://localhost:%d/mcp", port) }

func (o *clientOptions) folder() string {
	dir := o.repo
	if dir == "" {
		dir = o.env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.env.Dir, dir)
	}
	return filepath.Clean(dir)
}

// command is how a client starts copse: in a project's file, which others read, by its
// name; in the user's by its path, since programs with windows have a PATH of their own.
func (o *clientOptions) command() (string, error) {
	if o.scope == string(clientconfig.Project) {
		return "copse", nil
	}
	if path, err := xec.Env(o.env.Environ).LookPath("copse"); err == nil {
		return path, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return path, nil
}

// Install writes the entry that starts copse into the file of a client of the user's, for
// "copse init". It returns the file, and false if that was as it should be.
func Install(ctx context.Context, env app.Env, client string) (path string, changed bool, err error) {
	o := clientOptions{env: env, client: client, transport: overStdio, name: "copse", scope: string(clientconfig.User)}
	done, err := o.write(ctx, set)
	return done.path, done.diff != nil, err
}

// Present lists the clients that this user has, by their configuration: its file, or the
// folder that it is in.
func Present(env app.Env) []string {
	home := env.Home()
	var found []string
	for _, id := range clientconfig.IDs() {
		client, err := clientconfig.Lookup(id)
		if err != nil {
			continue
		}
		path, err := client.Path(clientconfig.User, userPlace(env, ""))
		if err != nil {
			continue
		}
		folder := filepath.Dir(path)
		_, noFile := os.Lstat(path)
		_, noFolder := os.Lstat(folder)
		if noFile == nil || noFolder == nil && folder != filepath.Clean(home) {
			found = append(found, id)
		}
	}
	return found
}

func userPlace(env app.Env, dir string) clientconfig.Place {
	return clientconfig.Place{
		GOOS: env.GOOS, Home: env.Home(), AppData: env.Getenv("APPDATA"), ConfigHome: env.Getenv("XDG_CONFIG_HOME"), Dir: dir,
	}
}

// editing changes the text of a client's file.
type editing func(clientconfig.Client, []byte, []clientconfig.Named) ([]byte, error)

func set(c clientconfig.Client, text []byte, entries []clientconfig.Named) ([]byte, error) {
	var err error
	for _, e := range entries {
		if text, err = c.Set(text, e.Name, e.Server); err != nil {
			break
		}
	}
	return text, err
}

// change changes a client's file and shows how.
func (o *clientOptions) change(ctx context.Context, edit editing) error {
	if err := o.check(true); err != nil {
		return err
	}
	done, err := o.write(ctx, edit)
	if err != nil {
		return err
	}
	if done.diff == nil {
		_, err = fmt.Fprintf(o.env.Stdout, "%s is as it should be\n", done.path)
	} else {
		_, err = o.env.Stdout.Write(hideToken(done.diff))
	}
	if o.client == "claude-desktop" && o.repo == "" && o.transport == overStdio && done.diff != nil && !o.dryRun {
		fmt.Fprintln(o.env.Stderr, "Claude Desktop starts copse outside of your projects: name one with --repo")
	}
	return err
}

// written is what became of a file.
type written struct {
	path string
	diff []byte // nil if it was as it should be
}

// write changes a client's file, unless it is a dry run.
func (o *clientOptions) write(ctx context.Context, edit editing) (written, error) {
	client, err := clientconfig.Lookup(o.client)
	if err != nil {
		return written{}, app.UsageError(err.Error())
	}
	path, err := client.Path(clientconfig.Scope(o.scope), userPlace(o.env, where.Find(ctx, o.env, o.repo).Workspace()))
	if err != nil {
		return written{}, err
	}
	entries, err := o.entries(ctx)
	if err != nil {
		return written{}, err
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return written{}, fmt.Errorf("read %s: %w", path, lockedstore.WithoutPath(err))
	}
	after, err := edit(client, before, entries)
	if err != nil {
		return written{}, fmt.Errorf("%s is not changed: %w", path, err)
	}
	if bytes.Equal(before, after) {
		return written{path: path}, nil
	}
	done := written{path: path, diff: diff.Diff(path, before, path, after)}
	if o.dryRun {
		return done, nil
	}
	if len(before) > 0 {
		backup := path + ".copse-backup"
		old, err := os.ReadFile(backup)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("read %s: %w", backup, lockedstore.WithoutPath(err))
		}
		if err := lockedstore.Replace(backup, old, before); err != nil {
			return done, err
		}
	}
	return done, lockedstore.Replace(path, before, after)
}

// hideToken keeps the token off the screen.
func hideToken(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if i := bytes.Index(line, []byte("Bearer ")); i >= 0 {
			rest := line[i+len("Bearer "):]
			if end := bytes.IndexByte(rest, '"'); end >= 0 {
				line = append(append(bytes.Clone(line[:i]), "Bearer …"...), rest[end:]...)
			}
		}
		out = append(out, line...)
	}
	return []byte(cleantext.Block(string(out)))
}
