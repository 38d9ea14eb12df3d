package full_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/test/postgrestest"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// A database that repeats the password of its user in an error does not make copse show it.
func TestDatabaseRepeatsPassword(t *testing.T) {
	t.Parallel()
	const password = "sesame-5d41402abc4b"
	at := postgrestest.Fake(t, password, func(s *postgrestest.Session) {
		for s.Ready() == nil {
			s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "XX000", Message: "you said " + s.Password})
		}
	})
	env := app.EmptyEnv()
	env.Dir, env.Secrets = t.TempDir(), secret.New(func(*secret.Set) {})
	ws := full.Open(t.Context(), wiring.Options{Program: "copse", Env: env})
	store := ws.ItemsAt(at)
	defer store.Close()
	_, err := store.Snapshot(t.Context())
	if err == nil || !strings.Contains(err.Error(), password) {
		t.Fatalf("the server said nothing: %v", err)
	}
	if shown := env.Secrets.Redact(err.Error()); strings.Contains(shown, password) {
		t.Errorf("%q shows the password", shown)
	}
}
