package sqlerror_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
)

// answering returns the port of a server that answers each request for TLS with one letter, and
// with the certificate if there is one.
func answering(t *testing.T, letter string, certificates []tls.Certificate) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := io.ReadFull(c, make([]byte, 8)); err != nil {
					return
				}
				if _, err := io.WriteString(c, letter); err == nil && certificates != nil {
					_ = tls.Server(c, &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12}).HandshakeContext(t.Context())
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// If TLS is why a database cannot be reached, the error says what to do about TLS.
func TestExplainTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	t.Cleanup(web.Close)
	authority := filepath.Join(t.TempDir(), "authority.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		letter, parameters, host, want string
	}{
		"another authority": {"S", "sslmode=verify-full", "127.0.0.1", "Set sslrootcert"},
		"another host":      {"S", "sslmode=verify-full&sslrootcert=" + authority, "localhost", "a host that the certificate of the server names"},
		"no TLS":            {"N", "sslmode=require", "127.0.0.1", "ssl = on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := answering(t, tt.letter, web.TLS.Certificates)
			_, err := pgx.Connect(t.Context(), "postgres://ada@"+tt.host+":"+port+"/team?"+tt.parameters)
			err = sqlerror.Explain(err)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "cannot verify the database") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
