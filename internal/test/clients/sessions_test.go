package clients_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/model"
)

// calls returns a script that makes calls one after the other.
func calls(list []model.Call) model.Script {
	return func(results []string) (model.Call, bool) {
		if len(results) < len(list) {
			return list[len(results)], true
		}
		return model.Call{}, false
	}
}

// TestSessionsMove runs each host in a linked worktree, with one entry for all of them: over HTTP,
// where no server knows in which directory its client is. Claude Code also moves to another
// worktree and back in a running session, and Codex is told where to work by a flag. Each answer
// must be about the worktree that the session is in, or about the one that the model names.
func TestSessionsMove(t *testing.T) {
	t.Parallel()
	f := withHosts(t)
	repo, home := freshRepo(t), short(t)
	tree := filepath.Join(t.TempDir(), "second")
	run(t, repo, "git", "worktree", "add", "-q", "-b", "other", tree)
	f.repo = repo
	upWith(t, f.fixture, append(f.environ(home), "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig")))
	stays := []model.Call{
		{Tool: "get_current_branch", Args: `{}`},
		{Tool: "get_current_branch", Args: `{"worktree":"feature/login"}`},
	}
	moves := []model.Call{
		{Tool: "get_current_branch", Args: `{}`},
		{Tool: "EnterWorktree", Args: `{"name":"probe"}`, Own: true},
		{Tool: "get_current_branch", Args: `{}`},
		{Tool: "ExitWorktree", Args: `{"action":"keep"}`, Own: true},
		{Tool: "get_current_branch", Args: `{}`},
	}
	for _, h := range hosts() {
		for _, transport := range []string{"http", "stdio"} {
			script, argv, dir := stays, h.argv, tree
			switch {
			case h.client == "claude-code":
				script, dir = moves, repo
				argv = append(slices.Clone(argv), "EnterWorktree", "ExitWorktree")
			case transport == "stdio":
				continue // its server is started in the worktree
			case h.client == "codex":
				dir = repo
				argv = slices.Insert(slices.Clone(argv), len(argv)-1, "-C", tree)
			}
			t.Run(h.client+"/"+transport, func(t *testing.T) {
				f := f
				f.repo = repo
				m, env := f.ready(t, h, home, calls(script))
				f.must(t, env, "copse", "mcp", "install", "--client", h.client, "--transport", transport)
				f.repo = dir
				for i, kv := range env {
					if strings.HasPrefix(kv, "PWD=") {
						env[i] = "PWD=" + dir
					}
				}
				f.must(t, env, argv...)
				var b strings.Builder
				for i, result := range m.Results() {
					fmt.Fprintf(&b, "> %s %s\n%s\n", script[i].Tool, script[i].Args, strings.TrimRight(result, "\n"))
				}
				text := strings.NewReplacer(tree, "$TREE", repo, "$REPO", home, "$HOME").Replace(b.String())
				for pattern, stands := range varying {
					text = pattern.ReplaceAllString(text, stands)
				}
				golden(t, filepath.Join("testdata", "sessions", h.client+"-"+transport+".txt"), text)
				if h.client == "claude-code" { // for the next one
					run(t, repo, "git", "worktree", "remove", "--force", filepath.Join(repo, ".claude", "worktrees", "probe"))
					run(t, repo, "git", "branch", "-q", "-D", "worktree-probe")
				}
			})
		}
	}
}

// hostOf returns the host of a client.
func hostOf(client string) host {
	all := hosts()
	return all[slices.IndexFunc(all, func(h host) bool { return h.client == client })]
}

const (
	began = "This is the state of the project as copse knows it"
	// moved is a branch that is checked out before a session is compacted.
	moved = "after/compaction"
)

// informed checks that the first request after a compaction has the state of the project as it is
// then, and the one before it does not.
func informed(t *testing.T, requests []string) {
	t.Helper()
	if len(requests) < 2 {
		t.Fatalf("the model was asked %d times", len(requests))
	}
	first, last := requests[0], requests[len(requests)-1]
	if !strings.Contains(first, began) || strings.Contains(first, moved) {
		t.Errorf("the session does not start informed:\n%.4000s", first)
	}
	if !strings.Contains(last, began) || !strings.Contains(last, moved) {
		t.Errorf("after a compaction the session is not informed:\n%.4000s", last)
	}
}

// TestCompactionOfClaudeCode compacts a running session. Its next prompt begins with the state of
// the project as it is then.
func TestCompactionOfClaudeCode(t *testing.T) {
	t.Parallel()
	f, h := withHosts(t), hostOf("claude-code")
	f.repo = freshRepo(t)
	home := short(t)
	m, env := f.ready(t, h, home, calls(nil))
	f.must(t, env, "copse", "mcp", "install", "--client", h.client, "--hooks")
	ctx, cancel := context.WithTimeout(t.Context(), hostTime)
	defer cancel()
	cmd := f.command(ctx, env, "claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	say := func(text string) {
		t.Helper()
		if err := json.NewEncoder(in).Encode(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, `"type":"result"`) {
				return
			}
		}
	}
	say("Begin.")
	run(t, f.repo, "git", "checkout", "-q", "-b", moved)
	say("/compact")
	say("Go on.")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	informed(t, m.Requests())
}

// TestCompactionOfCodex lets Codex compact its session by itself, in the middle of a turn.
func TestCompactionOfCodex(t *testing.T) {
	t.Parallel()
	f, h := withHosts(t), hostOf("codex")
	f.repo = freshRepo(t)
	home := short(t)
	asked := 0
	m, env := f.ready(t, h, home, func([]string) (model.Call, bool) {
		if asked++; asked > 1 { // it has been compacted
			return model.Call{}, false
		}
		run(t, f.repo, "git", "checkout", "-q", "-b", moved)
		return model.Call{Tool: "list_directory", Args: `{}`}, true
	})
	f.must(t, env, "copse", "mcp", "install", "--client", h.client, "--hooks")
	argv := slices.Insert(slices.Clone(h.argv), 2, "-c", "model_auto_compact_token_limit=1")
	f.must(t, env, argv...)
	informed(t, m.Requests())
}

// TestCompactionOfCopilot compacts a session of Copilot CLI, which has no event afterward and names
// none of its events. The context comes once at the start, and once with the prompt after the
// compaction.
func TestCompactionOfCopilot(t *testing.T) {
	t.Parallel()
	f, h := withHosts(t), hostOf("copilot")
	f.repo = freshRepo(t)
	home := short(t)
	m, env := f.ready(t, h, home, calls(nil))
	f.must(t, env, "copse", "mcp", "install", "--client", h.client, "--hooks")
	say := func(text string) {
		argv := slices.Clone(h.argv)
		argv[slices.Index(argv, "Begin.")] = text
		f.must(t, env, append(argv, "--continue")...)
	}
	f.must(t, env, h.argv...)
	run(t, f.repo, "git", "checkout", "-q", "-b", moved)
	say("/compact")
	say("Go on.")
	requests := m.Requests()
	informed(t, requests)
	for i, n := range map[int]int{0: 1, len(requests) - 1: 1} {
		if got := strings.Count(requests[i], began); got != n {
			t.Errorf("request %d has the state of the project %d times:\n%.4000s", i, got, requests[i])
		}
	}
}
