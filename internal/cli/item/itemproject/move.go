package itemproject

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item/moved"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/itemmove"
)

// inFiles is the value of --to for the store of files.
const inFiles = "local"

// errThere is the error of a move to the present location of the items.
var errThere = errors.New("the items are already there")

func (c cli) move() *cobra.Command {
	var to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "move --to ADDRESS",
		Short: "Move the items to a database, or back to files",
		Long: `Move all items of the project, with their numbers, histories, and comments, and the trash,
to the database at ADDRESS, or to the directory .tic with --to local. The command compares
the copy with the original before it switches to the copy, and nobody can change the items
in the meantime. The old store keeps its content, accepts no more changes, and names the
new store. If a move is interrupted, run the command again to continue.

The command does not move claims: release them first. After the move, choose the new store with
COPSE_ITEMS, or with items.database in your settings.`,
		Example: c.Project("move --to postgres://ada@db.example/team?project=shop") + "\n" + c.Project("move --to local"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return app.UsageError(fmt.Sprintf("takes no arguments, got %q: it moves all items to another store; to change the status of an item, use `%s`", args[0], c.Program+" update ID --status STATUS"))
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`address` of the database, or "+inFiles)
	if err := cmd.MarkFlagRequired("to"); err != nil { // only if there is no such flag
		panic(err)
	}
	output.JSONFlag[itemmove.Done](cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, _ []string) error {
			target, err := named(ws, to)
			if err != nil {
				return err
			}
			defer target.Store.Close()
			source := itemmove.Endpoint{Store: s, Name: ws.ItemsName()}
			if _, files := s.(*local.Store); files && to == inFiles || source.Name == target.Name {
				return errThere
			}
			c.approveUsual(ctx, ws, s)
			if _, err := ws.Sync(s).Publish(ctx); err != nil {
				return fmt.Errorf("nothing was moved, because the shared store could not be synced first, and other clones can have items that it lacks: %w", err)
			}
			done, err := itemmove.Move(ctx, source, target)
			if err != nil {
				return err
			}
			c.tellClones(ctx, ws, source.Store, target.Store)
			if asJSON {
				return c.Out().JSON(done)
			}
			return errors.Join(
				c.Out().Line("Moved %s, %s, and %s to %s, and compared them", cleantext.Count(done.Items, "item"), cleantext.Count(done.Deleted, "deleted item"), cleantext.Count(done.Comments, "comment"), done.To),
				c.Out().Line("%s", nextAfterMove(to, target.Name)),
			)
		})(cmd, nil)
	}
	return cmd
}

// tellClones syncs the files of a move, so that other clones of a shared store notice it.
func (c cli) tellClones(ctx context.Context, ws *full.Workspace, stores ...storage.Store) {
	for _, s := range stores {
		files, ok := s.(*local.Store)
		if !ok {
			continue
		}
		switch told, err := ws.Sync(files).Publish(ctx); {
		case err != nil:
			c.Env.Notef("warning: other clones do not know of the move yet: %v; run `%s` to try again", err, strings.TrimSpace(c.Project("sync")))
		case told:
			c.Env.Note("note: other clones notice the move with their next sync")
		case files.Mode(ctx) == local.Committed:
			c.Env.Note("note: commit .tic, so that other worktrees and clones notice the move")
		}
	}
}

// named returns the store that --to names.
func named(ws *full.Workspace, to string) (itemmove.Endpoint, error) {
	if to == inFiles {
		return itemmove.Endpoint{Store: ws.FilesOfItems(), Name: moved.Files}, nil
	}
	if _, err := address.Parse(to); err != nil {
		return itemmove.Endpoint{}, app.UsageError("the value of --to " + err.Error() + ", or " + inFiles)
	}
	store, name := ws.ItemsAt(to), ws.StoreName(to)
	return itemmove.Endpoint{Store: store, Name: name}, nil
}

// nextAfterMove describes how to switch to the new store.
func nextAfterMove(to, name string) string {
	if to == inFiles {
		return "Next: unset COPSE_ITEMS, and remove the repository from items.database in your settings"
	}
	return "Next: set COPSE_ITEMS='" + name + "', or items.database in your settings"
}
