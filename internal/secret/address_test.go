package secret_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/secret"
)

// The login of an address does not appear, wherever the address is, and other text is unchanged.
func TestWithoutNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`   "env": {"API_KEY": "sk-1/2", "x-token":"t"},`:          `   "env": {"API_KEY": "…", "x-token":"…"},`,
		`   bearer_token = "abc" # comment`:                        `   bearer_token = "…" # comment`,
		`   "password": "a b\" c", "x": "y"`:                       `   "password": "…", "x": "y"`,
		"   token: abc # comment":                                  "   token: … # comment",
		`   "keys": ["a", "b"], "key": 1`:                          `   "keys": ["a", "b"], "key": …`,
		`   PASSWORD = 'p' `:                                       `   PASSWORD = '…' `,
		`   "args": ["--api-key", "abc", "--port", "1"],`:          `   "args": ["--api-key", "…", "--port", "1"],`,
		`   "args": ["--api-key=abc", "x"],`:                       `   "args": ["--api-key=…", "x"],`,
		`   "GH_TOKEN": "${env:GH_TOKEN}", "a": "$TOKEN"`:          `   "GH_TOKEN": "${env:GH_TOKEN}", "a": "$TOKEN"`,
		`   bearer_token_env_var = "GITHUB_TOKEN"`:                 `   bearer_token_env_var = "GITHUB_TOKEN"`,
		`   "command": "/usr/bin/copse", "args": ["mcp", "serve"]`: `   "command": "/usr/bin/copse", "args": ["mcp", "serve"]`,
	} {
		if got := secret.WithoutNamed(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

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
