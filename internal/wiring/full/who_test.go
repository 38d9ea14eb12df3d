package full_test

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// Servers see each other's clients, in the worktrees where they work, until they end.
func TestWho(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	g.Commit(root, "start")
	linked := filepath.Join(g.Home, "linked")
	g.Run(root, "worktree", "add", "-q", "-b", "topic", linked)
	env := app.EmptyEnv()
	env.Dir, env.Environ = root, g.Env.With("XDG_RUNTIME_DIR="+filepath.Join(g.Home, "run"), "XDG_CACHE_HOME="+filepath.Join(g.Home, "cache"))
	serve := func(client string) (call func(string), end func()) {
		p := full.Follow(t.Context(), wiring.Options{Program: "copse", Env: env}, slog.New(slog.DiscardHandler))
		server := mcpserver.New(mcpserver.Options{
			Name: "t", Version: "1", Toolsets: p.Toolsets(), Worktrees: p, Connected: p.Connected, Logger: slog.New(slog.DiscardHandler),
		})
		in, input := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- server.ServeStdio(t.Context(), in, io.Discard) }()
		call = func(line string) {
			if _, err := io.WriteString(input, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		call(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + client + `","version":"1"}}}`)
		call(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return call, func() {
			_ = input.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	ws := full.Find(t.Context(), env, "")
	store := ws.Items()
	t.Cleanup(func() { _ = store.Close() })
	who := func() string {
		all, err := ws.Worktrees(store).List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, w := range all {
			for _, c := range w.Clients {
				parts = append(parts, w.Branch+": "+c.Name+" "+c.Tool)
			}
		}
		return strings.Join(parts, ", ")
	}
	_, endOne := serve("claude-code")
	eventually(t, "a client that has called nothing", func() bool { return who() == "main: claude-code " })
	call, endTwo := serve("codex")
	call(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_current_branch","arguments":{"worktree":"topic"}}}`)
	eventually(t, "a call in another worktree", func() bool { return strings.Contains(who(), "topic: codex get_current_branch") })
	endOne()
	endTwo()
	eventually(t, "the end of both", func() bool { return who() == "" })
}

// A server does not list the client that calls it, even if the server's first record appears while it
// reads those of the others.
func TestWhoCallsFirst(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	env := app.EmptyEnv()
	env.Dir, env.Environ = root, g.Env.With("XDG_RUNTIME_DIR="+filepath.Join(g.Home, "run"))
	register := full.NewRegister(env, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := register.Close(); err != nil {
			t.Error(err)
		}
	})
	env.Now = func() time.Time {
		eventually(t, "the first record", func() bool { return register.ID() != "" })
		return time.Now()
	}
	register.Seen("claude-code", root, "")
	ws := full.Find(t.Context(), env, "").Registered(register, true)
	if got := ws.Clients(t.Context()); len(got) > 0 {
		t.Errorf("the caller is listed: %v", got)
	}
}
