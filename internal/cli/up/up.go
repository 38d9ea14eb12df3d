// Package up is "copse up", "open", "close", "status" and "down": one MCP server over
// HTTP for each worktree.
package up

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
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
	detach    bool
	printUnit bool
	choice    mcp.Choice
	verbosity int
}

// Commands are all of them.
func Commands(env app.Env) []*cobra.Command {
	return []*cobra.Command{upCommand(env), openCommand(env), closeCommand(env), statusCommand(env), downCommand(env)}
}

func upCommand(env app.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Serve each worktree of the repository over HTTP",
		Long: `Serve each worktree of the repository over HTTP, on ports from 3000 upwards, until it is
stopped. Worktrees that git adds, moves or removes are followed, and keep their ports.

Clients need the bearer token that is kept for you; "copse status" shows where. Only
this machine is listened to unless --listen says otherwise. Where copse up runs already,
the repository joins it.`,
		Example: `  copse up
  copse up --detach
  copse up --print-unit > ~/.config/systemd/user/copse.service
  copse up --rotate-token`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the `path` of the repository (default: the working folder)")
	f.IntVar(&o.port, "port", supervisor.FirstPort, "the first `port`")
	f.StringSliceVar(&o.listen, "listen", nil, "listen on these `addresses` instead of loopback; demands a token")
	f.StringSliceVar(&o.origins, "allow-origin", nil, "let pages of these `origins` use the servers, such as http://localhost:5173")
	f.BoolVar(&o.noToken, "no-token", false, "demand no token: every program of this machine can use the servers")
	f.BoolVar(&o.rotate, "rotate-token", false, "make another token, which counts at once, and end")
	f.BoolVar(&o.detach, "detach", false, "go on in the background")
	f.BoolVar(&o.printUnit, "print-unit", false, "print a unit for systemd, or a plist for launchd, and end")
	f.CountVarP(&o.verbosity, "verbose", "v", "log more: once for information, twice for debugging, three times for everything")
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
	dir := folder(env, o.repo)
	socket, err := control.Take(files.Runtime)
	if errors.Is(err, control.ErrTaken) {
		return join(ctx, env, files, dir)
	}
	if err != nil {
		return err
	}
	if o.detach {
		// The other process takes it.
		if err := socket.Close(); err != nil {
			return err
		}
		return detach(ctx, env, files, dir)
	}
	return serve(ctx, env, o, files, dir, socket)
}

// folder is an absolute path.
func folder(env app.Env, path string) string {
	if path == "" {
		return env.Dir
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	return filepath.Clean(path)
}

// rotate makes another token and tells the process that runs.
func rotate(ctx context.Context, env app.Env, files servers.Files) error {
	if _, err := bearer.New(files.Token).Rotate(ctx); err != nil {
		return err
	}
	err := control.NewClient(files.Runtime).Reload(ctx)
	if err != nil && !errors.Is(err, control.ErrNotRunning) {
		return fmt.Errorf("there is a new token, but copse up still demands the old one: %w", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "There is a new token in %s. Clients need it from now on.\n", files.Token)
	return err
}

// join asks the process that runs to serve this repository, too.
func join(ctx context.Context, env app.Env, files servers.Files, dir string) error {
	client := control.NewClient(files.Runtime)
	if err := client.Join(ctx, dir); err != nil {
		return err
	}
	status, err := client.Status(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "joined the copse up that runs as process %d; how that was started counts\n", status.PID)
	return printStatus(env, status, files)
}

// serve supervises until ctx ends, or another process asks to stop.
func serve(ctx context.Context, env app.Env, o options, files servers.Files, dir string, socket *control.Socket) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	guard, reload, err := guard(ctx, env, o, files)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	logger := app.NewLogger(env.Stderr, o.verbosity)
	serving := servers.Options{
		Env: env, Disabled: o.choice.Disabled(), ReadOnly: o.choice.ReadOnly, Instructions: mcp.Instructions, Logger: logger,
	}
	fleet := supervisor.New(supervisor.Options{
		Repository: servers.Repository{Env: env}, Serve: serving.Serve, Guard: guard,
		Ports: supervisor.NewPorts(files.Ports, o.port), Hosts: o.listen, Logger: logger,
	})
	var answering sync.WaitGroup
	answering.Go(func() {
		if err := control.Serve(socket, fleet, control.Options{Guarded: !o.noToken, Stop: stop, Reload: reload}); err != nil {
			logger.Warn("copse status and its like are not answered", "error", err)
		}
	})
	if err = fleet.Join(ctx, dir); err == nil {
		err = printStatus(env, control.Status{PID: os.Getpid(), Guarded: !o.noToken, Worktrees: fleet.Status()}, files)
	}
	if err == nil {
		<-ctx.Done()
	}
	fleet.Close()
	err = errors.Join(err, socket.Close())
	answering.Wait()
	return err
}

// guard is what stands before each server, and what makes it read the token anew.
func guard(ctx context.Context, env app.Env, o options, files servers.Files) (func(http.Handler) http.Handler, func(context.Context) error, error) {
	opts := httpguard.Options{Hosts: o.listen, Origins: o.origins, Open: []string{"/healthz"}, Now: env.Now}
	if len(o.listen) > 0 {
		if name, err := os.Hostname(); err == nil {
			opts.Hosts = append(opts.Hosts, name)
		}
	}
	reload := func(context.Context) error { return nil }
	if !o.noToken {
		kept := &token{file: bearer.New(files.Token)}
		if err := kept.reload(ctx); err != nil {
			return nil, nil, err
		}
		opts.Token, reload = kept.get, kept.reload
	}
	return func(h http.Handler) http.Handler { return httpguard.New(opts, h) }, reload, nil
}

// token is the present one.
type token struct {
	file *bearer.File

	mu    sync.Mutex
	value string
}

func (t *token) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value
}

func (t *token) reload(ctx context.Context) error {
	value, err := t.file.Token(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value = value
	return nil
}

// upTime is how long a detached process may take until it answers.
const upTime = 10 * time.Second

// detach starts the process again, in the background, and waits until it serves.
func detach(ctx context.Context, env app.Env, files servers.Files, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(files.Log), 0o700); err != nil {
		return fmt.Errorf("make a folder for the log: %w", err)
	}
	log, err := os.OpenFile(files.Log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer log.Close()
	args := append(withoutFlag(env.Args, "--detach"), "--repo", dir)
	if _, err := xec.Detach(xec.Command{Name: program, Args: args, Dir: dir, Env: env.Environ}, log); err != nil {
		return err
	}
	client := control.NewClient(files.Runtime)
	for deadline := env.Now().Add(upTime); env.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		status, err := client.Status(ctx)
		if err == nil && len(status.Worktrees) > 0 {
			return printStatus(env, status, files)
		}
	}
	text, _ := os.ReadFile(files.Log) // what there is
	return fmt.Errorf("copse up did not start; its log is %s: %s", files.Log, strings.TrimSpace(string(text)))
}

// withoutFlag are arguments without a flag that has no value.
func withoutFlag(args []string, flag string) []string {
	var kept []string
	for _, a := range args {
		if a != flag && !strings.HasPrefix(a, flag+"=") {
			kept = append(kept, a)
		}
	}
	return kept
}
