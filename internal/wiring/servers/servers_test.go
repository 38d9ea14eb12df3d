package servers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

const token = "right-token"

// environment returns that of a user who has nothing but git.
func environment(g *gittest.Git) app.Env {
	return app.Env{
		Environ: append(g.Env.With("XDG_STATE_HOME="+filepath.Join(g.Home, "state"), "DOCKER_HOST=unix:///no/engine.sock"), "HOME="+g.Home),
		GOOS:    "linux", Now: time.Now, Stderr: os.Stderr,
	}
}

// freePort returns a port from which on some are free.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// gate demands the same of all clients.
type gate struct{ httpguard.Options }

func (g gate) Guard(_ context.Context, _ supervisor.Worktree, h http.Handler) (http.Handler, error) {
	return httpguard.New(g.Options, h), nil
}
func (gate) Renew(context.Context, supervisor.Worktree) error { return nil }
func (gate) Refresh(context.Context)                          {}
func (gate) TokenFile(supervisor.Worktree) string             { return "" }

// fleet makes a supervisor as copse up does.
func fleet(t testing.TB, g *gittest.Git, ports string, first int, guard httpguard.Options) *supervisor.Supervisor {
	t.Helper()
	return fleetIn(t, environment(g), ports, first, guard)
}

// fleetIn makes one in an environment.
func fleetIn(t testing.TB, env app.Env, ports string, first int, guard httpguard.Options) *supervisor.Supervisor {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	guard.Now = time.Now
	s := supervisor.New(supervisor.Options{
		Repository: servers.Repository{Env: env},
		Serve:      servers.NewFleet(servers.Options{Env: env, Logger: logger}).Serve,
		Gate:       gate{guard},
		Ports:      supervisor.NewPorts(ports, first),
		Logger:     logger,
	})
	t.Cleanup(s.Close)
	return s
}

