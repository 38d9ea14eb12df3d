package branch

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/prune"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/workflow/track"
)

// pruned is the outcome in JSON.
type pruned struct {
	Changes []prune.Change `json:"changes"`
	Applied bool           `json:"applied"`
	Note    string         `json:"note,omitempty"`
}

func (c *cli) prune() *cobra.Command {
	var yes, offline, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Update tracked branches after merges, renames, and deletions",
		Long: `Update the tracked branches: a branch whose parent was merged or deleted moves to the next
branch below, a renamed branch gets its new name, and copse stops tracking a deleted branch. Each
change has a reason. At a terminal, the command asks before it writes; elsewhere, pass --yes. No
git branch changes. In a pipe, each line has change, branch, from, to, and reason, separated by
tabs.`,
		Example: "  copse branch prune\n  copse branch prune --offline --yes\n  copse branch prune --json",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p repository, _ []string) error {
			stop := c.asking(offline)
			found, err := p.Prune(ctx, offline)
			stop()
			if err != nil {
				return err
			}
			note := unasked(p, track.Answer{Unasked: found.Unasked})
			if asJSON {
				if yes {
					if err := p.ApplyPruning(ctx, found.Changes); err != nil {
						return err
					}
				}
				return c.out().JSON(pruned{append([]prune.Change{}, found.Changes...), yes, note})
			}
			c.note(note)
			return c.pruneFor(ctx, p, found.Changes, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "apply the changes without asking")
	f.BoolVar(&offline, "offline", false, "do not look up merged pull requests on GitHub")
	output.JSONFlag[pruned](cmd, &asJSON)
	return cmd
}

// pruneFor shows a person the changes, and applies them if yes is set or the person agrees.
func (c *cli) pruneFor(ctx context.Context, p repository, changes []prune.Change, yes bool) (err error) {
	if len(changes) == 0 {
		c.env.Note("every tracked branch is up to date")
		return nil
	}
	if err := c.changes(changes); err != nil {
		return err
	}
	if !yes && c.env.Interactive() {
		if yes, err = input.Yes(ctx, c.env, "Apply these changes?"); err != nil {
			return err
		}
		if !yes {
			c.env.Note("No changes made.")
			return nil
		}
	}
	if !yes {
		c.env.Note("No changes made. Run it again with --yes to apply.")
		return nil
	}
	if err := p.ApplyPruning(ctx, changes); err != nil {
		return err
	}
	c.env.Notef("Applied %s; `copse branch tree` shows the result.", cleantext.Count(len(changes), "change"))
	return nil
}

// changes prints a line for each change.
func (c *cli) changes(list []prune.Change) error {
	var cells [][]string
	for _, change := range list {
		cells = append(cells, []string{string(change.Kind), change.Branch, change.From, change.To, change.Evidence})
	}
	return c.out().Table([]output.Column{
		{Name: "change"}, {Name: "branch", Handle: true}, {Name: "from", Flexible: true}, {Name: "to", Flexible: true}, {Name: "reason"},
	}, cells)
}

func (c *cli) untrack() *cobra.Command {
	return &cobra.Command{
		Use:   "untrack BRANCH...",
		Short: "Stop tracking branches",
		Long: `Stop tracking branches: remove their parents and links. Branches that are stacked on one of
them move to its parent. "." is the current branch. No git branch changes.`,
		Example: "  copse branch untrack feature/old\n  copse branch untrack .",
		Args:    app.Args(1, maxUntracked, "BRANCH..."), ValidArgsFunction: c.completeBranches(maxCompletions),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			names, err := p.names(ctx, args)
			if err != nil {
				return err
			}
			moves, err := p.Untrack(ctx, names)
			if err != nil {
				return err
			}
			for _, m := range moves {
				if m.To == "" {
					c.note(m.Branch + " now has no parent")
					continue
				}
				c.note(m.Branch + " is now stacked on " + m.To)
			}
			return c.out().Line("no longer tracked: %s", strings.Join(names, ", "))
		}),
	}
}

// maxUntracked is the maximum number of branches in one command.
const maxUntracked = 1000
