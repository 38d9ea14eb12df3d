package up

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
)

// ask connects to the running process.
func ask(env app.Env) (*control.Client, servers.Files, error) {
	files, err := servers.Places(env)
	if err != nil {
		return nil, files, err
	}
	return control.NewClient(files.Runtime), files, nil
}

func openCommand(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "open PATH",
		Short:   "Serve another worktree, of any repository",
		Example: "  copse open ~/src/other",
		Args:    app.Args(1, 1, "PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			if _, err := running(cmd.Context(), env, client); err != nil {
				return err
			}
			state, err := client.Open(cmd.Context(), directory(env, args[0]))
			if err != nil {
				return err
			}
			if state.MCP.LastError != "" {
				return errors.New(state.MCP.LastError)
			}
			return output.New(env).Line("%s is served at %s", state.Path, url(state.MCP.Port))
		},
	}
}

func closeCommand(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "close PATH",
		Short:   "Stop serving one worktree",
		Example: "  copse close ~/src/app-review",
		Args: func(cmd *cobra.Command, args []string) error {
			err := app.Args(1, 1, "PATH")(cmd, args)
			if err == nil && isItem(env, args[0]) {
				err = fmt.Errorf("%s is not a directory", args[0])
			}
			if err != nil {
				return app.UsageError(err.Error() + "; to close a work item, run `copse item update ID --status done`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			state, err := client.Close(cmd.Context(), directory(env, args[0]))
			if err != nil {
				return err
			}
			return output.New(env).Line("%s is no longer served", state.Path)
		},
	}
}

// isItem reports whether an argument is the number of a work item and no path.
func isItem(env app.Env, arg string) bool {
	if _, err := strconv.Atoi(strings.TrimPrefix(arg, "#")); err != nil {
		return false
	}
	_, err := os.Stat(directory(env, arg))
	return err != nil
}

func downCommand(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop all servers",
		Example: "  copse down",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			running, err := client.Status(cmd.Context())
			if err == nil {
				err = client.Stop(cmd.Context())
			}
			if errors.Is(err, control.ErrNotRunning) {
				return output.New(env).Line("copse up is not running.")
			}
			if err != nil {
				return err
			}
			for deadline := env.Now().Add(upTime); env.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				if _, err := client.Status(cmd.Context()); errors.Is(err, control.ErrNotRunning) {
					return output.New(env).Line("Stopped copse up (PID %d), which served %s.", running.PID, cleantext.Count(len(running.Worktrees), "worktree"))
				}
			}
			return errors.New("copse up has not stopped yet; run `copse status` to see whether it still runs")
		},
	}
}

// watchEvery is the interval between two looks at a watched status.
const watchEvery = time.Second

func statusCommand(env app.Env) *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the running servers and their clients",
		Long: `Show the servers of copse up: the URL, the worktree, the number of clients, and the last error.
With --json, each server also lists its tools. A client counts while it is connected, and for 30
seconds after that. The command also reports how many changes of a shared store of work items wait
for a sync, and why the last sync failed.

The exit code is 1 if a worktree is not served, or if the entry of a client has a port or a token
that is not copse's. In a pipe, each line has URL, branch, worktree, and state, separated by tabs.`,
		Example: `  copse status
  copse status --watch
  copse status --json`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, files, err := ask(env)
			if err != nil {
				return err
			}
			show := func(s control.Status) error {
				if asJSON {
					return output.New(env).JSON(s)
				}
				return printStatus(env, s)
			}
			status, err := client.Status(cmd.Context())
			if errors.Is(err, control.ErrNotRunning) {
				tellSyncs(cmd.Context(), env, nil)
				tellProblems(env, problems(cmd.Context(), env, nil, files, env.Dir))
			}
			if err != nil {
				return err
			}
			if err := show(status); err != nil {
				return err
			}
			for _, host := range status.Exposed() {
				env.Note("note: " + clearText(host))
			}
			tellSyncs(cmd.Context(), env, status.Worktrees)
			wrong := tellProblems(env, problems(cmd.Context(), env, &status, files, env.Dir))
			if !watch && wrong {
				return app.ExitCode(app.Failed)
			}
			if !watch {
				return nil
			}
			return follow(cmd.Context(), client, status, show)
		},
	}
	app.ExpectFlags(cmd, map[string]string{"s short b porcelain": "this is the status of copse's servers; for that of the worktree, use `git status`"})
	f := cmd.Flags()
	output.JSONFlag[control.Status](cmd, &asJSON)
	f.BoolVar(&watch, "watch", false, "print the status again after each change, until you stop the command")
	return cmd
}

// follow shows each change until copse up or the caller ends.
func follow(ctx context.Context, client *control.Client, last control.Status, show func(control.Status) error) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		status, err := client.Status(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if reflect.DeepEqual(status, last) {
			continue
		}
		last = status
		if err := show(status); err != nil {
			return err
		}
	}
}

