// Package itemtrash implements the commands that delete work items, restore them, and remove
// deleted ones permanently.
package itemtrash

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// Commands returns the commands.
func Commands(b itemcmd.Base) []*cobra.Command {
	c := cli{b}
	return []*cobra.Command{c.delete(), c.restore(), c.trash()}
}

// cli is shared by all commands.
type cli struct{ itemcmd.Base }

// deleted is the outcome in JSON.
type deleted struct {
	Deleted item.ID `json:"deleted"`
}

func (c cli) delete() *cobra.Command {
	var yes, steal, asJSON bool
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an item",
		Long: `Move an item to the trash of the project. Its children lose their parent, and other items no
longer depend on it. "restore" restores the item and these relations. The command
shows these effects. At a terminal, it asks; elsewhere, pass --yes. If another agent holds the item, the
command requires --steal.`,
		Example: fmt.Sprintf("  %[1]s delete 3 --yes\n  %[1]s delete 2 --yes --steal", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			id, err := itemcmd.ParseID(args[0])
			if err != nil {
				return err
			}
			preview, _, err := backlog.New(s).PreviewDeletion(ctx, id, steal)
			if err != nil {
				return c.ExplainHeld(err, "delete it anyway")
			}
			if yes {
				c.effects(preview)
			} else if err := c.confirm(ctx, preview); err != nil {
				return err
			}
			if err := s.Delete(ctx, id, preview.Fingerprint, steal); err != nil {
				return c.ExplainHeld(err, "delete it anyway")
			}
			if asJSON {
				return c.Out().JSON(deleted{id})
			}
			return c.Out().Line("Deleted item %d. To restore it, run `%s restore %d`.", id, c.Program, id)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&steal, "steal", false, "delete an item that another agent holds; the history records it")
	output.JSONFlag[deleted](cmd, &asJSON)
	return cmd
}

// effects shows what a deletion changes in other items.
func (c cli) effects(p item.Preview) {
	for _, s := range p.Children {
		c.Env.Notef("%s loses its parent", named(s))
	}
	for _, s := range p.Dependents {
		c.Env.Notef("%s no longer depends on #%d", named(s), p.Item.ID)
	}
}

func named(s *item.Summary) string { return fmt.Sprintf("#%d %s", s.ID, cleantext.Line(s.Title)) }

// confirm shows the effects of a deletion, and asks.
func (c cli) confirm(ctx context.Context, p item.Preview) error {
	if !c.Env.Interactive() {
		c.effects(p)
		return app.UsageError("refusing to delete without confirmation; pass --yes")
	}
	c.Env.Notef("Delete %s?", named(&p.Item.Summary))
	c.effects(p)
	yes, err := input.Yes(ctx, c.Env, "Continue?")
	if err == nil && !yes {
		err = errors.New("no changes made")
	}
	return err
}

func (c cli) restore() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "restore ID",
		Short:   "Restore a deleted item with its relations",
		Example: "  " + c.Program + " restore 3",
		Args:    app.Args(1, 1, "ID"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.CompleteDeleted(cmd, args, prefix)
		},
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			id, err := itemcmd.ParseID(args[0])
			if err != nil {
				return err
			}
			it, err := s.Restore(ctx, id)
			if err != nil {
				return err
			}
			if asJSON {
				return c.Out().JSON(backlog.DocumentOf(&it))
			}
			return itemcmd.Table(c.Out(), []*item.Summary{&it.Summary}, itemcmd.TableOptions{})
		}),
	}
	output.JSONFlag[backlog.Document](cmd, &asJSON)
	return cmd
}
