package address_test

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item/postgres/address"
)

func environment(t *testing.T) address.Environment {
	t.Helper()
	return address.Environment{Getenv: func(string) string { return "" }, Home: t.TempDir(), GOOS: "linux"}
}

// The server of another host must prove who it is unless the user says otherwise.
func TestTLS(t *testing.T) {
	t.Parallel()
	for at, verified := range map[string]bool{
		"postgres://ada@db.example/team":                 true,
		"postgresql://ada@192.0.2.1,192.0.2.2/team":      true,
		"postgres://ada@localhost,db.example/team":       true,
		"postgres://ada@db.example/team?ssl=true":        true,
		"postgres://ada@db.example/team?sslmode=":        true,
		"postgres://ada@db.example/team?sslmode=disable": false,
		"postgres://ada@localhost/team":                  false,
		"postgres://ada@127.0.0.1/team":                  false,
		"postgres://ada@[::1]/team":                      false,
		"postgres://ada@/team?host=/run/postgresql":      false,
	} {
		a, err := address.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Config(environment(t))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		tls := c.ConnConfig.TLSConfig
		if got := tls != nil && !tls.InsecureSkipVerify; got != verified {
			t.Errorf("%s: verified %t", at, got)
		}
		if verified {
			for _, f := range c.ConnConfig.Fallbacks {
				if f.TLSConfig == nil || f.TLSConfig.InsecureSkipVerify {
					t.Errorf("%s falls back to a server that proves nothing", at)
				}
			}
		}
	}
}

// A server that proves nothing gets no password in clear text, unless the user allows it.
func TestNoPasswordInClearText(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "root.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	root := "&sslrootcert=" + url.QueryEscape(authority)
	for at, want := range map[string]string{
		"postgres://ada@db.example/team":                             "",
		"postgres://ada@db.example/team?sslmode=verify-ca":           address.NoPassword, // the system's authorities sign for everyone
		"postgres://ada@db.example/team?sslmode=verify-ca" + root:    "",
		"postgres://ada@db.example/team?sslmode=require" + root:      "", // the same
		"postgres://ada@db.example/team?sslmode=require":             address.NoPassword,
		"postgres://ada@db.example/team?sslmode=disable":             address.NoPassword,
		"postgres://ada@localhost/team":                              address.NoPassword,
		"postgres://ada@localhost,db.example/team":                   "",
		"postgres://ada@/team?host=/run/postgresql":                  address.NoPassword,
		"postgres://ada@localhost/team?require_auth=password":        "password",
		"postgres://ada@db.example/team?require_auth=!scram-sha-256": "!scram-sha-256",
	} {
		a, err := address.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Config(environment(t))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if got := c.ConnConfig.RequireAuth; got != want {
			t.Errorf("%s requires %q", at, got)
		}
	}
}

// A file of passwords that others can read is refused, as psql refuses it.
func TestPassfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pgpass")
	if err := os.WriteFile(file, []byte("localhost:*:*:ada:sesame17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := address.Parse("postgres://ada@localhost/team?passfile=" + file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Config(environment(t))
	if err != nil || c.ConnConfig.Password != "sesame17" {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = a.Config(environment(t))
	if exposed, ok := errors.AsType[*address.ExposedError](err); !ok || !strings.Contains(exposed.Next(), "chmod 600") {
		t.Errorf("got %v", err)
	}
}

// A parameter that pgx would ignore does not turn off the check of a certificate.
func TestOtherParameter(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"1", "TRUE", "verify-full", "require", ""} {
		a, err := address.Parse("postgres://ada@db.example/team?ssl=" + value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Config(environment(t)); err == nil || !strings.Contains(err.Error(), "sslmode=verify-full") {
			t.Errorf("ssl=%s: %v", value, err)
		}
	}
}

// A service of a service file says the rest.
func TestService(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "services")
	if err := os.WriteFile(file, []byte("[team]\nhost=db.example\nuser=ada\ndbname=items\n[open]\nhost=db.example\nsslmode=disable\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for service, verified := range map[string]bool{"team": true, "open": false} {
		a, err := address.Parse("postgres://?project=shop&service=" + service + "&servicefile=" + file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Config(environment(t))
		if err != nil {
			t.Fatal(err)
		}
		if a.Project != "shop" || c.ConnConfig.Host != "db.example" || (c.ConnConfig.TLSConfig != nil) != verified {
			t.Errorf("%s: %s, %s", service, a.Project, c.ConnConfig.Host)
		}
	}
	a, err := address.Parse("postgres://?service=none&servicefile=" + file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Config(environment(t)); err == nil || !strings.Contains(err.Error(), "service") {
		t.Errorf("got %v", err)
	}
}

// No error, and no form of an address, has the password.
func TestPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	env := environment(t)
	const secret = "sesame17"
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.StringOfN(rapid.SampledFrom([]rune(":@/?#[]%& =1a")), 0, 6, -1)
		at := "postgres://ada:" + around.Draw(t, "before") + secret + around.Draw(t, "after") + "@" + rapid.SampledFrom([]string{"h", "[::1", "h:x", "h/d?sslmode=no", "h/d?port=x", "h/d?password=" + secret, "h/d?sslpassword=" + secret, "h/d?new_password=" + secret}).Draw(t, "host")
		a, err := address.Parse(at)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Fatalf("%q: %v", at, err)
			}
			return
		}
		if _, password := a.Login(); (strings.Contains(password, secret) || strings.Contains(at, "_password=")) && strings.Contains(a.String(), secret) {
			t.Fatalf("%q is shown as %q", at, a)
		}
		if _, err := a.Config(env); err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("%q: %v", at, err)
		}
	})
}
