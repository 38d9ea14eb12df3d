// Package address reads the address of a database of work items.
//
// An address is a URL as other PostgreSQL programs accept it, with the name of a project in the
// parameter project: postgres://ada@db.example/team?project=shop. Missing parts come from the usual
// sources: the PG variables, a service file, .pgpass.
//
// Three rules are stricter than elsewhere. The server of a host other than this one must prove its
// identity unless the user chose another sslmode, and a .pgpass file that others can read is
// refused. A server that did not prove its identity gets no password in clear text unless the user
// allows it with require_auth: any user of this machine can listen on its port. No error contains a
// password.
package address

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgservicefile"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Environment is where an address finds what it leaves out. pgx itself looks at the
// variables of the process.
type Environment struct {
	Getenv func(string) string
	Home   string
	GOOS   string
}

// parameter is the parameter with the name of the project.
const parameter = "project"

// Address is the address of a project. The project is "" if the address names none.
type Address struct {
	Project string

	url url.URL // without the project
}

// ErrForm reports that a text is not an address. It does not repeat the text, which can have a
// password anywhere.
var ErrForm = errors.New("is not the address of a database; use postgres://USER@HOST/DATABASE?project=NAME")

// Parse reads an address.
func Parse(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Fragment != "" || u.Opaque != "" {
		return Address{}, ErrForm
	}
	// An @ after the host is the end of a password with a character that is not escaped.
	if strings.ContainsAny(strings.TrimPrefix(u.Path, "/"), "@/") || strings.Contains(u.RawQuery, "@") {
		return Address{}, ErrForm
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, ErrForm
	}
	a := Address{Project: query.Get(parameter), url: *u}
	query.Del(parameter)
	a.url.RawQuery = query.Encode()
	return a, nil
}

// Login returns the user and the password that the address has, "" for none.
func (a Address) Login() (user, password string) {
	password, _ = a.url.User.Password()
	if password == "" {
		password = a.url.Query().Get("password")
	}
	return a.url.User.Username(), password
}

// KeyPassword returns the password of the client's key that the address has, "" for none.
func (a Address) KeyPassword() string { return a.url.Query().Get("sslpassword") }

// shown reports whether a parameter is part of an address that is displayed. Others can contain a
// password, in this or a later release of the library.
func shown(parameter string) bool {
	return slices.Contains([]string{
		"application_name", "channel_binding", "connect_timeout", "dbname", "host", "options", "passfile", "port", "service", "servicefile",
		"sslcert", "sslkey", "sslmode", "sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs", "user",
	}, parameter)
}

// String returns the address without passwords, and with the parameters that [shown] allows.
func (a Address) String() string {
	u := a.url
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	maps.DeleteFunc(query, func(name string, _ []string) bool { return !shown(name) })
	if a.Project != "" {
		query.Set(parameter, a.Project)
	}
	u.RawQuery = query.Encode()
	return text(u)
}

// maxPrepared is the number of prepared statements of a connection.
const maxPrepared = 8

// connectTimeout is how long connecting takes at most if the user does not say.
const connectTimeout = 5 * time.Second

// Config returns how to connect.
func (a Address) Config(env Environment) (*pgxpool.Config, error) {
	if given := a.url.Query(); given.Has("ssl") && given.Get("ssl") != "true" {
		return nil, errors.New("the address of the database has the parameter ssl with a value other than true; use sslmode=verify-full, or another sslmode")
	}
	config, err := a.parse()
	if err != nil {
		return nil, err
	}
	service, err := a.service(env)
	if err != nil {
		return nil, err
	}
	query := a.url.Query()
	chosen := query.Get("sslmode") != "" || env.Getenv("PGSSLMODE") != "" || service["sslmode"] != ""
	if !chosen && slices.ContainsFunc(hosts(config), remote) {
		query.Del("ssl") // which only asks for encryption
		query.Set("sslmode", "verify-full")
		a.url.RawQuery = query.Encode()
		if config, err = a.parse(); err != nil {
			return nil, err
		}
	}
	if _, password := a.Login(); password == "" && env.Getenv("PGPASSWORD") == "" && service["password"] == "" && config.ConnConfig.Password != "" {
		if err := checkPassfile(a.passfile(env, service), env.GOOS); err != nil {
			return nil, err
		}
	}
	c := config.ConnConfig
	if c.RequireAuth == "" && !verified(config) {
		c.RequireAuth = NoPassword
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "copse"
	}
	// A pooler can give each transaction another session, where no prepared statement is. Statements
	// are prepared only where that is known not to be so.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.StatementCacheCapacity, c.DescriptionCacheCapacity = maxPrepared, 0
	return config, nil
}

