// Package conflicts implements "copse conflicts": the branches and worktrees that conflict with
// each other or with the trunk.
package conflicts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
)

// view is the JSON form.
type view struct {
	Trunk    string `json:"trunk,omitempty"`
	Compared int    `json:"compared"`
	// NotCompared is the number of pairs that could not be compared; notes say why.
	NotCompared int                  `json:"not_compared,omitempty"`
	Conflicts   []collision.Conflict `json:"conflicts"`
	Notes       []string             `json:"notes,omitempty"`
}

// Command returns "copse conflicts".
func Command(env app.Env) *cobra.Command {
	var repo string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "conflicts [BRANCH...]",
		Short: "Find conflicts between branches, worktrees, and the trunk",
		Long: `Find conflicts between branches, worktrees, and the trunk, file by file, before a merge.
Uncommitted changes are included. With arguments, list only the conflicts of those branches.

copse compares all worktrees, the local branches whose last commit is at most 30 days old, and the
branches of a stack. It omits branches that the trunk already contains. It tries the merges
outside the repository: no file in it changes, and no hook, filter, or merge driver runs. A
repeated call tries only what changed.

Each conflict is listed once. If a branch changes no more than the trunk in a file, its conflict in that
file is one of the other branch with the trunk. If branches in a stack conflict in the same way, the
lowest one is listed, with the number of branches above it.

In a pipe, each line has branch, other branch, file, kind of conflict, holders, and the branches
that contain one of the two and inherit the conflict, separated by tabs.`,
		Example: "  copse conflicts\n  copse conflicts feature/login\n  copse conflicts --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			ws := full.Find(cmd.Context(), env, repo)
			ws.Warn()
			stop := progress.Show(env, "trying merges")
			found, err := ws.Radar().Report(cmd.Context(), conflicts.Request{Branches: args})
			stop()
			if err != nil {
				return output.Explain(err)
			}
			if asJSON {
				return output.New(env).JSON(view(found))
			}
			return show(env, found)
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	output.JSONFlag[view](cmd, &asJSON)
	return cmd
}

// show prints a line for each file of each conflict.
func show(env app.Env, found conflicts.Report) error {
	for _, note := range found.Notes {
		env.Note("note: " + cleantext.Line(note))
	}
	o := output.New(env)
	if len(found.Conflicts) == 0 {
		switch {
		case found.NotCompared > 0 && found.Compared == 0:
			env.Note("no branch or worktree could be compared, so there can be conflicts")
		case found.NotCompared > 0:
			env.Note("no conflicts among the branches and worktrees that could be compared")
		case found.Compared < 2:
			env.Note("there is nothing to compare: a second branch or worktree can conflict with this one")
		default:
			env.Notef("no conflicts among %s and worktrees", cleantext.Count(found.Compared, "branch"))
		}
		return nil
	}
	columns := []output.Column{
		{Name: "branch", Handle: true}, {Name: "with", Handle: true}, {Name: "file", Handle: true}, {Name: "conflict"}, {Name: "held by", Flexible: true},
	}
	if !o.Terminal() {
		columns = append(columns, output.Column{Name: "above"})
	}
	var rows [][]string
	for _, c := range found.Conflicts {
		for _, file := range c.Files {
			kind := c.Kinds[file]
			if kind == "" && !o.Terminal() {
				kind = "modified in both"
			}
			row := []string{c.Branches[0], c.Branches[1], file, kind, held(c.Holders)}
			if o.Terminal() {
				row[0], row[1] = c.Name(row[0]), c.Name(row[1])
			} else {
				row = append(row, strings.Join(slices.Concat(c.Above[row[0]], c.Above[row[1]]), " "))
			}
			rows = append(rows, row)
		}
	}
	return o.Table(columns, rows)
}

// held names the worktrees that have the branches of a conflict.
func held(holders []collision.Holder) string {
	var texts []string
	for _, h := range holders {
		text := h.Worktree
		var more []string
		if h.Uncommitted > 0 {
			more = append(more, fmt.Sprintf("%d uncommitted", h.Uncommitted))
		}
		if more = append(more, h.Clients...); len(more) > 0 {
			text += " (" + strings.Join(more, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
