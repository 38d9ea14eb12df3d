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
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// trashed is a deleted item in JSON.
type trashed struct {
	backlog.Fields
	Deleted string `json:"deleted"`
}

// purged is the outcome in JSON.
type purged struct {
	Purged []item.ID `json:"purged"`
}

func (c cli) trash() *cobra.Command {
	list := c.trashList()
	cmd := &cobra.Command{
		Use:     "trash",
		Short:   "List deleted items, or remove them permanently",
		Example: fmt.Sprintf("  %[1]s trash list\n  %[1]s trash purge 3 --yes", c.Program),
		Args:    app.Subcommands,
		RunE:    list.RunE,
	}
	cmd.AddCommand(list, c.trashPurge())
	return cmd
}

func (c cli) trashList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List deleted items",
		Long: `List deleted items by ID. "restore" restores an item. In a pipe, each line has ID, time of
deletion, type, status, and title, separated by tabs.`,
		Example: "  " + c.Program + " trash list",
		Args:    app.NoArgs,
		RunE: c.Run(func(ctx context.Context, s storage.Store, _ []string) error {
			found, warnings, err := s.Deleted(ctx)
			if err != nil {
				return err
			}
			c.Warn(warnings)
			o := c.Out()
			if asJSON {
				rows := make([]trashed, len(found))
				for i := range found {
					rows[i] = trashed{backlog.FieldsOf(&found[i].Summary), found[i].At}
				}
				return o.JSON(rows)
			}
			if len(found) == 0 && o.Terminal() {
				c.Env.Notef("note: the trash is empty; `%s delete ID` moves an item to it", c.Program)
			}
			var rows [][]string
			for _, it := range found {
				rows = append(rows, []string{it.ID.String(), c.When(it.At), it.Type, it.Status, it.Title})
			}
			return o.Table([]output.Column{
				{Name: "id", Right: true}, {Name: "deleted"}, {Name: "type"}, {Name: "status"}, {Name: "title", Flexible: true},
			}, rows)
		}),
	}
	output.JSONFlag[[]trashed](cmd, &asJSON)
	return cmd
}

func (c cli) trashPurge() *cobra.Command {
	var all, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "purge [ID...]",
		Short: "Remove deleted items permanently",
		Long: `Remove deleted items permanently: the given ones, or all with --all. You cannot restore them
later, and their IDs are not used again. At a terminal, the command lists the items and asks;
elsewhere, pass --yes.`,
		Example: fmt.Sprintf("  %[1]s trash purge 3 --yes\n  %[1]s trash purge --all --yes", c.Program),
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: c.CompleteDeleted,
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			if all == (len(args) > 0) {
				return app.UsageError("name the IDs of deleted items, or pass --all; 'trash list' shows them")
			}
			deleted, _, err := s.Deleted(ctx)
			if err != nil {
				return err
			}
			ids, err := chosenOf(deleted, args)
			if err != nil {
				return err
			}
			if !yes && len(ids) > 0 {
				if err := c.confirmPurge(ctx, deleted, ids); err != nil {
					return err
				}
			}
			if err := s.Purge(ctx, ids...); err != nil {
				return err
			}
			if asJSON {
				return c.Out().JSON(purged{append([]item.ID{}, ids...)})
			}
			return c.Out().Line("%s", removed(len(ids)))
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "remove all deleted items")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	output.JSONFlag[purged](cmd, &asJSON)
	return cmd
}

// removed states how many deleted items were removed.
func removed(n int) string {
	return "Removed " + cleantext.Count(n, "deleted item") + " permanently"
}

// chosenOf returns the given numbers, or those of all deleted items.
func chosenOf(deleted []storage.Trashed, args []string) ([]item.ID, error) {
	if len(args) == 0 {
		var ids []item.ID
		for _, it := range deleted {
			ids = append(ids, it.ID)
		}
		return ids, nil
	}
	var named distinct.List[item.ID]
	for _, arg := range args {
		id, err := itemcmd.ParseID(arg)
		if err != nil {
			return nil, err
		}
		named.Add(id)
	}
	return named.Values(), nil
}

// confirmPurge shows the items to remove, and asks.
func (c cli) confirmPurge(ctx context.Context, deleted []storage.Trashed, ids []item.ID) error {
	if !c.Env.Interactive() {
		return app.UsageError("refusing to remove items without confirmation; pass --yes")
	}
	titles := map[item.ID]string{}
	for _, it := range deleted {
		titles[it.ID] = cleantext.Line(it.Title)
	}
	c.Env.Note("Remove these items permanently?")
	for _, id := range ids {
		c.Env.Notef("  #%d %s", id, titles[id])
	}
	yes, err := input.Yes(ctx, c.Env, "Continue?")
	if err == nil && !yes {
		err = errors.New("no changes made")
	}
	return err
}