func (a Address) parse() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(text(a.url))
	if err != nil {
		return nil, explain(err)
	}
	return config, nil
}

// text returns a URL as pgx takes it, also one without a host.
func text(u url.URL) string {
	if u.Host == "" && u.User == nil && u.Path == "" {
		return u.Scheme + "://?" + u.RawQuery
	}
	return u.String()
}

// explain words an error of pgx, which repeats the address, without it.
func explain(err error) error {
	inner := errors.Unwrap(err)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the address of the database cannot be used: %w", path)
	}
	if inner != nil && strings.Contains(inner.Error(), "service") {
		return errors.New("the address of the database names a service that is not in the service file; check ~/.pg_service.conf or $PGSERVICEFILE")
	}
	return errors.New("the address of the database, or a PG variable, has a value that is not allowed; check the port, sslmode, and the other parameters")
}

// hosts returns all hosts that can be connected to.
func hosts(c *pgxpool.Config) []string {
	list := []string{c.ConnConfig.Host}
	for _, f := range c.ConnConfig.Fallbacks {
		list = append(list, f.Host)
	}
	return list
}

// NoPassword is the requirement for a server that does not prove its identity: any login but one
// with the password in clear text.
const NoPassword = "!password"

// verified reports whether each server that can be connected to must prove its identity. Without the
// name of the server, only a certificate of an authority that the user chose proves it: the system's
// authorities give certificates to everyone.
func verified(c *pgxpool.Config) bool {
	configs := []*tls.Config{c.ConnConfig.TLSConfig}
	for _, f := range c.ConnConfig.Fallbacks {
		configs = append(configs, f.TLSConfig)
	}
	return !slices.ContainsFunc(configs, func(c *tls.Config) bool {
		return c == nil || c.InsecureSkipVerify && (c.RootCAs == nil || c.VerifyPeerCertificate == nil && c.VerifyConnection == nil)
	})
}

// remote reports whether a host is another machine.
func remote(host string) bool {
	if strings.HasPrefix(host, "/") || filepath.IsAbs(host) || strings.HasPrefix(host, "@") || host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}

// service returns what the service says that the address or the environment names.
func (a Address) service(env Environment) (map[string]string, error) {
	query := a.url.Query()
	name := cmp.Or(query.Get("service"), env.Getenv("PGSERVICE"))
	if name == "" {
		return nil, nil
	}
	file, err := pgservicefile.ReadServicefile(cmp.Or(query.Get("servicefile"), env.Getenv("PGSERVICEFILE"), filepath.Join(env.Home, ".pg_service.conf")))
	if err != nil {
		return nil, errors.New("the service file cannot be read; check ~/.pg_service.conf or $PGSERVICEFILE")
	}
	found, err := file.GetService(name)
	if err != nil {
		return nil, fmt.Errorf("the service file has no service %q", name)
	}
	return found.Settings, nil
}

// passfile returns the path of the file with passwords.
func (a Address) passfile(env Environment, service map[string]string) string {
	return cmp.Or(a.url.Query().Get("passfile"), service["passfile"], env.Getenv("PGPASSFILE"), filepath.Join(env.Home, ".pgpass"))
}

// checkPassfile refuses a file of passwords that others can read, as psql does.
func checkPassfile(path, goos string) error {
	if goos == "windows" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil //nolint:nilerr // pgx found the password elsewhere then
	}
	return &ExposedError{path}
}

// ExposedError reports that other users can read the file of passwords at Path.
type ExposedError struct{ Path string }

func (e *ExposedError) Error() string {
	return fmt.Sprintf("other users can read %s, so copse does not use its passwords", cleantext.Line(e.Path))
}

// Next returns what to do about it.
func (e *ExposedError) Next() string {
	return fmt.Sprintf("Run `%s`.", cleantext.Command("chmod", "600", e.Path))
}
