// Package describe describes a database of work items for a person: its server, tables, connection,
// and role.
package describe

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
)

// Database is what a person needs to know of a database that does not do what it should.
type Database struct {
	// Server is what the server says of its version.
	Server string
	// Tables is the version of the tables, 0 for none; Latest is the one that this program
	// needs.
	Tables, Latest int
	// Connection says how the connection is protected.
	Connection string
	Role       string
	// Writes means that the role may change items. ReadOnly says that the server does not let
	// anybody change anything, as a replica does.
	Writes, ReadOnly bool
}

// Lines returns the description as lines for a person.
func (d Database) Lines() []string {
	tables := fmt.Sprintf("version %d, up to date", d.Tables)
	if d.Tables != d.Latest {
		tables = fmt.Sprintf("version %d, and this program needs version %d", d.Tables, d.Latest)
	}
	may := "may only read"
	switch {
	case d.Tables == 0:
		may = "has no tables to use"
	case d.ReadOnly:
		may = "can only read, because the server is a replica or read-only"
	case d.Writes:
		may = "may change items"
	}
	return []string{
		"server: " + d.Server,
		"tables: " + tables,
		"connection: " + d.Connection,
		"role: " + d.Role + " " + may,
	}
}

// Ask returns the description that the server of a pool gives.
func Ask(ctx context.Context, pool *pgxpool.Pool) (Database, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return Database{}, err
	}
	defer conn.Release()
	d := Database{Latest: schema.Latest(), Connection: protection(conn.Conn().PgConn().Conn())}
	if d.Tables, err = schema.Version(ctx, conn.Conn()); err != nil {
		return Database{}, err
	}
	var only string
	err = conn.QueryRow(ctx, "select pg_catalog.version(), current_user, pg_catalog.current_setting('transaction_read_only')").Scan(&d.Server, &d.Role, &only)
	if err == nil && d.Tables > 0 {
		err = conn.QueryRow(ctx, "select pg_catalog.has_table_privilege('copse.item', 'insert') and pg_catalog.has_table_privilege('copse.project', 'update')").Scan(&d.Writes)
	}
	version, _, _ := strings.Cut(sqlerror.Clean(d.Server), " on ") // what it was compiled on
	d.Server, d.Role, d.ReadOnly = cmp.Or(version, "unknown"), sqlerror.Clean(d.Role), only == "on"
	return d, err
}

// protection says how a connection is protected.
func protection(c net.Conn) string {
	if encrypted, ok := c.(*tls.Conn); ok {
		return "encrypted with " + tls.VersionName(encrypted.ConnectionState().Version)
	}
	if c.RemoteAddr().Network() == "unix" {
		return "a socket on this machine"
	}
	return "not encrypted"
}
