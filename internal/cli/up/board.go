package up

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/xec"
)

func boardCommand(env app.Env) *cobra.Command {
	var (
		repo               string
		printURL, readOnly bool
	)
	cmd := &cobra.Command{
		Use:   "board",
		Short: "Open the local page: branches, worktrees, agents, items, and tasks",
		Long: `Open the local page of the repository in your browser: branches with their pull requests and
checks, worktrees, agents, work items, and tasks, updated live. copse up serves the page. If copse
up is not running, the command starts it in the background.

The browser logs in with a link that works once, within a minute. After that, the address works in
that browser until copse up ends.`,
		Example: `  copse board
  copse board --print-url`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			link, err := link(cmd.Context(), env, repo, readOnly)
			if err != nil {
				return err
			}
			if printURL {
				return output.New(env).Whole(link)
			}
			if err := browse(cmd.Context(), env, directory(env, repo), link); err != nil {
				env.Note("No browser found. Open this link within a minute:")
				return output.New(env).Whole(link)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the `path` of the repository (default: the current directory)")
	f.BoolVar(&printURL, "print-url", false, "print the link instead of opening it")
	f.BoolVar(&readOnly, "read-only", false, "disable changes on the page")
	return cmd
}

// link returns a link to the board of a directory, "" for the working directory. It starts copse up
// if it is not running.
func link(ctx context.Context, env app.Env, repo string, readOnly bool) (string, error) {
	dir := directory(env, repo)
	files, err := servers.Places(env)
	if err != nil {
		return "", err
	}
	if err := requireRepository(ctx, env, repo); err != nil {
		return "", err
	}
	client := control.NewClient(files.Runtime)
	if _, err = running(ctx, env, client); err == nil {
		err = client.Join(ctx, dir)
	}
	if errors.Is(err, control.ErrNotRunning) {
		var status control.Status
		if status, err = start(ctx, env, options{repo: repo}, files, dir, []string{"up"}); err == nil {
			env.Notef("Started copse up in the background (PID %d); `copse down` stops it.", status.PID)
		}
	}
	if err != nil {
		return "", err
	}
	return client.Board(ctx, dir, readOnly)
}

// browse opens a link to the page of dir with the program that the system has for it. Other users must not learn the
// link. They can read the arguments of programs on Linux, where the link is good for processes of
// this user alone, and on macOS, where the link is not an argument.
func browse(ctx context.Context, env app.Env, dir, link string) error {
	c := xec.Command{Name: "xdg-open", Args: []string{link}, Env: ownpath.Without(env.Environ, dir)}
	switch env.GOOS {
	case "darwin":
		c.Name, c.Args, c.Stdin = "osascript", nil, []byte("open location \""+link+"\"\n")
	case "windows":
		c.Name, c.Args = "rundll32", []string{"url.dll,FileProtocolHandler", link}
	}
	_, err := xec.Run(ctx, c)
	return err
}

// linker makes links to the boards of the worktrees that are served.
func linker(fleet *supervisor.Supervisor, find supervisor.Repository, pages *board.Site) func(context.Context, string, bool) (host, path string, err error) {
	return func(ctx context.Context, dir string, readOnly bool) (host, path string, err error) {
		at, err := find.Worktree(ctx, dir)
		if err != nil {
			return "", "", err
		}
		for _, s := range fleet.Status() {
			if s.Path == at.Path {
				path, err = pages.Link(ctx, at.Path, readOnly)
				return pages.Host(), path, err
			}
		}
		return "", "", &supervisor.NotServedError{Path: at.Path}
	}
}

// serversOf returns the servers in the form of the board.
func serversOf(fleet *supervisor.Supervisor) []health.Server {
	states := fleet.Status()
	if shared := fleet.Shared(); shared != nil {
		states = append(states, *shared)
	}
	var out []health.Server
	for _, s := range states {
		out = append(out, health.Server{
			Path: s.Path, Branch: s.Branch, Port: s.MCP.Port, Clients: s.MCP.ConnectedClients, Tools: len(s.MCP.Tools),
			Running: s.MCP.ServerRunning, Problem: s.MCP.LastError,
		})
	}
	return out
}
