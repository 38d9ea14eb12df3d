package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/app"
)

// A configuration names the link on the PATH, which an update keeps, but no other copse.
func TestProgramOnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "1.2.3", "copse"), filepath.Join(dir, "bin", "copse"), filepath.Join(dir, "other", "copse")
	for _, path := range []string{file, other} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err) // Windows allows links only to some accounts
	}
	for path, want := range map[string]string{filepath.Dir(link): link, filepath.Dir(other): file, "": file} {
		env := app.Env{Executable: file, Environ: []string{"PATH=" + path}}
		if got, err := env.Program(); err != nil || got != want {
			t.Errorf("with the PATH %q: %q, %v; want %q", path, got, err, want)
		}
	}
}
