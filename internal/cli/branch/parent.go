package branch

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/workflow/track"
)

// twigSource is the name of the source that the state has for twig's own parents, and does not name.
const twigSource = "twig"

// parentRow is a parent of a branch in JSON.
type parentRow struct {
	Branch string `json:"branch"`
	Parent string `json:"parent"`
	Source string `json:"source"`
}

func (c *cli) parent() *cobra.Command {
	var none, add, asJSON bool
	cmd := &cobra.Command{
		Use:   "parent [BRANCH] [PARENT]",
		Short: "Show, set, or remove the parent of a branch",
		Long: `Show the parent of BRANCH, by default of the current branch. With PARENT, stack BRANCH on
PARENT instead of its earlier parent. With --none, remove its parents, or only PARENT. "." is the
current branch. No git branch changes.

A branch can have several parents: --add keeps the earlier ones. Commands that need one parent
use the first. In a pipe, each line has branch, parent, and source, separated by tabs.`,
		Example: `  copse branch parent
  copse branch parent feature/tests feature/login
  copse branch parent . main
  copse branch parent --none feature/tests`,
		Args: app.Args(0, 2, "no argument, BRANCH, or BRANCH and PARENT"), ValidArgsFunction: c.completeBranches(2),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			child, err := p.named(ctx, args)
			switch {
			case err != nil:
				return err
			case none:
				return c.removeParent(ctx, p, child, args)
			case len(args) < 2 && add:
				return app.UsageError("--add needs BRANCH and PARENT")
			case len(args) < 2:
				return c.showParents(ctx, p, child, asJSON)
			}
			return c.stackOn(ctx, p, args, track.Stacking{Replace: !add, Add: add})
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&none, "none", false, "remove the parents of the branch, or only PARENT")
	f.BoolVar(&add, "add", false, "keep the parents that the branch has")
	output.JSONFlag[[]parentRow](cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("none", "add")
	return cmd
}

// showParents prints the parents of a branch, the first one first.
func (c *cli) showParents(ctx context.Context, p repository, name string, asJSON bool) error {
	if err := p.Check(ctx, name); err != nil {
		return err
	}
	state, err := p.Branches.Stacked(ctx)
	if err != nil {
		return err
	}
	rows := []parentRow{}
	var cells [][]string
	for _, parent := range state.Parents(name) {
		row := parentRow{Branch: name, Parent: parent, Source: cmp.Or(state.Metadata(name).Source, twigSource)}
		rows = append(rows, row)
		cells = append(cells, []string{row.Branch, row.Parent, row.Source})
	}
	if asJSON {
		return c.out().JSON(rows)
	}
	if len(rows) == 0 {
		c.note(fmt.Sprintf("%s has no parent; `%s` sets one", name, cleantext.Command("copse", "branch", "parent", name, "PARENT")))
	}
	return c.out().Table([]output.Column{{Name: "branch", Handle: true}, {Name: "parent", Handle: true}, {Name: "source"}}, cells)
}

// stackOn records a parent of a branch: both are in args.
func (c *cli) stackOn(ctx context.Context, p repository, args []string, how track.Stacking) error {
	names, err := p.existing(ctx, args...)
	if err != nil {
		return err
	}
	child, parent := names[0], names[1]
	parents, changed, err := p.Stack(ctx, child, parent, how)
	if err != nil {
		return err
	}
	if first := parents[0]; first != parent {
		return c.said(changed, "%s is %s stacked on %s, after its first parent %s", child, parent, first)
	}
	return c.said(changed, "%s is %s stacked on %s", child, parent)
}

// said prints the outcome. The second operand of format is "now", or "already" if nothing
// has changed.
func (c *cli) said(changed bool, format, subject string, args ...any) error {
	word := "now"
	if !changed {
		word = "already"
	}
	return c.out().Line(format, append([]any{subject, word}, args...)...)
}

// removeParent removes the parent that args name, or all of them.
func (c *cli) removeParent(ctx context.Context, p repository, child string, args []string) (err error) {
	parent := ""
	if len(args) == 2 {
		if parent, err = p.named(ctx, args[1:]); err != nil {
			return err
		}
	}
	var removed []string
	if _, err := p.Change(ctx, func(d *edit.Draft) error {
		removed = d.Undepend(child, parent)
		return nil
	}); err != nil {
		return err
	}
	if len(removed) == 0 {
		return fmt.Errorf("%s is not stacked on %s; `%s` shows its parents", child, cmp.Or(parent, "a branch"), cleantext.Command("copse", "branch", "parent", child))
	}
	return c.out().Line("%s is no longer stacked on %s", child, strings.Join(removed, ", "))
}

// depend implements the earlier name for setting a parent. Unlike "parent", it refuses to replace
// one unless a flag allows it.
func (c *cli) depend() *cobra.Command {
	var how track.Stacking
	cmd := &cobra.Command{
		Use:     "depend BRANCH PARENT",
		Short:   "Stack a branch on another: the earlier name of \"parent\"",
		Example: "  copse branch depend feature/tests feature/login",
		Hidden:  true,
		Args:    app.Args(2, 2, "BRANCH and PARENT"), ValidArgsFunction: c.completeBranches(2),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error { return c.stackOn(ctx, p, args, how) }),
	}
	f := cmd.Flags()
	f.BoolVar(&how.Replace, "replace", false, "replace the parents that the branch has")
	f.BoolVar(&how.Add, "add", false, "keep the parents that the branch has")
	cmd.MarkFlagsMutuallyExclusive("replace", "add")
	return cmd
}

// undepend implements the earlier name for removing a parent.
func (c *cli) undepend() *cobra.Command {
	return &cobra.Command{
		Use:     "undepend BRANCH [PARENT]",
		Short:   "Remove the parent of a branch: the earlier name of \"parent --none\"",
		Example: "  copse branch undepend feature/tests",
		Hidden:  true,
		Args:    app.Args(1, 2, "BRANCH, or BRANCH and PARENT"), ValidArgsFunction: c.completeBranches(2),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			child, err := p.named(ctx, args[:1])
			if err != nil {
				return err
			}
			return c.removeParent(ctx, p, child, args)
		}),
	}
}
