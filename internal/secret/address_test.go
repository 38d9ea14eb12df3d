package secret_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/secret"
)

// The login of an address does not appear, wherever the address is, and other text is unchanged.
func TestWithoutLogins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`-  "url": "http://ada:pw@localhost:3000/mcp",`:     `-  "url": "http://…@localhost:3000/mcp",`,
		`{"url":"https:\/\/ada:pw@example.com\/mcp"}`:       `{"url":"https:\/\/…@example.com\/mcp"}`,
		"url = 'https://token@example.com' # a@b":           "url = 'https://…@example.com' # a@b",
		"http://a:b@one http://c:d@two":                     "http://…@one http://…@two",
		"http://ada:p@w@localhost":                          "http://…@localhost",
		"http://ada:p/w@localhost":                          "http://…@localhost",
		`"https://registry.example:80/@scope/name@1" a://`:  `"https://registry.example:80/@scope/name@1" a://`,
		"http://[::1]:3000/ ada@example.com postgres://u@h": "http://[::1]:3000/ ada@example.com postgres://…@h",
	} {
		if got := secret.WithoutLogins(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
