package copse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
)

// answerBudget is how many bytes a default result may take.
const answerBudget = 10 << 10

// TestAnswersFit asks a repository with far more branches than fit: each half of
// each default answer stays within its budget, and says that it was cut.
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	dir, env := repository(t)
	const n = 1500
	type object map[string]any
	const when = "2026-01-02T03:04:05Z"
	var refs strings.Builder
	branches, deps, trees := object{}, []object{}, []object{}
	for i := range n {
		// A deep stack, so that the stack has to be cut as well.
		name, parent := fmt.Sprintf("team/feature-%04d", i), fmt.Sprintf("team/feature-%04d", i-1)
		if i == 0 {
			parent = "main"
		}
		fmt.Fprintf(&refs, "create refs/heads/%s refs/heads/main\n", name)
		branches[name] = object{"branch": name, "jira_issue": fmt.Sprintf("PROJ-%d", i), "github_pr": i + 1, "created_at": when}
		deps = append(deps, object{"id": fmt.Sprint(i), "child": name, "parent": parent, "created_at": when})
		trees = append(trees, object{"name": name, "path": "/src/" + name, "branch": name, "created_at": when})
	}
	cmd := exec.CommandContext(t.Context(), "git", "update-ref", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(refs.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	git(t, dir, env, "symbolic-ref", "HEAD", fmt.Sprintf("refs/heads/team/feature-%04d", n-1))
	state, err := json.Marshal(object{
		"version": 1, "updated_at": when, "worktrees": trees, "branches": branches, "dependencies": deps,
		"root_branches": []object{{"id": "r", "branch": "main", "is_default": true, "created_at": when}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".twig", "state.json"), state, 0o600); err != nil {
		t.Fatal(err)
	}

	c := converseWith(t, dir, env)
	for _, tool := range []string{"list_branches", "get_branch_tree", "get_branch_stack", "get_worktrees"} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`)
		var answer struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
				IsError           bool
			}
		}
		if err := json.Unmarshal([]byte(c.await(`"id":1`)), &answer); err != nil {
			t.Fatal(err)
		}
		text := answer.Result.Content[0].Text
		if answer.Result.IsError || !strings.Contains(text, `"showing":"`) {
			t.Errorf("%s does not say that it was cut: %.200s", tool, text)
		}
		if len(text) > answerBudget || len(answer.Result.StructuredContent) > answerBudget {
			t.Errorf("%s takes %d bytes as text and %d as data, more than %d", tool, len(text), len(answer.Result.StructuredContent), answerBudget)
		}
		if len(text) < answerBudget/2 {
			t.Errorf("%s takes %d bytes: it cuts more than it must", tool, len(text))
		}
	}
}

// converseWith starts copse in this process.
func converseWith(t *testing.T, dir string, environ []string) *process {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	env := app.EmptyEnv()
	env.Args, env.Dir, env.Environ = []string{"mcp", "serve"}, dir, environ
	env.Stdin, env.Stdout = in, out
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		copse.Run(ctx, env)
		out.Close()
	}()
	t.Cleanup(func() {
		cancel()
		toServer.Close()
		<-ended
	})
	p := &process{t: t, in: toServer, out: newLines(fromServer)}
	p.initialize()
	return p
}
