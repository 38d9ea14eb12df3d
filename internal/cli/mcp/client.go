package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/workflow/clients"
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
	root      string // once it is known
	dryRun    bool
	remove    bool
}

// ClientFiles returns where the clients' files are: the user's, and those of the project in
// dir.
func ClientFiles(env app.Env, dir string) clientconfig.Place {
	return clientconfig.Place{
		GOOS: env.GOOS, Home: env.Home(), AppData: env.Getenv("APPDATA"), ConfigHome: env.Getenv("XDG_CONFIG_HOME"), Dir: dir,
	}
}

// project returns the root of the project that a client is told about.
func (o *clientOptions) project(ctx context.Context) string {
	if o.root == "" {
		o.root = workspace.Here(ctx, o.env, o.repo).Workspace()
	}
	return o.root
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
	}
	return nil
}

func configCommand(env app.Env) *cobra.Command {
	o := clientOptions{env: env}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print what to write into a client's configuration",
		Long: `Print the entry of copse in a client's own format; without a client, the form that most
of them read. Over http it has the address and the token of each worktree that copse up
serves: show it to nobody.`,
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
				_, err = secret.Raw(env.Stdout).Write(text) // the entry is there for its token
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
			o.remove = true
			return o.change(cmd.Context(), o.takeOut)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
	return cmd
}

// takeOut removes the entry of that name, and those that were written for the worktrees of
// a repository, whose names begin with it.
func (o *clientOptions) takeOut(c clientconfig.Client, text []byte, _ []clientconfig.Named) ([]byte, error) {
	all, err := c.Entries(text)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		served := o.transport == overHTTP && strings.HasPrefix(e.Name, o.name+"-") && strings.HasPrefix(e.URL, "http://localhost:")
		if e.Name != o.name && !served {
			continue
		}
		if text, err = c.Remove(text, e.Name); err != nil {
			return nil, err
		}
	}
	return text, nil
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
	if err != nil {
		return nil, err
	}
	if status.Guarded && o.scope == string(clientconfig.Project) {
		return nil, errors.New("the file of a project is for everybody, and the token is not: use --scope user, or --transport stdio")
	}
	return o.served(ctx, status)
}

// served are the servers of this repository's worktrees, each with its own token. There
// must be one: which port a worktree will have is not known before it is served.
func (o *clientOptions) served(ctx context.Context, status control.Status) ([]clientconfig.Named, error) {
	unnamed := ""
	if o.repo == "" {
		unnamed = o.folder()
	}
	here, err := servers.Repository{Env: o.env, Unnamed: unnamed}.Worktrees(ctx, o.folder())
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for _, w := range here {
		ours[w.Path] = true
	}
	var found []clientconfig.Named
	failure := ""
	for _, s := range status.Worktrees {
		if !ours[s.Path] {
			continue
		}
		if !s.MCP.ServerRunning {
			failure = s.MCP.LastError
			continue
		}
		server := clientconfig.Server{URL: address(s.MCP.Port)}
		if s.TokenFile != "" {
			if server.Token, err = bearer.New(s.TokenFile).Token(ctx); err != nil {
				return nil, err
			}
		}
		found = append(found, clientconfig.Named{Name: o.name + "-" + nameOf(s.Branch, s.Path), Server: server})
	}
	switch {
	case len(found) == 0 && failure != "":
		return nil, errors.New(failure)
	case len(found) == 0:
		return nil, errors.New("copse up does not serve this repository; run `copse up` in it")
	case len(found) == 1:
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
	return o.env.Program()
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
		path, err := client.Path(clientconfig.User, ClientFiles(env, ""))
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
	if done.tightened && o.dryRun {
		fmt.Fprintf(o.env.Stderr, "other users can read %s; it would become readable by you alone, because it would hold a token\n", done.path)
	} else if done.tightened {
		fmt.Fprintf(o.env.Stderr, "other users could read %s; it is now readable by you alone, because it holds a token\n", done.path)
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
	// tightened says that others could read the file, which holds a token now.
	tightened bool
}

// write changes a client's file, unless it is a dry run.
func (o *clientOptions) write(ctx context.Context, edit editing) (written, error) {
	client, err := clientconfig.Lookup(o.client)
	if err != nil {
		return written{}, app.UsageError(err.Error())
	}
	path, err := client.Path(clientconfig.Scope(o.scope), ClientFiles(o.env, o.project(ctx)))
	if err != nil {
		return written{}, err
	}
	var named []clientconfig.Named
	if !o.remove {
		if o.transport == overHTTP {
			if err := client.CheckHTTP(); err != nil {
				return written{}, err
			}
		}
		if named, err = o.entries(ctx); err != nil {
			return written{}, err
		}
	}
	// Another program may be writing the same file; its change stays.
	const attempts, nap = 50, 20 * time.Millisecond
	for attempt := 1; ; attempt++ {
		done, err := o.writeOnce(ctx, client, path, named, edit)
		if !errors.Is(err, lockedstore.ErrChanged) {
			return done, err
		}
		if attempt == attempts {
			return done, fmt.Errorf("another program keeps changing %s; close it and try again: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(rand.N(nap)):
		}
	}
}

// file is a client's file. That of a project is in the project.
func (o *clientOptions) file(ctx context.Context, path string) lockedstore.Foreign {
	if o.scope == string(clientconfig.Project) {
		return lockedstore.ForeignIn(o.project(ctx), path)
	}
	return lockedstore.ForeignAt(path)
}

// explainFile says what to do about a file that cannot be used.
func explainFile(path string, err error) error {
	if errors.Is(err, rooted.ErrOutside) {
		return fmt.Errorf("%s is reached over a symbolic link that leads out of the project, and is not touched; replace the link with a file, or use --scope user", path)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

func (o *clientOptions) writeOnce(ctx context.Context, client clientconfig.Client, path string, named []clientconfig.Named, edit editing) (written, error) {
	file := o.file(ctx, path)
	before, err := file.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return written{}, explainFile(path, err)
	}
	after, err := edit(client, before, named)
	if err != nil {
		return written{}, fmt.Errorf("%s is not changed: %w", path, err)
	}
	secret := slices.ContainsFunc(named, func(n clientconfig.Named) bool { return n.Token != "" })
	done := written{path: path}
	if !bytes.Equal(before, after) {
		done.diff = diff.Diff(path, before, path, after)
	}
	if secret && o.dryRun {
		done.tightened = clients.Exposed(o.env.GOOS, path)
	} else if secret {
		// Before the token is in it.
		if done.tightened, err = clients.Tighten(o.env.GOOS, path); err != nil {
			return done, err
		}
	}
	if done.diff == nil || o.dryRun {
		return done, nil
	}
	if len(before) > 0 {
		backup := path + ".copse-backup"
		kept := o.file(ctx, backup)
		old, err := kept.Read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, explainFile(backup, err)
		}
		// It may hold a token from before, but for a project's, which never has one.
		if o.scope != string(clientconfig.Project) {
			if _, err := clients.Tighten(o.env.GOOS, backup); err != nil {
				return done, err
			}
		}
		if err := kept.Replace(old, before); err != nil {
			return done, err
		}
	}
	return done, file.Replace(before, after)
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
