// Package up implements "copse up", "board", "open", "close", "status", and "down": one MCP server
// over HTTP for each worktree, and the local page.
package up

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/boards"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/workflow/doctor"
	"github.com/copse-dev/copse/internal/xec"
)

// options are the flags of "copse up".
type options struct {
	repo      string
	port      int
	listen    []string
	origins   []string
	noToken   bool
	rotate    bool
	newPort   bool
	detach    bool
	printUnit bool
	choice    mcp.Choice
	verbosity int
	given     func(flag string) bool // whether the command line has a flag; nil for none
}

// Commands returns the commands, and "server", which groups them.
func Commands(env app.Env) []*cobra.Command {
	short := commands(env, "copse ")
	group := &cobra.Command{
		Use:   "server",
		Short: "Start, inspect, and stop the HTTP servers: the long forms",
		Long: `Start, inspect, and stop the HTTP servers of worktrees. Each command here has a short form:
"copse server status" is "copse status".`,
		Example: "  copse server up --detach\n  copse server status\n  copse server down",
		Args: app.Expect(map[string]string{
			"start serve run": "did you mean `copse server up`?",
			"stop kill":       "did you mean `copse server down`?",
			"ls list ps":      "did you mean `copse server status`?",
			"add":             "did you mean `copse server open`?",
			"rm remove":       "did you mean `copse server close`?",
			"restart":         "run `copse server down`, then `copse server up`",
		}),
		RunE: app.Help,
	}
	group.AddCommand(commands(env, "copse server ")...)
	return append(short, boardCommand(env), group)
}

func commands(env app.Env, program string) []*cobra.Command {
	list := []*cobra.Command{upCommand(env), openCommand(env), closeCommand(env), statusCommand(env), downCommand(env)}
	for _, c := range list {
		c.Example = strings.ReplaceAll(c.Example, "copse ", program)
	}
	return list
}

