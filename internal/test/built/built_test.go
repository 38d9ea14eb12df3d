package built_test

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/built"
)

// A program is built as a release is, whatever the settings of the tests are. An error says what
// the compiler said.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOFLAGS", "")
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "m.exe")
	if err := built.Build(t.Context(), program, "."); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if got["-trimpath"] != "true" || got["CGO_ENABLED"] != "0" {
		t.Errorf("got %v", got)
	}
	if err := os.WriteFile("main.go", []byte("package main\n\nfunc main() { missing() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := built.Build(t.Context(), program, "."); err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("got %v", err)
	}
}
