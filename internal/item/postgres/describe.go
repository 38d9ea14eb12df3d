package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
)

// Description is what a person needs to know of a database that does not do what it should.
type Description struct {
	// Server is what the server says of its version.
	Server string
	// Tables is the version of the tables, 0 for none; Latest is the one that this program
	// needs.
	Tables, Latest int
	// Connection says how the connection is protected.
	Connection string
	Role       string
	// Writes says that the role may change items. ReadOnly says that the server does not let
	// anybody change anything, as a replica does.
	Writes, ReadOnly bool
}

// Lines returns the description as lines for a person.
func (d Description) Lines() []string {
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

// Describe asks the database what it is.
func (s *Store) Describe(ctx context.Context) (d Description, err error) {
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.connected()
		if err != nil {
			return err
		}
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		d = Description{Latest: schema.Latest(), Connection: "not encrypted"}
		switch c := conn.Conn().PgConn().Conn().(type) {
		case *tls.Conn:
			d.Connection = "encrypted with " + tls.VersionName(c.ConnectionState().Version)
		default:
			if c.RemoteAddr().Network() == "unix" {
				d.Connection = "a socket on this machine"
			}
		}
		if d.Tables, err = schema.Version(ctx, conn.Conn()); err != nil {
			return err
		}
		var only string
		err = conn.QueryRow(ctx, "select version(), current_user, current_setting('transaction_read_only')").Scan(&d.Server, &d.Role, &only)
		if err != nil || d.Tables == 0 {
			return err
		}
		d.ReadOnly = only == "on"
		return conn.QueryRow(ctx, "select has_table_privilege('copse.item', 'insert') and has_table_privilege('copse.project', 'update')").Scan(&d.Writes)
	})
	version, _, _ := strings.Cut(sqlerror.Clean(d.Server), " on ") // what it was compiled with
	d.Server, d.Role = cmp.Or(version, "unknown"), sqlerror.Clean(d.Role)
	return d, err
}
