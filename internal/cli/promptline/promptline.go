// Package promptline implements the command "copse prompt-line": the branch and its links on one
// line, for a shell prompt and for the status line of a client.
package promptline

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/wiring"
)

// maxName is the maximum length of the name of a branch.
const maxName = 60

// Command returns "copse prompt-line".
func Command(env app.Env) *cobra.Command {
	var statusLine bool
	cmd := &cobra.Command{
		Use:   "prompt-line",
		Short: "Print the branch and its links on one line, for a shell prompt",
		Long: `Print the branch, its parent, issue, and pull request, and an unfinished git command, on one
line. The command reads only files of git, and prints nothing outside a repository.

The first value of PS1 below is for bash. Zsh expands percent signs in prompts: use the second one
there, after "setopt prompt_subst".

With --status-line, it reads the input that Claude Code gives to a status line command. Put this into
~/.claude/settings.json:

  "statusLine": {"type": "command", "command": "copse prompt-line --status-line"}`,
		Example: `  copse prompt-line
  PS1='$(copse prompt-line) \$ '
  PS1='${"$(copse prompt-line)"//[%]/%%} %# '`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := env.Dir
			if statusLine {
				dir = currentDir(env)
			}
			line := describe(cmd.Context(), env, dir)
			if line == "" {
				return nil
			}
			return output.New(env).Whole(line)
		},
	}
	cmd.Flags().BoolVar(&statusLine, "status-line", false, "read the directory from the JSON that Claude Code writes to standard input")
	return cmd
}

// currentDir returns the directory of a client's session.
func currentDir(env app.Env) string {
	var session struct {
		Workspace struct {
			Dir string `json:"current_dir"`
		} `json:"workspace"`
		Dir string `json:"cwd"`
	}
	if !input.Event(env.Stdin, &session) {
		return env.Dir
	}
	for _, dir := range []string{session.Workspace.Dir, session.Dir} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return env.Dir
}

// describe returns the line, "" outside a repository.
func describe(ctx context.Context, env app.Env, dir string) string {
	at := env
	at.Dir = dir
	sources := wiring.New(wiring.Options{Program: "copse", Env: at})
	line, err := session.Read(ctx, sources.Session, func(ctx context.Context, v *session.View) (string, error) {
		name, err := v.Branch(ctx)
		if err != nil {
			return "", err
		}
		going, err := v.Operation(ctx)
		if err != nil {
			return "", err
		}
		parts := []string{short(name)}
		if name == "" {
			parts[0] = "detached"
		}
		if state, err := v.State(ctx); err == nil && name != "" { // without it, there are no links
			m := state.Metadata(name)
			if m.ParentBranch != "" {
				parts = append(parts, "on "+short(m.ParentBranch))
			}
			if m.JiraIssue != "" {
				parts = append(parts, short(m.JiraIssue))
			}
			if m.PRNumber != 0 {
				parts = append(parts, fmt.Sprintf("#%d", m.PRNumber))
			}
		}
		if going != nil {
			parts = append(parts, "("+short(going.String())+")")
		}
		return strings.Join(parts, " "), nil
	})
	if err != nil {
		return "" // a prompt is not a place for errors
	}
	return line
}

func short(name string) string { return cleantext.Cut(cleantext.Line(name), maxName) }
