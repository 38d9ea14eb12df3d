package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/workflow/doctor"
	"github.com/copse-dev/copse/internal/xec"
)

// Examine checks the workspace of the current directory, or of repo.
func Examine(ctx context.Context, env app.Env, repo string, online bool) []doctor.Finding {
	files, unknown := servers.Places(env) // the check of copse up reports it
	status := func(ctx context.Context) (control.Status, error) {
		if unknown != nil {
			return control.Status{}, unknown
		}
		return control.NewClient(files.Runtime).Status(ctx)
	}
	ws := full.Find(ctx, env, repo)
	tasks := ws.Tasks()
	defer tasks.Close()
	commands, _ := ws.Commands()
	location := ClientFiles(env, ws.Workspace())
	location.Main = ws.Main
	d := doctor.Doctor{
		Words: doctor.Words{
			Errors: ws.Words, Install: "copse mcp install", InitItems: "copse item init", CheckItems: "copse item doctor",
			ShareItems: "copse item init --shared", SyncItems: "copse item sync",
			InitCommands: "copse prompt init", IndexCommands: "copse prompt index",
		},
		Version: app.Version(), Executable: env.Executable, Environ: xec.Env(env.Environ), Getenv: env.Getenv, Online: online,
		Session: ws.Session, Worktree: ws.Worktree, Branches: ws.Branches, Pulls: ws.Pulls, Issues: ws.Issues,
		Finder: wiring.Finder(env, ws.Workspace()), Settings: ws.Settings, SettingsFile: env.SettingsFile(),
		Items: func() doctor.ItemStore { return ws.Items() }, SharedItems: ws.Sync(ws.FilesOfItems()).Elsewhere, Commands: commands, Tasks: tasks, Engine: ws.Containers(),
		Clients: location, Status: status, Ports: files.Ports, Tokens: files.Tokens,
	}
	return d.Examine(ctx)
}

func doctorCommand(env app.Env) *cobra.Command {
	var (
		repo           string
		online, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose the connection to your assistant",
		Long: `Diagnose the connection to your assistant: the program, the handshake, the configurations of
clients, git, tracked branches, logins, work items, prompts, tasks, containers, and copse up. Each
line has a verdict, a check, and a finding with the next step. The verdict "none" means that
something optional is not set up. In a pipe, tabs separate the columns.

The command sends no request to GitHub and Jira without --online. The exit code is 1 if a check
fails, and 0 if only optional things are missing.`,
		Example: `  copse mcp doctor
  copse mcp doctor --online`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop := progress.Show(env, "running the checks")
			found := Examine(cmd.Context(), env, repo, online)
			stop()
			if err := report(env, found, asJSON); err != nil {
				return err
			}
			for _, f := range found {
				if f.Verdict == doctor.Failed {
					return app.ExitCode(app.Failed)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the `path` of the project (default: the one that contains the current directory)")
	f.BoolVar(&online, "online", false, "check the logins with GitHub and Jira")
	output.JSONFlag[[]doctor.Finding](cmd, &asJSON)
	return cmd
}

func report(env app.Env, found []doctor.Finding, asJSON bool) error {
	out := output.New(env)
	if asJSON {
		return out.JSON(found)
	}
	var rows [][]string
	for _, f := range found {
		text := f.Text
		if f.Remedy != "" {
			text = strings.TrimSuffix(text, ".") + ". " + f.Remedy
		}
		rows = append(rows, []string{string(f.Verdict), f.Check, text})
	}
	if !out.Terminal() {
		return out.Table([]output.Column{{Name: "verdict"}, {Name: "check"}, {Name: "finding"}}, rows)
	}
	// Wrapped, not cut: the next step is at the end.
	for _, r := range rows {
		mark := fmt.Sprintf("%-4s", r[0])
		if r[0] == string(doctor.Failed) {
			mark = out.Bold(mark)
		}
		if err := out.Hang(fmt.Sprintf("%s  %-12s  ", mark, r[1]), r[2]); err != nil {
			return err
		}
	}
	return nil
}
