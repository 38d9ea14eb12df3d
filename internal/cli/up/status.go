package up

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// ask connects to the process that runs.
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
		Short:   "Serve one more worktree, of any repository",
		Example: "  copse open ~/src/other",
		Args:    app.Args(1, 1, "PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			state, err := client.Open(cmd.Context(), folder(env, args[0]))
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
		Args:    app.Args(1, 1, "PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			state, err := client.Close(cmd.Context(), folder(env, args[0]))
			if err != nil {
				return err
			}
			return output.New(env).Line("%s is not served any more", state.Path)
		},
	}
}

func downCommand(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the copse up that runs",
		Example: "  copse down",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, _, err := ask(env)
			if err != nil {
				return err
			}
			if err := client.Stop(cmd.Context()); err != nil {
				return err
			}
			for deadline := env.Now().Add(upTime); env.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				if _, err := client.Status(cmd.Context()); errors.Is(err, control.ErrNotRunning) {
					return nil
				}
			}
			return errors.New("copse up was asked to stop and has not yet")
		},
	}
}

// watchEvery is how often a status that is watched is looked at.
const watchEvery = time.Second

func statusCommand(env app.Env) *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which worktrees are served",
		Long: `Show which worktrees are served, where, to how many clients, and what went wrong last.
With --json each server has its tools, too.`,
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
				return printStatus(env, s, files)
			}
			status, err := client.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := show(status); err != nil || !watch {
				return err
			}
			return follow(cmd.Context(), client, status, show)
		},
	}
	f := cmd.Flags()
	output.JSONFlag[control.Status](cmd, &asJSON)
	f.BoolVar(&watch, "watch", false, "go on, and print again whenever something changes")
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

// printStatus prints a table, and for a person where the token is.
func printStatus(env app.Env, s control.Status, files servers.Files) error {
	out := output.New(env)
	var rows [][]string
	for _, w := range s.Worktrees {
		where, state := url(w.MCP.Port), clients(w.MCP.ConnectedClients)
		if !w.MCP.ServerRunning {
			where = "-"
		}
		if w.MCP.LastError != "" {
			state = cleantext.Line(w.MCP.LastError)
		}
		rows = append(rows, []string{where, w.Branch, w.Path, strings.TrimSpace(state)})
	}
	err := out.Table([]output.Column{{Name: "url"}, {Name: "branch"}, {Name: "worktree", Flexible: true}, {Name: "state", Flexible: true}}, rows)
	if err == nil && s.Guarded && out.Terminal() {
		err = out.Line("Clients send the header \"Authorization: Bearer …\" with the token in %s", files.Token)
	}
	return err
}

func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return strconv.Itoa(n) + " clients"
}
