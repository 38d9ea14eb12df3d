package copse_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// documented are runs of every command that has --json, in an order in which each has
// something to print.
var documented = []string{
	"init --all", "item create First --labels a,b", "item create Second --parent 1", "item comment 1 Seen", "item update 1 --status todo",
	"item list", "item ready", "item search First", "item tree", "item link 1 --branch main", "item start 1", "item show 1", "item claim 1", "item release 1", "item log 1", "item undo 1", "item delete 2 --yes", "item trash list", "item restore 2", "item create Third", "item delete 3 --yes", "item trash purge 3 --yes",
	"item init", "item iteration list", "item iteration set next", "item config get", "item config set current_iteration next", "item doctor",
	"branch list", "branch trunk list", "branch adopt --yes", "branch prune --offline", "branch parent", "branch tree", "branch stack", "branch status", "stack --offline",
	"prompt list", "prompt search commit", "prompt show git write commit-message", "prompt check", "prompt export --client claude-code",
	"conflicts", "worktrees", "search First", "context", "repo list", "version", "task list", "task ps",
}

// elsewhere are commands whose JSON is held to the reference by a script, since they need
// a program beside them.
var elsewhere = []string{"copse mcp doctor", "copse status", "copse server status", "copse item sync", "copse item migrate", "copse item move", "copse task show"}

// TestJSONIsAsDocumented holds what the commands print with --json against the form that
// the reference gives.
func TestJSONIsAsDocumented(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := t.TempDir()
	g.Run(dir, "init", "-q", "-b", "main")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	g.Run(dir, "checkout", "-q", "-b", "feature/AB-1-x")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "work")
	seen := make(map[string]bool)
	for _, line := range documented {
		var stdout, stderr bytes.Buffer
		env := app.Env{
			Args: append(strings.Fields(line), "--json"), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Environ: append(g.Env, "XDG_STATE_HOME="+filepath.Join(g.Home, "state")), Dir: dir, GOOS: "linux", Now: time.Now,
		}
		if strings.HasPrefix(line, "task") {
			if _, err := g.Env.LookPath("just"); err != nil {
				seen["copse task list"], seen["copse task ps"] = true, true // a script has them where just is installed
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte("# Build it\nbuild what='all':\n  @echo {{what}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code := copse.Run(t.Context(), env); code != app.OK {
			t.Errorf("%s ends with %d: %s", line, code, stderr.String())
			continue
		}
		root := copse.Command(env)
		cmd, _, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		seen[cmd.CommandPath()] = true
		shape, ok := cmd.Flags().Lookup("json").Value.(interface{ Shape() reflect.Type })
		if !ok {
			t.Fatalf("%s does not say what its JSON is", line)
		}
		if text := strings.TrimSpace(stdout.String()); text == "" || text == "null" {
			t.Errorf("%s prints %q", line, text)
		}
		into := reflect.New(shape.Shape())
		if _, own := reflect.TypeAssert[json.Marshaler](into); own {
			continue // its form is not that of the type
		}
		dec := json.NewDecoder(bytes.NewReader(stdout.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into.Interface()); err != nil {
			t.Errorf("%s: %v in %s", line, err, stdout.String())
		}
	}
	for _, path := range elsewhere {
		seen[path] = true
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Flags().Lookup("json") != nil && !seen[c.CommandPath()] {
			t.Errorf("%s --json is not tried here", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(copse.Command(app.EmptyEnv()))
}