func upCommand(env app.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Serve each worktree of the repository over HTTP",
		Long: `Serve each worktree of the repository over HTTP, on ports from 3000 upward, until you stop the
command. It follows worktrees that git adds, moves, or removes. If copse up is already running, the
repository joins it with the options that it has. A flag that differs from them is an error.

Each worktree has its own bearer token, which opens no other worktree; "copse status" shows where
the tokens are. A worktree keeps its port. If another program has taken the port, copse does not
serve the worktree, because its clients would send their token to that program. Stop the program, or
use --new-port, which also creates a new token; then run "copse mcp install" again.

copse up listens only on this machine. With --listen, it also listens on other addresses, without
encryption: others on the network can read the token and all data. Use a tunnel instead, such as
"ssh -L 3000:localhost:3000 HOST".`,
		Example: `  copse up
  copse up --detach
  copse up --print-unit > ~/.config/systemd/user/copse.service
  copse up --new-port
  copse up --rotate-token`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags().Changed
			return run(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the `path` of the repository (default: the current directory)")
	f.IntVar(&o.port, "port", supervisor.FirstPort, "the first `port`")
	f.StringSliceVar(&o.listen, "listen", nil, "also listen on these `addresses`, without encryption; requires a token")
	f.StringSliceVar(&o.origins, "allow-origin", nil, "let web pages of these `origins` use the servers, such as http://localhost:5173")
	f.BoolVar(&o.noToken, "no-token", false, "require no token: every program on this machine can use the servers")
	f.BoolVar(&o.rotate, "rotate-token", false, "replace the tokens of all worktrees immediately, and exit")
	f.BoolVar(&o.newPort, "new-port", false, "assign a new port and a new token to worktrees whose port another program has taken")
	f.BoolVar(&o.detach, "detach", false, "run in the background")
	f.BoolVar(&o.printUnit, "print-unit", false, "print a systemd unit or a launchd plist, and exit")
	f.CountVarP(&o.verbosity, "verbose", "v", "log more: -v for information, -vv for debugging, -vvv for everything")
	o.choice.Flags(f)
	return cmd
}

func (o options) check() error {
	if o.port < 1 || o.port > 65535 {
		return app.UsageError(fmt.Sprintf("invalid value %d for --port: use 1 to 65535", o.port))
	}
	for _, host := range o.listen {
		if net.ParseIP(host) == nil {
			return app.UsageError(fmt.Sprintf("invalid value %q for --listen: use an IP address, such as 192.168.0.2 or 0.0.0.0", host))
		}
	}
	if o.noToken && len(o.listen) > 0 {
		return app.UsageError("--no-token cannot be used with --listen: others could read your files and run your tasks")
	}
	for _, origin := range o.origins {
		if !strings.HasPrefix(origin, "http://") && !strings.HasPrefix(origin, "https://") || strings.HasSuffix(origin, "/") || origin == "*" {
			return app.UsageError(fmt.Sprintf("invalid value %q for --allow-origin: use an origin, such as http://localhost:5173", origin))
		}
	}
	return o.choice.Check()
}

func run(ctx context.Context, env app.Env, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	files, err := servers.Places(env)
	if err != nil {
		return err
	}
	switch {
	case o.printUnit:
		return printUnit(env, o)
	case o.rotate:
		return rotate(ctx, env, files)
	}
	dir := directory(env, o.repo)
	if err := requireRepository(ctx, env, o.repo); err != nil {
		return err
	}
	socket, err := control.Take(files.Runtime)
	if errors.Is(err, control.ErrTaken) {
		return join(ctx, env, o, files, dir)
	}
	if err != nil {
		return err
	}
	warnOfClearText(env, o.terms())
	if o.detach {
		// The other process adopts it.
		if err := socket.Close(); err != nil {
			return err
		}
		return detach(ctx, env, o, files, dir)
	}
	return serve(ctx, env, o, files, dir, socket)
}

// requireRepository tells a person that a directory is not in a git repository, and refuses a bare
// repository that nobody named. repo is the directory that the person named, "" for the working
// directory.
func requireRepository(ctx context.Context, env app.Env, repo string) error {
	_, err := full.Find(ctx, env, repo).Session.Repo(ctx)
	if _, unnamed := errors.AsType[*git.UnnamedError](err); unnamed {
		return output.Explain(failure.Of(err))
	}
	if errors.Is(err, git.ErrNotRepository) {
		env.Notef("note: %s is not in a git repository, so copse serves this directory alone, without branches", foreign.Mention(directory(env, repo)))
	}
	return nil
}

// unnamed returns the working directory if no repository was named.
func unnamed(env app.Env, repo string) string {
	if repo != "" {
		return ""
	}
	return env.Dir
}

// directory is an absolute path.
func directory(env app.Env, path string) string {
	if path == "" {
		return env.Dir
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	return filepath.Clean(path)
}

// rotate creates new tokens and tells the running process.
func rotate(ctx context.Context, env app.Env, files servers.Files) error {
	n, err := files.Tokens.Rotate(ctx)
	if err != nil {
		return err
	}
	if err := control.NewClient(files.Runtime).Reload(ctx); err != nil && !errors.Is(err, control.ErrNotRunning) {
		return fmt.Errorf("the tokens are new, but copse up still requires the old ones: %w", err)
	}
	what := "No server has a token yet; `copse up` creates them."
	if n > 0 {
		what = fmt.Sprintf("Created %s, one for each server. Run `copse mcp install` again: clients need the new tokens from now on.", cleantext.Count(n, "new token"))
	}
	return output.New(env).Whole(what)
}

// serve supervises until ctx ends, or another process asks to stop.
func serve(ctx context.Context, env app.Env, o options, files servers.Files, dir string, socket *control.Socket) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	gate := gate(env, o, files)
	logger := app.NewLogger(env.Stderr, o.verbosity)
	trees := dirwatch.NewTrees()
	serving := servers.NewFleet(servers.Options{
		Env: env, Disabled: o.choice.Disabled(), ReadOnly: o.choice.ReadOnly, About: mcp.About, Logger: logger, Trees: trees,
	})
	repository := servers.Repository{Env: env, Unnamed: unnamed(env, o.repo)}
	var status func() []health.Server
	pages := boards.New(boards.Options{
		Env: env, Files: files, Disabled: o.choice.Disabled(), ReadOnly: o.choice.ReadOnly, Logger: logger, Trees: trees,
		Examine: func(ctx context.Context, root string) []doctor.Finding { return mcp.Examine(ctx, env, root, false) },
		Servers: func() []health.Server { return status() },
	})
	gate.Beside(files.Shared, board.Path, pages)
	fleet := supervisor.New(supervisor.Options{
		Repository: repository, Serve: serving.Serve,
		Shared: serving.ServeAll, SharedKey: files.Shared, Gate: gate,
		Ports: supervisor.NewPorts(files.Ports, o.port), Own: servers.OwnPort, Hosts: o.listen, Logger: logger,
	})
	status = func() []health.Server { return serversOf(fleet) }
	var answering sync.WaitGroup
	answering.Go(func() {
		if err := control.Serve(socket, fleet, control.Options{Terms: o.terms(), Stop: stop, Reload: gate.Reload, Board: linker(fleet, repository, pages)}); err != nil {
			logger.Warn("the control socket does not answer", "error", err)
		}
	})
	err := fleet.Join(ctx, dir)
	if err == nil && o.newPort {
		err = fleet.Move(ctx, dir)
	}
	if err == nil {
		err = announce(ctx, env, control.Status{PID: os.Getpid(), Terms: o.terms(), Worktrees: fleet.Status(), Unserved: fleet.Unserved(), Shared: fleet.Shared()}, files, dir)
	}
	if err == nil {
		<-ctx.Done()
	}
	pages.Close()
	fleet.Close()
	err = errors.Join(err, socket.Close())
	answering.Wait()
	return err
}

// gate returns the guard in front of each server.
func gate(env app.Env, o options, files servers.Files) *servers.Gate {
	guard := httpguard.Options{Hosts: o.listen, Origins: o.origins, Open: []string{"/healthz"}, Now: env.Now}
	if len(o.listen) > 0 && env.Hostname != "" {
		guard.Hosts = append(guard.Hosts, env.Hostname)
	}
	return servers.NewGate(files.Tokens, guard, o.noToken, env.Secrets.Add)
}

// upTime is the time limit until a detached process answers.
const upTime = 10 * time.Second

// detach starts the process again, in the background, waits until it serves, and shows the
// state.
func detach(ctx context.Context, env app.Env, o options, files servers.Files, dir string) error {
	status, err := start(ctx, env, o, files, dir, withoutFlag(env.Args, "--detach"))
	if err != nil {
		return err
	}
	return showStatus(ctx, env, status, files, dir)
}

// start starts copse up with arguments in the background, and waits until it serves dir. A directory
// that nobody named is not one for the other process, either: it is its working directory. Another
// process that started in between must have the same options.
func start(ctx context.Context, env app.Env, o options, files servers.Files, dir string, args []string) (control.Status, error) {
	program, err := env.Program()
	if err != nil {
		return control.Status{}, err
	}
	if err := ownership.MakeAll(filepath.Dir(files.Log)); err != nil {
		return control.Status{}, fmt.Errorf("create a directory for the log: %w", err)
	}
	log, err := ownership.Open(files.Log, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return control.Status{}, fmt.Errorf("open the log: %w", err)
	}
	defer log.Close()
	if o.repo != "" {
		args = append(args, "--repo", dir) // the last one applies, and it is absolute
	}
	if _, err := xec.Detach(xec.Command{Name: program, Args: args, Dir: dir, Env: env.EnvironIn(dir)}, log); err != nil {
		return control.Status{}, err
	}
	client := control.NewClient(files.Runtime)
	for deadline := env.Now().Add(upTime); env.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		status, err := client.Status(ctx)
		if err != nil {
			continue
		}
		if err := o.applied(status); err != nil {
			return control.Status{}, err
		}
		// It serves the directory when it has joined it, or the same directory a second time.
		if err := client.Join(ctx, dir); err != nil {
			return control.Status{}, err
		}
		return client.Status(ctx)
	}
	text, _ := os.ReadFile(files.Log) // what there is
	return control.Status{}, fmt.Errorf("copse up did not start; its log is %s: %s", files.Log, strings.TrimSpace(string(text)))
}

// withoutFlag returns arguments without a flag that has no value.
func withoutFlag(args []string, flag string) []string {
	var kept []string
	for _, a := range args {
		if a != flag && !strings.HasPrefix(a, flag+"=") {
			kept = append(kept, a)
		}
	}
	return kept
}
