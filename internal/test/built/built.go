// Package built builds the programs for tests that need processes of their own, as a release is
// built: then one result in Go's cache serves all of these tests, the benchmarks, and the packages.
package built

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Build builds packages. The result is the file out, or is in the directory out if out ends in a
// separator.
func Build(ctx context.Context, out string, packages ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	return nil
}

// shared is the directory of Programs.
var shared struct {
	sync.Mutex

	dir string
}

// Programs returns a directory with copse, tic, and twig-mcp. They are built once, and are there
// until Main returns. Do not change anything there.
func Programs(tb testing.TB) string {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.dir != "" {
		return shared.dir
	}
	dir, err := os.MkdirTemp("", "copse-built-") //nolint:usetesting // it outlives the test
	if err != nil {
		tb.Fatal(err)
	}
	if err := Build(tb.Context(), dir+string(filepath.Separator), "github.com/copse-dev/copse/cmd/..."); err != nil {
		_ = os.RemoveAll(dir)
		tb.Fatal(err)
	}
	shared.dir = dir
	return dir
}

// Main runs the tests of a package, removes what Programs built, and returns the exit code.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	return code
}
