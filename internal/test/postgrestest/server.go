// Package postgrestest provides PostgreSQL servers for tests.
//
// A server runs in a temporary directory, listens only on a socket there, and ends with the test.
// Without its programs, the test is skipped, or fails in CI. A server that refuses to run as root
// runs as the account postgres or nobody.
package postgrestest

import (
	"bytes"
	"context"
	_ "embed" // for planted
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/test/need"
)

// Server is a PostgreSQL server.
type Server struct {
	// Dir is its directory, with the socket.
	Dir string

	bin     string
	options []string
	run     *exec.Cmd
	ended   chan struct{}
	log     bytes.Buffer
	mu      sync.Mutex
	next    int
	planted bool // there is the template of the databases
}

// programsVariable names the directory with the programs of a certain PostgreSQL.
const programsVariable = "COPSE_TEST_POSTGRES"

// Programs returns the directory with the programs of PostgreSQL: that of COPSE_TEST_POSTGRES,
// else that of the newest one here, "" if there is none.
func Programs() string {
	if need.OnlyGo() {
		return ""
	}
	if dir := os.Getenv(programsVariable); dir != "" {
		return dir
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // the other programs are where it is
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// Start starts a server that ends with the test.
func Start(tb testing.TB, options ...string) *Server {
	tb.Helper()
	if Programs() == "" {
		need.Skip(tb, "PostgreSQL is not installed; install the package postgresql")
	}
	s, err := Run(options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Run starts a server. Stop it after use. The options are settings, such as "fsync=on".
func Run(options ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "copse-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, bin: Programs(), options: options}
	if err := s.make(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) make() error {
	if err := giveAway(s.Dir); err != nil {
		return err
	}
	initdb := s.command("initdb", "-D", s.data(), "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s.Launch()
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.Dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	asOther(cmd)
	return cmd
}

// Launch starts a server that was ended, and waits until it answers.
func (s *Server) Launch() error {
	args := []string{"-D", s.data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.Dir}
	for _, o := range append([]string{"fsync=off", "max_connections=100", "shared_buffers=32MB"}, s.options...) {
		args = append(args, "-c", o)
	}
	start := func() error {
		s.run = s.command("postgres", args...)
		s.run.Stdout, s.run.Stderr = &s.log, &s.log
		ended := make(chan struct{})
		s.ended = ended
		if err := s.run.Start(); err != nil {
			return err
		}
		go func(run *exec.Cmd) { _ = run.Wait(); close(ended) }(s.run)
		return nil
	}
	if err := start(); err != nil {
		return err
	}
	const patience = 30 * time.Second
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		var conn *pgx.Conn
		if conn, err = pgx.Connect(ctx, s.Address("postgres")); err == nil {
			_ = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-s.ended: // the one before has not ended altogether
			if err := start(); err != nil {
				return err
			}
		default:
		}
	}
	return fmt.Errorf("the server does not answer: %w\n%s", err, s.log.String())
}

// End ends the server with a signal: SIGINT ends connections and shuts down, SIGQUIT ends
// it as a crash does. Launch starts it again.
func (s *Server) End(signal os.Signal) {
	if s.run != nil && s.run.Process != nil {
		_ = s.run.Process.Signal(signal)
		<-s.ended
		s.run = nil
	}
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() {
	s.End(syscall.SIGQUIT)
	_ = os.RemoveAll(s.Dir)
}

// Address returns the address of a database on the server, for its owner.
func (s *Server) Address(database string) string {
	return "postgres://postgres@/" + database + "?" + url.Values{"host": {s.Dir}}.Encode()
}

// Standby makes a server that follows this one and can take its place, see Promote. It ends
// with the test. From then on, a change is acknowledged when both have it.
func (s *Server) Standby(tb testing.TB) *Server {
	tb.Helper()
	dir, err := os.MkdirTemp("", "copse-pg-") //nolint:usetesting // another account must get there, and a socket's path is short
	if err != nil {
		tb.Fatal(err)
	}
	other := &Server{Dir: dir, bin: s.bin, options: s.options}
	tb.Cleanup(other.Stop)
	if err := giveAway(dir); err != nil {
		tb.Fatal(err)
	}
	copied := other.command("pg_basebackup", "-D", other.data(), "-h", s.Dir, "-U", "postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if out, err := copied.CombinedOutput(); err != nil {
		tb.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	if err := other.Launch(); err != nil {
		tb.Fatal(err)
	}
	for _, statement := range []string{"alter system set synchronous_standby_names = '*'", "select pg_reload_conf()"} {
		s.Exec(tb, "postgres", statement)
	}
	return other
}

// Promote makes a standby a server that takes changes.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	s.Exec(tb, "postgres", "select pg_promote()")
}

// Exec runs statements in a database, as its owner.
func (s *Server) Exec(tb testing.TB, database, statements string) {
	tb.Helper()
	if err := s.exec(database, statements); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) exec(database, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Address(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statements)
	return err
}

// planted is what a hostile role put into every database.
//
//go:embed planted.sql
var planted string

// template makes the database that others are copies of.
func (s *Server) template() error {
	if s.planted {
		return nil
	}
	if err := s.exec("postgres", "create database planted"); err != nil {
		return err
	}
	if err := s.exec("planted", planted); err != nil {
		return fmt.Errorf("plant functions and operators: %w", err)
	}
	s.planted = true
	return nil
}

// Database makes a database, with the tables of work items if those are asked for, and
// returns its name. A hostile role has planted functions and operators in it.
func (s *Server) Database(tables bool) (string, error) {
	s.mu.Lock()
	s.next++
	name := fmt.Sprintf("test%d", s.next)
	err := s.template()
	s.mu.Unlock()
	if err != nil {
		return name, err
	}
	if err := s.exec("postgres", "create database "+name+" template planted"); err != nil || !tables {
		return name, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Address(name))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = schema.Migrate(ctx, conn)
	return name, err
}

// one is a server that is started when it is first needed.
type one struct {
	once     sync.Once
	server   *Server
	database string
	err      error
}

// shared is the server of the tests of a package, which [Main] stops.
var shared one

func (o *one) get() (*Server, error) {
	o.once.Do(func() {
		if o.server, o.err = Run(); o.err == nil {
			o.database, o.err = o.server.Database(true)
		}
	})
	return o.server, o.err
}

// Main runs the tests of a package, and stops the server that [Shared] started.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	if shared.server != nil {
		shared.server.Stop()
	}
	return code
}

// Shared returns the server of the tests of a package, and the address of a database with
// tables on it. The package calls [Main] in its TestMain.
func Shared(tb testing.TB) (s *Server, address string) {
	tb.Helper()
	if Programs() == "" {
		need.Skip(tb, "PostgreSQL is not installed; install the package postgresql")
	}
	s, err := shared.get()
	if err != nil {
		tb.Fatal(err)
	}
	return s, s.Address(shared.database)
}

// Project returns the address of a project in an address.
func Project(address, name string) string {
	if strings.Contains(address, "?") {
		return address + "&project=" + url.QueryEscape(name)
	}
	return address + "?project=" + url.QueryEscape(name)
}
