package branch

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cli/output"
)

func (c *cli) trunk() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trunk",
		Aliases: []string{"root"},
		Short:   "List, add, or remove trunks: the branches that stacks end at",
		Long: `List, add, or remove trunks: the branches that stacks end at, such as main. One of them can be
the default. A tree starts at the default trunk, and branches without a parent appear below it.`,
		Example: "  copse branch trunk add main --default\n  copse branch trunk list",
		Args:    app.Expect(map[string]string{"ls show": "did you mean `copse branch trunk list`?", "rm delete unset": "did you mean `copse branch trunk remove`?", "set new": "did you mean `copse branch trunk add`?"}),
		RunE:    app.Help,
	}
	cmd.AddCommand(c.trunkAdd(), c.trunkRemove(), c.trunkList())
	return cmd
}

func (c *cli) trunkAdd() *cobra.Command {
	var standard bool
	cmd := &cobra.Command{
		Use:     "add BRANCH",
		Short:   "Mark a branch as a trunk",
		Example: "  copse branch trunk add develop",
		Args:    app.Args(1, 1, "BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			name, err := p.one(ctx, args)
			if err != nil {
				return err
			}
			changed, err := p.Change(ctx, func(d *edit.Draft) error { return d.AddRoot(name, standard) })
			if err != nil {
				return err
			}
			kind := "a trunk"
			if standard {
				kind = "the default trunk"
			}
			return c.said(changed, "%s is %s %s", name, kind)
		}),
	}
	cmd.Flags().BoolVar(&standard, "default", false, "make it the default trunk")
	return cmd
}

func (c *cli) trunkRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove BRANCH",
		Short:   "Unmark a branch as a trunk",
		Example: "  copse branch trunk remove develop",
		Args:    app.Args(1, 1, "BRANCH"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.complete(cmd, prefix, (*twig.State).IsRoot), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			name, err := p.named(ctx, args)
			if err != nil {
				return err
			}
			standard := false
			changed, err := p.Change(ctx, func(d *edit.Draft) error {
				for _, r := range d.Before().Roots {
					standard = standard || r.Branch == name && r.IsDefault
				}
				d.RemoveRoot(name)
				return nil
			})
			if err != nil {
				return err
			}
			if !changed {
				return fmt.Errorf("%s is not a trunk; `copse branch trunk list` shows them", name)
			}
			if standard {
				c.note("there is no default trunk now; `copse branch trunk add BRANCH --default` sets one")
			}
			return c.out().Line("%s is no longer a trunk", name)
		}),
	}
}

// trunkRow is a trunk in JSON.
type trunkRow struct {
	Branch  string `json:"branch"`
	Default bool   `json:"default"`
}

func (c *cli) trunkList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the trunks",
		Example: "  copse branch trunk list --json",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p repository, _ []string) error {
			state, err := p.State(ctx)
			if err != nil {
				return err
			}
			rows := []trunkRow{}
			var cells [][]string
			for _, r := range state.Roots {
				rows = append(rows, trunkRow{r.Branch, r.IsDefault})
				note := ""
				if r.IsDefault {
					note = "default"
				}
				cells = append(cells, []string{r.Branch, note})
			}
			if asJSON {
				return c.out().JSON(rows)
			}
			if len(rows) == 0 {
				c.note("no trunk is set; `copse branch init` finds one")
			}
			return c.out().Table([]output.Column{{Name: "trunk", Handle: true}, {Name: "note"}}, cells)
		}),
	}
	output.JSONFlag[[]trunkRow](cmd, &asJSON)
	return cmd
}
