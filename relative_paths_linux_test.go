package copse_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/test/built"
)

// Libraries read the environment of the process. A relative path there makes no file of the project one of the user:
// no certificate in it is trusted, and no address in it is contacted. An absolute path shows that the files would do.
func TestRelativePathsOfTheProcess(t *testing.T) {
	t.Parallel()
	copse := filepath.Join(built.Programs(t), "copse")
	for name, tt := range map[string]struct{ variable, value string }{
		"a file of certificates":   {"SSL_CERT_FILE", "ROOT/certs/ca.pem"},
		"certificates":             {"SSL_CERT_DIR", "ROOT/certs"},
		"certificates, the second": {"SSL_CERT_DIR", "/no/certificates:ROOT/certs"},
		"a home":                   {"SSL_CERT_FILE", "ROOT/~/ca.pem"},
		"services":                 {"PGSERVICEFILE", "ROOT/services"},
		"services in a home":       {"PGSERVICEFILE", "ROOT/~/services"},
		"a home of the process":    {"HOME", "ROOT/~"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := repository(t)
			var asked atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(http.StatusNotFound)
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // about certificates that are not trusted
			server.StartTLS()
			t.Cleanup(server.Close)
			database, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = database.Close() })
			go func() {
				for {
					conn, err := database.Accept()
					if err != nil {
						return
					}
					asked.Add(1)
					_ = conn.Close()
				}
			}()
			certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			services := fmt.Sprintf("[s]\nhost=127.0.0.1\nport=%d\nuser=u\ndbname=d\nsslmode=disable\n", database.Addr().(*net.TCPAddr).Port)
			for _, file := range []string{"certs/ca.pem", "~/ca.pem"} {
				gittest.Write(t, filepath.Join(dir, filepath.FromSlash(file)), string(certificate))
			}
			for _, file := range []string{"services", "~/services", "~/.pg_service.conf"} {
				gittest.Write(t, filepath.Join(dir, filepath.FromSlash(file)), services)
			}
			for _, root := range []string{".", dir} {
				asked.Store(0)
				set := tt.variable + "=" + strings.ReplaceAll(tt.value, "ROOT", root)
				for _, args := range [][]string{{"stack", "--fresh"}, {"item", "list"}} {
					cmd := exec.CommandContext(t.Context(), copse, args...)
					cmd.Dir, cmd.Env = dir, slices.Concat(env, []string{"GITHUB_API_URL=" + server.URL, "GH_TOKEN=secret", "COPSE_ITEMS=postgres://?service=s", set})
					_ = cmd.Run() // it fails each time: neither server has an answer
				}
				if got := asked.Load() > 0; got != (root == dir) {
					t.Errorf("%s: asked %t", set, got)
				}
			}
		})
	}
}
