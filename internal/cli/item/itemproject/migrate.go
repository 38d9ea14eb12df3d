package itemproject

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/storage"
)

// migration is a migration in JSON.
type migration struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

func (c cli) migrate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create or update the tables of a team's database",
		Long: `Create or update the tables of work items in the database that COPSE_ITEMS or items.database
in your settings names. Run it once for a new database, and after an upgrade of copse that
requires it. No other command changes tables. The command requires a role that can create a
schema in the database.`,
		Example: "  COPSE_ITEMS=postgres://owner@db.example/team " + c.Project("migrate")[2:],
		Args:    app.NoArgs,
		RunE: c.Run(func(ctx context.Context, s storage.Store, _ []string) error {
			db, ok := s.(*postgres.Store)
			if !ok {
				return itemcmd.ErrNoDatabase
			}
			done, err := db.Migrate(ctx)
			if err != nil {
				return err
			}
			list := []migration{}
			for _, m := range done {
				list = append(list, migration(m))
			}
			o := c.Out()
			switch {
			case asJSON:
				return o.JSON(list)
			case len(list) == 0:
				return o.Line("The tables are up to date")
			}
			for _, m := range list {
				if err := o.Line("Applied migration %d, %s", m.Version, m.Name); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	output.JSONFlag[[]migration](cmd, &asJSON)
	return cmd
}
