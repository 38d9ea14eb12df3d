package full_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// ask calls get_current_branch and returns the answer.
func ask(t *testing.T, p *full.Worktrees, params string) string {
	t.Helper()
	server := mcpserver.New(mcpserver.Options{Name: "t", Version: "1", Toolsets: p.Toolsets(), Worktrees: p, Logger: slog.New(slog.DiscardHandler)})
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
` + params + "\n")
	var out strings.Builder
	if err := server.ServeStdio(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"id":2`) {
			return line
		}
	}
	t.Fatalf("no answer: %s", out.String())
	return ""
}

func call(arguments, meta string) string {
	return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_current_branch","arguments":` + arguments + `,"_meta":` + meta + `}}`
}

func follow(t *testing.T, dir, repo string) *full.Worktrees {
	t.Helper()
	env := app.EmptyEnv()
	env.Dir, env.Environ = dir, append(os.Environ(), "HOME="+t.TempDir())
	p := full.Follow(t.Context(), wiring.Options{Program: "copse", Env: env, Repo: repo}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// One server answers for the worktree that the session is in, also for one inside another, and
// says which one it was.
func TestPlaces(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	g.Commit(root, "start")
	inside := filepath.Join(root, ".claude", "worktrees", "x")
	g.Run(root, "worktree", "add", "-q", "-b", "feature/in", inside)
	other := g.Init()
	g.Commit(other, "start")
	g.Run(other, "checkout", "-q", "-b", "elsewhere")
	if err := os.MkdirAll(filepath.Join(inside, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(dir string) string {
		return `{"codex/sandbox-state-meta":{"sandboxCwd":"file://` + filepath.ToSlash(dir) + `"}}`
	}
	p := follow(t, root, "")
	for name, tt := range map[string]struct{ arguments, meta, branch, path string }{
		"where it was started":          {`{}`, `{}`, "main", root},
		"in a worktree inside":          {`{}`, at(filepath.Join(inside, "deep")), "feature/in", inside},
		"back":                          {`{}`, at(root), "main", root},
		"in another repository":         {`{}`, at(other), "elsewhere", other},
		"named by branch":               {`{"worktree":"feature/in"}`, `{}`, "feature/in", inside},
		"named by directory":            {`{"worktree":"x"}`, `{}`, "feature/in", inside},
		"named by a path in it":         {`{"worktree":"` + filepath.ToSlash(filepath.Join(inside, "deep")) + `"}`, `{}`, "feature/in", inside},
		"named from the one inside":     {`{"worktree":"main"}`, at(inside), "main", root},
		"a directory that is not there": {`{}`, at(filepath.Join(root, "gone")), "main", root},
	} {
		got := ask(t, p, call(tt.arguments, tt.meta))
		if !strings.Contains(got, `"branch":"`+tt.branch+`"`) || !strings.Contains(got, `"worktree":"`+tt.path+`"`) {
			t.Errorf("%s: %s", name, got)
		}
	}

	// What a model names stays in the repository of the session.
	for _, path := range []string{other, filepath.Dir(root), "/", "..", "elsewhere"} {
		if got := ask(t, p, call(`{"worktree":"`+path+`"}`, `{}`)); !strings.Contains(got, "There is no worktree") || strings.Contains(got, "elsewhere\"}") {
			t.Errorf("%s can be named: %s", path, got)
		}
	}
	// A repository's own list of worktrees does not lead elsewhere.
	planted := filepath.Join(root, ".git", "worktrees", "planted")
	if err := os.MkdirAll(planted, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"gitdir": filepath.Join(other, ".git"), "HEAD": "ref: refs/heads/elsewhere", "commondir": "../.."} {
		if err := os.WriteFile(filepath.Join(planted, file), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, p, call(`{"worktree":"`+other+`"}`, `{}`)); !strings.Contains(got, "There is no worktree") {
		t.Errorf("a planted worktree can be named: %s", got)
	}

	// A server that was started for a repository stays there.
	fixed := follow(t, other, root)
	if got := ask(t, fixed, call(`{}`, at(other))); !strings.Contains(got, `"branch":"main"`) {
		t.Errorf("with --repo: %s", got)
	}
}

// Where there is one worktree alone, answers are as they were.
func TestOneWorktree(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	repo := g.Init()
	g.Commit(repo, "start")
	p := follow(t, repo, "")
	if got := ask(t, p, call(`{}`, `{}`)); strings.Contains(got, `"worktree"`) {
		t.Errorf("got %s", got)
	}
	g.Run(repo, "worktree", "add", "-q", "-b", "topic", filepath.Join(t.TempDir(), "linked"))
	if got := ask(t, p, call(`{}`, `{}`)); !strings.Contains(got, `"worktree":"`+repo+`"`) {
		t.Errorf("got %s", got)
	}
}

// Naming worktrees costs at most 700 bytes of the whole list of tools.
func TestWorktreeBytes(t *testing.T) {
	t.Parallel()
	list := ask(t, follow(t, t.TempDir(), ""), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	bytes := 0
	for _, found := range regexp.MustCompile(`,?"worktree":\{"type":"string"[^}]*\}`).FindAllString(list, -1) {
		bytes += len(found)
	}
	if bytes == 0 || bytes > 700 {
		t.Errorf("%d bytes", bytes)
	}
}

// The start of a server reads no login and no address of a remote: a client waits for it.
func TestStartNeedsNoSecrets(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	env := app.EmptyEnv()
	env.Dir, env.Environ = g.Init(), g.Env
	env.Secrets = secret.New(func(*secret.Set) { t.Error("the secrets were looked up") })
	p := full.Follow(t.Context(), wiring.Options{Program: "copse", Env: env}, slog.New(slog.DiscardHandler))
	defer p.Close()
	if p.Instructions("", false) == "" || len(p.Toolsets()) == 0 {
		t.Error("nothing is served")
	}
}
