package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/settings"
)

func TestGet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "native",
		"# nothing\n":                   "native",
		"other: {a: 1}\n":               "native",
		"commands:\n  runner: deno\n":   "deno",
		"commands:\n  runner: native\n": "native",
		"commands:\n  runner: node\n":   `.copse.yml cannot be used: commands.runner is "node"; use native or deno`,
		"commands: [":                   ".copse.yml cannot be used: [1:11] sequence end token ']' not found",
		"commands:\n  runner: [a, b]\n": ".copse.yml cannot be used: [2:11] cannot unmarshal []interface {} into Go struct field Settings.Commands of type settings.Runner",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, settings.Name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := settings.Open(dir).Get()
		got := string(s.Commands.Runner)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if s, err := settings.Open(t.TempDir()).Get(); err != nil || s.Commands.Runner != settings.Native {
		t.Errorf("without a file: %v, %v", s, err)
	}
}
