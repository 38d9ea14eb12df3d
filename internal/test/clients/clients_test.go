package clients_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
)

const state = `{
  "version": 1, "updated_at": "2026-01-02T03:04:05Z", "worktrees": [],
  "branches": {"feature/login": {"branch": "feature/login", "jira_issue": "PROJ-1", "github_pr": 7, "created_at": "2026-01-02T03:04:05+00:00"}},
  "dependencies": [{"id": "00000000-0000-4000-8000-000000000000", "child": "feature/login", "parent": "main", "created_at": "2026-01-02T03:04:05Z"}],
  "root_branches": [{"id": "00000000-0000-4000-8000-000000000001", "branch": "main", "is_default": true, "created_at": "2026-01-02T03:04:05Z"}]
}`

// fixture is what all tests here need: the clients, the programs, a repository.
type fixture struct {
	node    string
	modules string
	bin     string
	repo    string
}

func setup(t *testing.T) fixture {
	t.Helper()
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{
		modules: modules,
		node:    filepath.Join(modules, "node", "bin", "node"),
		repo:    t.TempDir(),
	}
	if !need.Present(f.node) {
		need.Skip(t, "the clients are not installed; run npm ci in internal/test/clients")
	}
	if runtime.GOOS == "windows" {
		need.Skip(t, "the clients are started by paths that Windows does not know")
	}
	f.bin = built.Programs(t)
	run(t, f.repo, "git", "init", "-q", "-b", "main")
	run(t, f.repo, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "start")
	run(t, f.repo, "git", "checkout", "-q", "-b", "feature/login")
	if err := os.MkdirAll(filepath.Join(f.repo, ".twig"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.repo, ".twig", "state.json"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func run(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	out, code := try(t, dir, argv...)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s", strings.Join(argv, " "), code, out)
	}
	return out
}

func try(t *testing.T, dir string, argv ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a build can wait for others
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out) + stderr.String(), cmd.ProcessState.ExitCode()
}

// The inspector's strict mode finds schemas that some client cannot take.
func TestInspector(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, era := range []string{"legacy", "modern"} {
		for _, program := range [][]string{{"twig-mcp"}, {"copse", "mcp", "serve"}} {
			inspect := func(args ...string) (string, int) {
				argv := []string{f.node, filepath.Join(f.modules, ".bin", "mcp-inspector"), "--cli", filepath.Join(f.bin, program[0])}
				argv = append(argv, program[1:]...)
				argv = append(argv, "--protocol-era", era, "--format", "json")
				return try(t, f.repo, append(argv, args...)...)
			}
			name := era + " " + program[0]

			out, code := inspect("--strict", "--method", "tools/list")
			if code != 0 || strings.Contains(strings.ToLower(out), "warning") {
				t.Errorf("%s tools/list --strict: exit %d\n%s", name, code, out)
			}
			for _, tool := range []string{"get_branch_stack", "get_pr_status", "list_jira_issues"} {
				if !strings.Contains(out, tool) {
					t.Errorf("%s tools/list lacks %s", name, tool)
				}
			}
			if out, code = inspect("--method", "tools/call", "--tool-name", "get_branch_stack"); code != 0 || !strings.Contains(out, "PROJ-1") {
				t.Errorf("%s tools/call: exit %d\n%s", name, code, out)
			}
			const toolError = 5
			if out, code = inspect("--method", "tools/call", "--tool-name", "get_branch_metadata", "--tool-arg", "branch=none"); code != toolError {
				t.Errorf("%s tools/call that fails: exit %d\n%s", name, code, out)
			}
			if out, code = inspect("--method", "resources/read", "--uri", "twig://repo/tree"); code != 0 || !strings.Contains(out, "feature/login") {
				t.Errorf("%s resources/read: exit %d\n%s", name, code, out)
			}
			if out, code = inspect("--method", "prompts/get", "--prompt-name", "branch-context"); code != 0 || !strings.Contains(out, "Linked PR: #7") {
				t.Errorf("%s prompts/get: exit %d\n%s", name, code, out)
			}
		}
	}
}

// session is what sdk.mjs prints.
type session struct {
	Server       struct{ Name string }
	Capabilities map[string]any
	Instructions string
	Tools        []string
	Prompts      []string
	Resources    []string
	Templates    []string
	Call         callResult
	Stack        callResult
	Bad          callResult
	Tree         string
	Prompt       string
	Completion   []string
}

type callResult struct {
	Content           []struct{ Text string }
	StructuredContent struct{ Status string }
	IsError           bool
}

func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, which := range []string{"1", "2-legacy", "2-modern"} {
		t.Run(which, func(t *testing.T) {
			script, err := filepath.Abs("sdk.mjs")
			if err != nil {
				t.Fatal(err)
			}
			out := run(t, f.repo, f.node, script, which, f.repo, filepath.Join(f.bin, "twig-mcp"))
			var s session
			if err := json.Unmarshal([]byte(out), &s); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := []string{
				"get_branch_metadata", "get_branch_stack", "get_branch_tree", "get_current_branch", "get_jira_issue",
				"get_pr_status", "get_pull_request", "get_worktrees", "list_branches", "list_jira_issues",
				"list_pull_requests", "list_repositories",
			}
			if diff := cmp.Diff(want, s.Tools); diff != "" {
				t.Error(diff)
			}
			if s.Server.Name != "twig-mcp" || !strings.HasPrefix(s.Instructions, "Twig MCP server.") {
				t.Errorf("server %+v, instructions %q", s.Server, s.Instructions)
			}
			if s.Call.StructuredContent.Status != "ok" || !strings.Contains(s.Call.Content[0].Text, `"pr_number":7`) {
				t.Errorf("call: %+v", s.Call)
			}
			if !s.Bad.IsError || s.Bad.StructuredContent.Status != "error" || s.Stack.IsError {
				t.Errorf("bad: %+v, stack: %+v", s.Bad, s.Stack)
			}
			if !strings.Contains(s.Tree, "feature/login (PROJ-1, #7)") || !strings.Contains(s.Prompt, "Linked PR: #7") {
				t.Errorf("tree %s, prompt %s", s.Tree, s.Prompt)
			}
			if diff := cmp.Diff([]string{"feature/login"}, s.Completion); diff != "" {
				t.Error(diff)
			}
		})
	}
}
