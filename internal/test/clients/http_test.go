package clients_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// up runs copse up in the repository of a fixture and returns the address of its server
// and the token.
func up(t *testing.T, f fixture, flags ...string) (base, token string) {
	t.Helper()
	home := short(t)
	return upAt(t, f, home, flags...)
}

// short returns a directory of a short name, for a home with sockets in it.
func short(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "up") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return home
}

// atHome returns the environment of a user whose files are all in home.
func atHome(home string) []string {
	return append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home)
}

func upAt(t *testing.T, f fixture, home string, flags ...string) (base, token string) {
	t.Helper()
	return upWith(t, f, atHome(home), flags...)
}

// upWith runs copse up in an environment.
func upWith(t *testing.T, f fixture, env []string, flags ...string) (base, token string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(f.bin, "copse"), append([]string{"up", "--port", fmt.Sprint(port)}, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = f.repo, env, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(f.bin, "copse"), "status", "--json")
		cmd.Env = env
		var status struct {
			Worktrees []struct {
				TokenFile string `json:"token_file"`
				MCP       struct{ Port int }
			}
		}
		out, err := cmd.Output()
		if err != nil || json.Unmarshal(out, &status) != nil || len(status.Worktrees) == 0 {
			continue
		}
		main := status.Worktrees[0]
		data, err := os.ReadFile(main.TokenFile)
		if err != nil && len(flags) == 0 {
			t.Fatal(err)
		}
		return fmt.Sprintf("http://localhost:%d", main.MCP.Port), strings.TrimSpace(string(data))
	}
	t.Fatal("copse up does not answer")
	return "", ""
}

func TestInspectorOverHTTP(t *testing.T) {
	t.Parallel()
	f := setup(t)
	base, token := up(t, f)
	for _, era := range []string{"legacy", "modern"} {
		inspect := func(token string, args ...string) (string, int) {
			argv := []string{
				f.node, filepath.Join(f.modules, ".bin", "mcp-inspector"), "--cli", base + "/mcp", "--transport", "http",
				"--header", "Authorization: Bearer " + token, "--protocol-era", era, "--format", "json",
			}
			return try(t, f.repo, append(argv, args...)...)
		}
		out, code := inspect(token, "--strict", "--method", "tools/list")
		if code != 0 || strings.Contains(strings.ToLower(out), "warning") || !strings.Contains(out, "get_project_context") {
			t.Errorf("%s tools/list --strict: exit %d\n%s", era, code, out)
		}
		if out, code = inspect(token, "--method", "tools/call", "--tool-name", "get_branch_stack"); code != 0 || !strings.Contains(out, "PROJ-1") {
			t.Errorf("%s tools/call: exit %d\n%s", era, code, out)
		}
		if out, code = inspect(token, "--method", "resources/read", "--uri", "twig://repo/tree"); code != 0 || !strings.Contains(out, "feature/login") {
			t.Errorf("%s resources/read: exit %d\n%s", era, code, out)
		}
		if out, code = inspect("wrong", "--method", "tools/list"); code == 0 {
			t.Errorf("%s with a wrong token: %s", era, out)
		}
	}
}

func TestTypeScriptSDKOverHTTP(t *testing.T) {
	t.Parallel()
	f := setup(t)
	base, token := up(t, f)
	script, err := filepath.Abs("sdk.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for which, path := range map[string]string{"1": "/mcp", "2-legacy": "/mcp", "2-modern": "/mcp", "1-sse": "/sse"} {
		t.Run(which, func(t *testing.T) {
			out := run(t, f.repo, f.node, script, which, f.repo, base+path, token)
			var s session
			if err := json.Unmarshal([]byte(out), &s); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if len(s.Tools) != 41 || !slices.Contains(s.Tools, "run_just_task") || s.Server.Name != "copse" {
				t.Errorf("server %+v with tools %v", s.Server, s.Tools)
			}
			if s.Call.StructuredContent.Status != "ok" || !s.Bad.IsError || s.Stack.IsError {
				t.Errorf("call: %+v, bad: %+v, stack: %+v", s.Call, s.Bad, s.Stack)
			}
			if !strings.Contains(s.Tree, "feature/login (PROJ-1, #7)") || !strings.Contains(s.Prompt, "Linked PR: #7") || len(s.Completion) != 1 {
				t.Errorf("tree %s, prompt %s, completion %v", s.Tree, s.Prompt, s.Completion)
			}
		})
	}
}

// TestConformanceAsShipped runs the suite against the program. What it cannot have is
// listed, with the reason.
func TestConformanceAsShipped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	base, _ := up(t, f, "--no-token")
	suite := filepath.Join(f.modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		baseline, err := filepath.Abs("conformance-" + revision + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		out, code := try(t, f.repo, f.node, suite, "server", "--url", base+"/mcp", "--requirements", revision, "--expected-failures", baseline, "-o", t.TempDir())
		if _, summary, _ := strings.Cut(out, "=== SUMMARY ==="); code != 0 {
			t.Errorf("%s: exit %d\n%s", revision, code, summary)
		}
	}
}
