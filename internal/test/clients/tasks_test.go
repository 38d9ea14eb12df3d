package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// The official inspector declares the extension Tasks: in the revision that has it, the call
// becomes a task, which the inspector follows to its end; in older ones it answers at once.
func TestTasks(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	f := setup(t)
	if err := os.WriteFile(filepath.Join(f.repo, "justfile"), []byte("build:\n  @echo built\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for era, want := range map[string]string{"modern": `"output":"built\n"`, "legacy": `"task_id":"`} {
		out, code := try(t, f.repo, f.node, filepath.Join(f.modules, ".bin", "mcp-inspector"), "--cli", filepath.Join(f.bin, "copse"), "mcp", "serve",
			"--protocol-era", era, "--format", "json", "--method", "tools/call",
			"--tool-name", "run_just_task", "--tool-arg", "task_name=build", "--tool-arg", "background=true")
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, want %s\n%s", era, code, want, out)
		}
	}
}