func url(port int) string { return "http://localhost:" + strconv.Itoa(port) + "/mcp" }

// printStatus prints a table, and for a person the location of the tokens.
func printStatus(env app.Env, s control.Status) error {
	out := output.New(env)
	var rows [][]string
	for _, w := range s.Worktrees {
		where, state := url(w.MCP.Port), clients(w.MCP.ConnectedClients)
		if !w.MCP.ServerRunning {
			where, state = "-", "not served"
		}
		if w.MCP.LastError != "" {
			state = cleantext.Line(w.MCP.LastError)
		}
		rows = append(rows, []string{where, w.Branch, w.Path, strings.TrimSpace(state)})
	}
	if s.Shared != nil {
		where, state := url(s.Shared.MCP.Port), clients(s.Shared.MCP.ConnectedClients)
		if !s.Shared.MCP.ServerRunning {
			where, state = "-", cleantext.Line(s.Shared.MCP.LastError)
		}
		rows = append(rows, []string{where, "", "all worktrees", state})
	}
	if len(s.Worktrees) == 0 {
		env.Note("note: no worktree is served yet; copse serves each one that `git worktree add` creates here, and `copse open PATH` adds another one")
	}
	if s.Unserved > 0 {
		env.Note("note: " + cleantext.Count(s.Unserved, "less recently used worktree") + " beyond the limit of 50 for a repository; `copse open PATH` serves one")
	}
	err := out.Table([]output.Column{{Name: "url"}, {Name: "branch"}, {Name: "worktree", Flexible: true, Path: true}, {Name: "state", Flexible: true}}, rows)
	if err == nil && s.Guarded && out.Terminal() && len(s.Worktrees) > 0 {
		err = out.Line("Clients send the header \"Authorization: Bearer …\" with the token of their server, one of those in %s", filepath.Dir(s.Worktrees[0].TokenFile))
	}
	return err
}

// problems returns the problems of the worktrees, and of the clients' entries for them. Without a
// status, copse up is not running.
func problems(ctx context.Context, env app.Env, running *control.Status, files servers.Files, dir string) []string {
	var found []string
	if running != nil {
		found = running.Failures()
	}
	for _, p := range cliententries.New(files.Ports, files.Tokens, running).Problems(ctx, mcp.ClientFiles(env, dir)) {
		found = append(found, cleantext.Line(p))
	}
	return found
}

// tellProblems prints them for the person, and reports whether there are any.
func tellProblems(env app.Env, found []string) bool {
	for _, p := range found {
		env.Note("problem: " + p)
	}
	return len(found) > 0
}

// tellSyncs prints which shared stores of work items have changes that wait for a sync, and why the
// last one failed: the stores of the served worktrees and of the current directory. These are not
// problems of the servers.
func tellSyncs(ctx context.Context, env app.Env, worktrees []supervisor.State) {
	var told distinct.List[string]
	for _, dir := range append([]string{""}, paths(worktrees)...) {
		ws := full.Find(ctx, env, dir)
		store := ws.Items()
		if files, ok := store.(*local.Store); ok {
			if path, err := files.Path(); err == nil && told.Add(path) {
				tellSync(ctx, env, ws, files)
			}
		}
		_ = store.Close()
	}
}

// tellSync prints those of one store. The doctor reports its problems.
func tellSync(ctx context.Context, env app.Env, ws *full.Workspace, store *local.Store) {
	if n, err := ws.Sync(store).Waiting(ctx); err == nil && n > 0 {
		env.Note("note: changes in " + cleantext.Count(n, "file") + " of work items wait for the next sync; run `copse item sync`")
	}
	failed, err := store.SyncProblems(ctx)
	if err != nil {
		return
	}
	for _, w := range failed {
		env.Note("note: work items " + cleantext.Line(w.Reason) + "; run `copse item sync` to try again")
	}
}

func paths(worktrees []supervisor.State) []string {
	list := make([]string, len(worktrees))
	for i, w := range worktrees {
		list[i] = w.Path
	}
	return list
}

// showStatus prints the state. It fails if there is a problem.
func showStatus(ctx context.Context, env app.Env, s control.Status, files servers.Files, dir string) error {
	if err := printStatus(env, s); err != nil {
		return err
	}
	if tellProblems(env, problems(ctx, env, &s, files, dir)) {
		return app.ExitCode(app.Failed)
	}
	return nil
}

// announce prints the state at the start. It fails if there is nothing to wait for.
func announce(ctx context.Context, env app.Env, s control.Status, files servers.Files, dir string) error {
	if err := printStatus(env, s); err != nil {
		return err
	}
	wrong := tellProblems(env, problems(ctx, env, &s, files, dir))
	if wrong && !slices.ContainsFunc(s.Worktrees, func(w supervisor.State) bool { return w.MCP.ServerRunning }) {
		return app.ExitCode(app.Failed)
	}
	return nil
}

func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return strconv.Itoa(n) + " clients"
}
