package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Who owns a table decides which functions run when others read and change it. Any role that may
// create in a database can create the schema copse, or a view in it, before the owner of the work items
// does.

// owner is the owner of the schema copse.
type owner struct {
	owner string
	// trusted means that the role controls the database, or is that of this connection.
	trusted bool
}

// selectOwner asks for the owner of the schema, and for a relation in it that copse does not create, or
// that belongs to a role other than the owner.
const selectOwner = `with trusted as (
		select d.datdba as id from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
		union select r.oid from pg_catalog.pg_roles r where r.rolsuper or r.rolname = current_user or r.rolname = 'pg_database_owner'
	)
	select o.rolname::text, n.nspowner in (select t.id from trusted t), coalesce((
		select c.relname::text from pg_catalog.pg_class c
		where c.relnamespace = n.oid and (c.relkind not in ('r', 'p', 'i', 'I', 'S') or
			c.relowner <> n.nspowner and c.relowner not in (select t.id from trusted t))
		order by c.relname limit 1), '')
	from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner where n.nspname = 'copse'`

// examine returns the owner of the schema, a trusted one if there is no schema.
func examine(ctx context.Context, db Querier) (owner, error) {
	o := owner{trusted: true}
	var relation string
	err := db.QueryRow(ctx, selectOwner).Scan(&o.owner, &o.trusted, &relation)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return o, nil
	case err != nil:
		return o, err
	case relation != "":
		return o, &storage.StoreError{
			Problem: fmt.Sprintf("%s in the schema copse of the database is not a table of the schema's owner", name(relation)),
			Next:    "Nothing was read or changed. Ask the owner of the database to remove it, or to change its owner.",
		}
	}
	return o, nil
}

// foreignSchema is the error of a migration in the schema of another role.
func foreignSchema(role string) error {
	return &storage.StoreError{
		Problem: fmt.Sprintf("the schema copse of the database belongs to the role %s, which is neither yours nor the owner of the database", name(role)),
		Next:    "Nothing was changed. Ask the owner of the database to drop the schema, or to make your role its owner.",
	}
}

// name returns the name of a role or relation in quotes, clean and short.
func name(s string) string { return fmt.Sprintf("%q", cleantext.Cut(cleantext.Line(s), 60)) }
