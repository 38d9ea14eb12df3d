package need_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/need"
)

// Where only Go and git count, nothing else is installed, and a test that requires more is skipped.
func TestOnlyGo(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "engine")
	if err := os.WriteFile(program, nil, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("PATHEXT", "")
	t.Setenv("COPSE_TEST_NO_SKIP", "")
	for only, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("COPSE_TEST_ONLY_GO", only)
		if got := need.Present(program); got != want {
			t.Errorf("with COPSE_TEST_ONLY_GO=%q, Present returns %v", only, got)
		}
		ran := false
		t.Run("program"+only, func(t *testing.T) {
			need.Program(t, "engine")
			ran = true
		})
		if ran != want {
			t.Errorf("with COPSE_TEST_ONLY_GO=%q, the program is found: %v", only, ran)
		}
	}
}

// Tests that start long programs find them through this package, so that the plain test command of
// CI does the same as on a machine with only Go and git.
func TestProgramsAreFoundHere(t *testing.T) {
	t.Parallel()
	elsewhere := regexp.MustCompile(`LookPath\("(npm|node|chromium|goreleaser|rpm|dpkg|podman|initdb|pgbouncer)"\)|(os\.Stat|os\.ReadFile)\([^\n]*node_modules`)
	allowed := map[string]string{
		"internal/test/postgrestest/server.go": "Programs asks OnlyGo first",
		"internal/test/postgrestest/pooler.go": "there is a server",
		"bench/browser/page.go":                "no test",
		"internal/test/need/need_test.go":      "this pattern",
	}
	files(t, func(name, text string) {
		if at := elsewhere.FindString(text); at != "" && allowed[name] == "" {
			t.Errorf("%s: %s: use the package need", name, at)
		}
	})
}

// files calls check for each Go file of the repository.
func files(t *testing.T, check func(name, text string)) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		name, err := filepath.Rel(root, path)
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		check(filepath.ToSlash(name), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Files that the race detector leaves out run in the plain test command of CI: nothing in them may
// be skipped there.
func TestLeftOutOfTheRaceRun(t *testing.T) {
	t.Parallel()
	skips := regexp.MustCompile(`\b(t|tb)\.Skip|\bneed\.(Skip|Program)`)
	files(t, func(name, text string) {
		if strings.HasPrefix(text, "//go:build !race\n") && strings.HasSuffix(name, "_test.go") && skips.MatchString(text) {
			t.Errorf("%s: a test that the race detector leaves out must not be skipped elsewhere", name)
		}
	})
}
