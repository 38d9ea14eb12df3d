package credential_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/credential"
)

func TestCredentialHidesItsSecret(t *testing.T) {
	t.Parallel()
	c := credential.Credential{Login: "sesame", Secret: "sesame", Source: "$GH_TOKEN"}
	type holder struct {
		C credential.Credential
		P *credential.Credential
	}
	values := []any{c, &c, holder{c, &c}, []credential.Credential{c}, map[string]credential.Credential{"k": c}}

	var shown []string
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(data))
		for _, handler := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("found", "credential", v)
			shown = append(shown, b.String())
		}
	}
	data, err := xml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(shown, string(data)) {
		if strings.Contains(s, "sesame") || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", "sesame")) {
			t.Errorf("shows the secret: %s", s)
		}
	}
	if got, want := fmt.Sprint(c), "credential($GH_TOKEN, secret hidden)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
