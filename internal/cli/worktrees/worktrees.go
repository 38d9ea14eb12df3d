// Package worktrees implements "copse worktrees": the worktrees, the clients and tasks in them, and
// whether they are safe to remove.
package worktrees

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
)

// Command returns "copse worktrees".
func Command(env app.Env) *cobra.Command {
	var repo string
	var headers, asJSON bool
	cmd := &cobra.Command{
		Use:   "worktrees",
		Short: "List worktrees: changes, clients, and what is safe to remove",
		Long: `List the worktrees of the repository: the branch and its upstream, uncommitted changes, the pull
request and the work item, the MCP clients and tasks that work there, and whether the worktree is
safe to remove.

A worktree is safe to remove if it is merged, clean, and pushed, has no ignored files, and no client
or task works there. Pull requests come from the last answers of GitHub. A client appears until its
server ends, or until ten minutes after its last call.

At a terminal, paths are relative to the directory that contains the main worktree, and a star marks
the worktree that you are in. In a pipe, each line has the full path, branch, changes, upstream, last commit, pull request, item, clients,
removal, and notes ("current" for the worktree that you are in), separated by tabs; --headers names
them.`,
		Example: "  copse worktrees\n  copse worktrees --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return app.UsageError(fmt.Sprintf("takes no arguments, got %q; to add or remove a worktree, use `git worktree` or `copse item start ID --worktree --run`", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ws := full.Find(cmd.Context(), env, repo)
			ws.Warn()
			store := ws.Items()
			all, err := ws.Worktrees(store).List(cmd.Context())
			if err = errors.Join(err, store.Close()); err != nil {
				return output.Explain(err)
			}
			noteUnexamined(env, all)
			if asJSON {
				return output.New(env).JSON(all)
			}
			return show(env, all, headers)
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	output.HeadersFlag(cmd, &headers)
	output.JSONFlag[[]worktrees.Worktree](cmd, &asJSON)
	return cmd
}

// noteUnexamined prints how many worktrees copse only lists.
func noteUnexamined(env app.Env, all []worktrees.Worktree) {
	left := 0
	for _, w := range all {
		if w.Unexamined {
			left++
		}
	}
	if left > 0 {
		env.Notef("note: copse did not examine %s; remove those that you do not need with `git worktree remove`", cleantext.Count(left, "less recently used worktree"))
	}
}

// show prints a line for each worktree.
func show(env app.Env, all []worktrees.Worktree, headers bool) error {
	switch i := slices.IndexFunc(all, func(w worktrees.Worktree) bool { return w.Note != "" }); {
	case i >= 0:
		env.Note("note: " + all[i].Note)
	case len(all) == 1:
		env.Note("note: this is the only worktree; `git worktree add` or `copse item start ID --worktree --run` adds one")
	}
	out := output.New(env).Headed(headers)
	var rows [][]string
	for _, w := range all {
		path, remove := w.Path, removal(w)
		if out.Terminal() {
			if !w.Missing {
				w.Claims, w.Tasks = nil, nil // the reasons to keep the worktree name them
			}
			path = short(path, all[0].Path)
			if w.SafeToRemove {
				remove = strings.Replace(remove, "safe", "safe to remove", 1)
			}
		}
		if w.Current && out.Terminal() {
			path += " *"
		}
		row := []string{path, w.Label(), changes(w), upstream(w), age(w.LastCommit, env.Now()), pull(w.PullRequest), task(w.Item), users(w), remove}
		if !out.Terminal() {
			note := ""
			if w.Current {
				note = "current"
			}
			row = append(row, note)
		}
		rows = append(rows, row)
	}
	columns := []output.Column{
		{Name: "worktree", Handle: true}, {Name: "branch", Handle: true}, {Name: "changes"}, {Name: "upstream"}, {Name: "committed"},
		{Name: "pr"}, {Name: "item", Flexible: true}, {Name: "who", Flexible: true, Clear: true},
		{Name: "remove", Clear: true}, // the reasons to keep a worktree are never cut
	}
	if !out.Terminal() {
		columns = append(columns, output.Column{Name: "note"})
	}
	return out.Table(columns, rows)
}

// short returns a path for a reader: relative to the directory that contains the main worktree, or
// unchanged if it is not in that directory.
func short(path, main string) string {
	relative, err := filepath.Rel(filepath.Dir(main), path)
	if err != nil || !filepath.IsLocal(relative) || relative == "." {
		return path
	}
	return relative
}

// changes describes the uncommitted changes, and an operation that git interrupted.
func changes(w worktrees.Worktree) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{w.Changed, "changed"}, {w.Untracked, "untracked"}, {w.Conflicted, "in conflict"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if w.Operation != nil {
		parts = append(parts, w.Operation.String())
	}
	switch {
	case w.Missing:
		parts = append(parts, "missing")
	case w.Unexamined:
		parts = append(parts, "not examined")
	case w.Uncompared:
		parts = append(parts, "not compared")
	}
	if len(parts) == 0 {
		return "clean"
	}
	return strings.Join(parts, ", ")
}

func upstream(w worktrees.Worktree) string {
	switch {
	case w.Upstream == "":
		return "-"
	case w.UpstreamGone:
		return "gone"
	case w.Ahead+w.Behind == 0:
		return "up to date"
	}
	return fmt.Sprintf("+%d -%d", w.Ahead, w.Behind)
}

func age(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return fact.Age(at, now)
}

func pull(p *worktrees.PullRequest) string {
	if p == nil {
		return "-"
	}
	parts := []string{fmt.Sprintf("#%d", p.Number)}
	for _, part := range []string{p.State, p.Checks} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

func task(i *worktrees.Item) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("#%d %s", i.ID, i.Title)
}

// users names the clients and tasks in a worktree.
func users(w worktrees.Worktree) string {
	var parts []string
	for _, c := range w.Claims {
		parts = append(parts, fmt.Sprintf("%s holds #%d", c.Agent, c.ID))
	}
	for _, c := range w.Clients {
		text := c.Name
		if c.Tool != "" {
			text += " (" + c.Tool + ")"
		}
		parts = append(parts, text)
	}
	for _, t := range w.Tasks {
		parts = append(parts, "task "+t)
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func removal(w worktrees.Worktree) string {
	switch {
	case w.Missing && w.Locked:
		return "it is locked: run `git worktree unlock` before `git worktree prune`"
	case w.Missing:
		return "run `git worktree prune`"
	case w.SafeToRemove && w.Merged != "":
		return "safe: " + w.Merged
	case w.SafeToRemove:
		return "safe"
	}
	return "keep: " + strings.Join(w.Keep, ", ")
}
