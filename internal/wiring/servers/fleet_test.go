package servers_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// One endpoint answers for all worktrees beside their own: also for one that is added later,
// and no longer for one that is gone. It needs a worktree to be named where a client does not
// say where it is, and each answer names its own.
func TestOneEndpoint(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	g.Commit(root, "start")
	linked := filepath.Join(g.Home, "linked")
	other := g.Init()
	g.Commit(other, "start")
	g.Run(other, "checkout", "-q", "-b", "elsewhere")
	env, first := environment(g), consecutive(t, 4)
	env.Dir = g.Home
	logger := slog.New(slog.DiscardHandler)
	all := servers.NewFleet(servers.Options{Env: env, Logger: logger})
	state := t.TempDir()
	s := supervisor.New(supervisor.Options{
		Repository: servers.Repository{Env: env}, Serve: all.Serve, Shared: all.ServeAll, SharedKey: state, Gate: gate{httpguard.Options{Now: time.Now, Token: func() string { return token }}},
		Ports: supervisor.NewPorts(filepath.Join(state, "ports.json"), first), Logger: logger,
	})
	t.Cleanup(s.Close)
	join(t, s, root)
	shared := s.Shared()
	if shared == nil || !shared.MCP.ServerRunning || shared.MCP.Port != first+1 || len(shared.MCP.Tools) == 0 {
		t.Fatalf("the shared server is %+v", shared)
	}
	c := modern(t, shared.MCP.Port)
	has := func(args string, want ...string) {
		t.Helper()
		got := c.call(t.Context(), 1, "get_current_branch", args)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: got %s, want %s", args, got, w)
			}
		}
	}
	has(`{}`, `"branch":"main"`, `"worktree":"`+root+`"`) // there is one alone
	g.Run(root, "worktree", "add", "-q", "-b", "topic", linked)
	for deadline := time.Now().Add(10 * time.Second); len(s.Status()) < 2 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	has(`{}`, `"code":"invalid_params"`, `pass the argument \"worktree\"`, linked+`\" (topic)`)
	has(`{"worktree":"topic"}`, `"branch":"topic"`, `"worktree":"`+linked+`"`)
	has(`{"worktree":"`+root+`"}`, `"branch":"main"`)
	// A repository that is not served is out of reach, also for a client that says it is there.
	has(`{"worktree":"`+other+`"}`, "There is no worktree")
	worktree, err := all.Find(t.Context(), "", []string{other})
	if err == nil || worktree != nil || !strings.Contains(err.Error(), "does not serve "+strconv.Quote(other)) {
		t.Errorf("got %v, %v", worktree, err)
	}
	if _, err := s.Open(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Find(t.Context(), "", []string{filepath.Join(other, ".git")}); err != nil {
		t.Errorf("in another repository that is served: %v", err)
	}
	// What a model names stays in the repository of its session.
	if _, err := all.Find(t.Context(), other, []string{root}); err == nil {
		t.Error("a session can name a worktree of another repository")
	}
	// A directory without a repository, or with a damaged one, reaches none.
	damaged := filepath.Join(g.Home, "damaged")
	if err := os.MkdirAll(filepath.Join(damaged, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{g.Home, damaged, filepath.Join(g.Home, "gone")} {
		for _, name := range []string{other, "elsewhere", "topic"} {
			if _, err := all.Find(t.Context(), name, []string{dir}); err == nil || strings.Contains(err.Error(), linked) || strings.Contains(err.Error(), other) {
				t.Errorf("a session in %s reaches %s: %v", dir, name, err)
			}
		}
	}
	if _, err := all.Find(t.Context(), "topic", []string{root}); err != nil {
		t.Error(err)
	}
	// A client can create a worktree, and ask there before the supervisor has noticed it.
	created := filepath.Join(t.TempDir(), "created")
	g.Run(root, "worktree", "add", "-q", "-b", "created", created)
	if one, err := all.Find(t.Context(), "", []string{created}); err != nil || one.Name() != created {
		t.Errorf("in a new worktree: %v, %v", one, err)
	}
	g.Run(root, "worktree", "remove", created)
	g.Run(root, "worktree", "remove", linked)
	for deadline := time.Now().Add(10 * time.Second); len(s.Status()) > 2 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	has(`{"worktree":"topic"}`, "There is no worktree")
	s.Close()
	if answers(shared.MCP.Port) {
		t.Error("the shared server goes on")
	}
}

// The token of a worktree does not open the server of all worktrees, and the token of that server does not open a worktree.
func TestSharedToken(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	g.Commit(root, "start")
	env, first := environment(g), consecutive(t, 2)
	logger := slog.New(slog.DiscardHandler)
	state, store := t.TempDir(), bearer.NewStore(filepath.Join(t.TempDir(), "tokens"))
	all := servers.NewFleet(servers.Options{Env: env, Logger: logger})
	s := supervisor.New(supervisor.Options{
		Repository: servers.Repository{Env: env}, Serve: all.Serve, Shared: all.ServeAll, SharedKey: state,
		Gate:  servers.NewGate(store, httpguard.Options{Now: time.Now, Rate: 1000}, false, func(string) {}),
		Ports: supervisor.NewPorts("", first), Logger: logger,
	})
	t.Cleanup(s.Close)
	join(t, s, root)
	shared, one := *s.Shared(), s.Status()[0]
	secret := func(of supervisor.State) string {
		text, err := bearer.New(of.TokenFile).Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if shared.TokenFile == one.TokenFile || secret(shared) == secret(one) {
		t.Fatal("they share a token")
	}
	for _, tt := range []struct {
		server supervisor.State
		token  string
		opens  bool
	}{{shared, secret(shared), true}, {one, secret(one), true}, {shared, secret(one), false}, {one, secret(shared), false}, {shared, "", false}} {
		c := modern(t, tt.server.MCP.Port)
		res, body := c.post(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
			map[string][]string{"Authorization": {"Bearer " + tt.token}})
		if (res.StatusCode == 200) != tt.opens {
			t.Errorf("port %d: %s %s", tt.server.MCP.Port, res.Status, body)
		}
	}
}
