package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/test/need"
)

// Pooler starts PgBouncer in front of a database, with few connections that change their
// client with each transaction, and returns the address of the database behind it.
func (s *Server) Pooler(tb testing.TB, database string) string {
	tb.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !executable(program) {
			need.Skip(tb, "PgBouncer is not installed; install the package pgbouncer")
		}
	}
	dir, err := os.MkdirTemp("", "copse-pb-") //nolint:usetesting // another account must get there, and a socket's path is short
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
`, s.Dir, dir)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := giveAway(dir); err != nil {
		tb.Fatal(err)
	}
	run := exec.CommandContext(context.WithoutCancel(tb.Context()), program, "-q", file)
	run.Dir, run.Env = dir, []string{"PATH=/usr/bin:/bin"}
	asOther(run)
	if err := run.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	at := "postgres://postgres@/" + database + "?" + url.Values{"host": {dir}, "port": {"6432"}}.Encode()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(tb.Context(), at)
		if err == nil {
			_ = conn.Close(tb.Context())
			return at
		}
		if time.Now().After(end) {
			tb.Fatal(err)
		}
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
