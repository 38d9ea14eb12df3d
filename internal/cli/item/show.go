package item

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

func (c cli) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an item with its description and comments",
		Long: `Show an item with its description and comments. In a pipe, the command prints a line for each
field, with its name and value separated by a tab, and a line for each comment, with "comment",
author, date, and text. An empty line and the description follow.`,
		Example:           "  " + c.Program + " show 3",
		Args:              app.Args(1, 1, "ID"),
		ValidArgsFunction: c.CompleteItem,
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			id, err := itemcmd.ParseID(args[0])
			if err != nil {
				return err
			}
			it, err := s.Item(ctx, id)
			if err != nil {
				return err
			}
			claim, err := backlog.New(s).Claim(ctx, &it.Summary)
			if err != nil {
				return err
			}
			switch o := c.Out(); {
			case asJSON:
				d := backlog.DocumentOf(&it)
				if claim != nil {
					d.Claim = backlog.ClaimOf(*claim)
				}
				return o.JSON(d)
			case o.Terminal():
				return c.readable(o, &it, claim)
			default:
				return pipe(o, &it, claim)
			}
		}),
	}
	output.JSONFlag[backlog.Document](cmd, &asJSON)
	return cmd
}

// fields returns the names and values of an item's fields, in the original's order.
func fields(it *item.Item, claim *claim.Claim) [][]string {
	parent := ""
	if it.Parent != 0 {
		parent = it.Parent.String()
	}
	var needs []string
	for _, id := range it.DependsOn {
		needs = append(needs, id.String())
	}
	rows := [][]string{
		{"id", it.ID.String()}, {"title", it.Title}, {"type", it.Type}, {"status", it.Status}, {"priority", it.Priority},
		{"iteration", it.Iteration}, {"assignee", it.Assignee}, {"labels", strings.Join(it.Labels, ",")}, {"parent", parent},
		{"depends_on", strings.Join(needs, ",")}, {"created", it.Created}, {"updated", it.Updated},
	}
	for _, row := range [][]string{{"branch", it.Link.Branch}, {"worktree", worktree(it.Link.Worktree)}, {"pull_request", it.Link.PullRequest}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if claim != nil {
		rows = append(rows, []string{"claimed", fmt.Sprintf("by %s until %s", claim.Holder, claim.End().UTC().Format(time.RFC3339))})
	}
	return rows
}

// worktree returns the worktree of a link, with a remark if it was removed, or is on another machine.
func worktree(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path + " (does not exist here)"
	}
	return path
}

// formerly names the earlier number of an item.
func formerly(f item.Former) string { return fmt.Sprintf("renumbered from #%d on %s", f.ID, f.On) }

// pipe writes an item for a script.
func pipe(o *output.Writer, it *item.Item, claim *claim.Claim) error {
	rows := fields(it, claim)
	for _, f := range it.Former {
		rows = append(rows, []string{"renumbered", formerly(f)})
	}
	// These lines come before the description, so no text in it can look like a comment.
	for _, comment := range it.Comments {
		rows = append(rows, []string{"comment", comment.Author, comment.Date, comment.Body})
	}
	if err := o.Table([]output.Column{{Name: "field"}, {Name: "value"}}, rows); err != nil {
		return err
	}
	if it.Description == "" {
		return nil
	}
	return o.Text("\n" + it.Description)
}

// readable writes an item for a person. Foreign text is indented, so a description cannot look like
// somebody else's comment.
func (c cli) readable(o *output.Writer, it *item.Item, claim *claim.Claim) error {
	line := cleantext.Line
	if err := o.Fold(o.Bold(fmt.Sprintf("#%d %s", it.ID, line(it.Title))) + "\n"); err != nil {
		return err
	}
	for _, f := range fields(it, claim)[2:] {
		switch {
		case f[1] == "":
			continue
		case f[0] == "created", f[0] == "updated":
			f[1] = c.When(f[1])
		case f[0] == "worktree":
			if _, err := os.Stat(f[1]); errors.Is(err, fs.ErrNotExist) {
				f[1] += " (not on this machine, or removed)"
			}
		}
		if err := o.Hang(o.Faint(fmt.Sprintf("%-12s", strings.ReplaceAll(f[0], "_", " "))), f[1]); err != nil {
			return err
		}
	}
	var b strings.Builder
	for _, f := range it.Former {
		fmt.Fprintln(&b, o.Faint(line(formerly(f))))
	}
	if it.Description != "" {
		fmt.Fprintf(&b, "\n%s", foreign.Markdown(foreign.Quote(it.Description)))
	}
	for _, comment := range it.Comments {
		fmt.Fprintf(&b, "\n%s\n%s", o.Faint(line(cmp.Or(comment.Author, "unknown")+", "+cmp.Or(c.When(comment.Date), "undated"))), foreign.Markdown(foreign.Quote(comment.Body)))
	}
	return o.Drawn(b.String())
}