// view returns the state in short: name, branch, port from the first one on.
func view(s *supervisor.Supervisor, first int) string {
	var all []string
	for _, one := range s.Status() {
		text := fmt.Sprintf("%s:%s:+%d", filepath.Base(one.Path), one.Branch, one.MCP.Port-first)
		if !one.MCP.ServerRunning || one.MCP.LastError != "" {
			text += " " + one.MCP.LastError
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// becomes waits until the state is this, for as long as it may take.
func becomes(t testing.TB, s *supervisor.Supervisor, first int, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = view(s, first); got == want {
			return
		}
	}
	t.Fatalf("it is %q, want %q", got, want)
}

// answers reports whether a port is served.
func answers(port int) bool {
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		res, err := http.Get("http://" + host + ":" + strconv.Itoa(port) + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

func join(t testing.TB, s *supervisor.Supervisor, dir string) {
	t.Helper()
	if err := s.Join(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

// consecutive looks for a port after which n are free: other tests take some, too.
func consecutive(t testing.TB, n int) int {
	t.Helper()
	for range 50 {
		first := freePort(t)
		free := true
		for port := first; port < first+n && free; port++ {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
			if free = err == nil; free {
				_ = l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}

// TestLifecycle follows worktrees as they come and go.
func TestLifecycle(t *testing.T) {
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "start")
	at := func(name string) string { return filepath.Join(filepath.Dir(dir), name) }
	g.Run(dir, "worktree", "add", "-q", "-b", "one", at("one"))
	ports, first := filepath.Join(g.Home, "ports.json"), consecutive(t, 8)
	s := fleet(t, g, ports, first, httpguard.Options{})
	join(t, s, at("one"))
	main := filepath.Base(dir)
	becomes(t, s, first, main+":main:+0 one:one:+1")
	if !answers(first) || !answers(first+1) {
		t.Error("a server does not answer")
	}

	g.Run(dir, "worktree", "add", "-q", "-b", "two", at("two"))
	becomes(t, s, first, main+":main:+0 one:one:+1 two:two:+2")
	g.Run(dir, "worktree", "move", at("one"), at("moved"))
	becomes(t, s, first, main+":main:+0 moved:one:+1 two:two:+2")
	g.Run(at("two"), "checkout", "-q", "-b", "other")
	becomes(t, s, first, main+":main:+0 moved:one:+1 two:other:+2")
	g.Run(dir, "worktree", "remove", at("moved"))
	becomes(t, s, first, main+":main:+0 two:other:+2")
	if answers(first + 1) {
		t.Error("the server of a removed worktree answers")
	}
	// Its port is the next one's.
	g.Run(dir, "worktree", "add", "-q", "-b", "three", at("three"))
	becomes(t, s, first, main+":main:+0 three:three:+1 two:other:+2")
	// A directory that goes without git, and comes back.
	if err := os.Rename(at("two"), at("hidden")); err != nil {
		t.Fatal(err)
	}
	becomes(t, s, first, main+":main:+0 three:three:+1")
	if err := os.Rename(at("hidden"), at("two")); err != nil {
		t.Fatal(err)
	}
	becomes(t, s, first, main+":main:+0 three:three:+1 two:other:+2")
	if err := os.RemoveAll(at("two")); err != nil {
		t.Fatal(err)
	}
	g.Run(dir, "worktree", "prune")
	becomes(t, s, first, main+":main:+0 three:three:+1")

	// Closed and opened by hand; other repositories and plain directories, too.
	if _, err := s.CloseWorktree(t.Context(), at("three")); err != nil {
		t.Error(err)
	}
	becomes(t, s, first, main+":main:+0")
	if _, err := s.CloseWorktree(t.Context(), at("three")); err == nil || !strings.Contains(err.Error(), "is not served") {
		t.Errorf("closed twice: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), plain); err != nil {
		t.Error(err)
	}
	becomes(t, s, first, main+":main:+0 plain::+2")
	if _, err := s.Open(t.Context(), filepath.Join(at("three"), "..", "three")); err != nil {
		t.Error(err)
	}
	becomes(t, s, first, main+":main:+0 three:three:+1 plain::+2")
	if _, err := s.Open(t.Context(), at("nowhere")); err == nil {
		t.Error("a folder that is not there is served")
	}
	// An opened one tells which branch it is on now, too.
	g.Run(at("three"), "checkout", "-q", "-b", "four")
	becomes(t, s, first, main+":main:+0 three:four:+1 plain::+2")
	g.Run(at("three"), "checkout", "-q", "three")
	join(t, s, dir) // a second time does no harm
	becomes(t, s, first, main+":main:+0 three:three:+1 plain::+2")

	// After a stop everything is free. A worktree whose port another program has by then is
	// not served elsewhere, until that port is free again or it is moved on purpose.
	s.Close()
	if s.Close(); answers(first) || answers(first+1) {
		t.Error("a server answers after the end")
	}
	if err := s.Join(t.Context(), dir); err == nil {
		t.Error("joined after the end")
	}
	busy, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first))
	if err != nil {
		t.Fatal(err)
	}
	s = fleet(t, g, ports, first, httpguard.Options{})
	join(t, s, dir)
	held := fmt.Sprintf("port %d, which the clients of this worktree use, is in use by another program; "+
		"stop that program, or run `copse up --new-port` to move the worktree and create a new token", first)
	becomes(t, s, first, fmt.Sprintf("%s:main:+%d %s three:three:+1", main, -first, held))
	_ = busy.Close()
	becomes(t, s, first, main+":main:+0 three:three:+1")
	s.Close()
	if busy, err = net.Listen("tcp", "[::1]:"+strconv.Itoa(first)); err == nil { // the other half of localhost counts as well
		defer busy.Close()
	}
	s = fleet(t, g, ports, first, httpguard.Options{})
	join(t, s, dir)
	becomes(t, s, first, fmt.Sprintf("%s:main:+%d %s three:three:+1", main, -first, held))
	if err := s.Move(t.Context(), dir); err != nil {
		t.Error(err)
	}
	becomes(t, s, first, "three:three:+1 "+main+":main:+3")
}

// TestNoPort says in the state what is wrong.
func TestNoPort(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	l, err := net.Listen("tcp", "127.0.0.1:65535")
	if err == nil {
		defer l.Close()
	}
	s := fleet(t, g, "", 65535, httpguard.Options{})
	join(t, s, dir)
	states := s.Status()
	if len(states) != 1 || states[0].MCP.ServerRunning || !strings.Contains(states[0].MCP.LastError, "no port is free") || states[0].MCP.Tools == nil {
		t.Errorf("got %+v", states)
	}
}

// TestState reports a worktree's server: its tools and its clients.
func TestState(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	first := freePort(t)
	s := fleet(t, g, "", first, httpguard.Options{Token: func() string { return token }})
	join(t, s, dir)
	mcp := s.Status()[0].MCP
	if !mcp.ServerRunning || mcp.ConnectedClients != 0 {
		t.Errorf("running: %v, %d clients are connected", mcp.ServerRunning, mcp.ConnectedClients)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := connect(t, mcp.Port)
	if n := s.Status()[0].MCP.ConnectedClients; n != 1 {
		t.Errorf("%d clients are connected", n)
	}
	var names []string
	for _, tool := range mcp.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if listed := c.tools(ctx); len(listed) == 0 || !slices.Equal(names, slices.Sorted(slices.Values(listed))) {
		t.Errorf("the state has the tools %q, the server lists %q", names, listed)
	}
	c.close(ctx)
	for deadline := time.Now().Add(2 * time.Second); s.Status()[0].MCP.ConnectedClients != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a client that said goodbye is connected")
		}
	}
}

// failing is a repository about which git sometimes fails.
type failing struct {
	servers.Repository
	fail    atomic.Bool
	changed chan func()
}

func (f *failing) Worktrees(ctx context.Context, dir string, served []string) ([]supervisor.Worktree, int, error) {
	if f.fail.Load() {
		return nil, 0, errors.New("git does not answer")
	}
	return f.Repository.Worktrees(ctx, dir, served)
}

func (f *failing) Watch(ctx context.Context, _ string, changed func()) error {
	f.changed <- changed
	<-ctx.Done()
	return nil
}

// What git cannot tell for a moment stops no server.
func TestGitFails(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	env := environment(g)
	f := &failing{Repository: servers.Repository{Env: env}, changed: make(chan func(), 1)}
	logger := slog.New(slog.DiscardHandler)
	s := supervisor.New(supervisor.Options{
		Repository: f, Serve: servers.NewFleet(servers.Options{Env: env, Logger: logger}).Serve, Gate: gate{httpguard.Options{Now: time.Now}},
		Ports: supervisor.NewPorts("", freePort(t)), Logger: logger,
	})
	t.Cleanup(s.Close)
	join(t, s, dir)
	f.fail.Store(true)
	(<-f.changed)()
	if got := s.Status(); len(got) != 1 || !got[0].MCP.ServerRunning {
		t.Errorf("got %+v", got)
	}
}
