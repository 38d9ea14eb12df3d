package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/supervisor"
)

// repository lists the directories that a test needs.
type repository struct {
	mu   sync.Mutex
	list []supervisor.Worktree
	more int
	// changed reports a change to the supervisor.
	changed func()
}

// becomes changes the list.
func (r *repository) becomes(more int, list ...supervisor.Worktree) {
	r.mu.Lock()
	r.list, r.more = list, more
	changed := r.changed
	r.mu.Unlock()
	changed()
}

func (r *repository) Worktrees(context.Context, string, []string) ([]supervisor.Worktree, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]supervisor.Worktree(nil), r.list...), r.more, nil
}

func (r *repository) Worktree(_ context.Context, dir string) (supervisor.Worktree, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.list {
		if w.Path == dir {
			return w, nil
		}
	}
	return supervisor.Worktree{}, errors.New("no worktree")
}

func (r *repository) Watch(ctx context.Context, _ string, changed func()) error {
	r.mu.Lock()
	r.changed = changed
	r.mu.Unlock()
	<-ctx.Done()
	return nil
}

// server answers with its path.
type server struct{ path string }

func (s server) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s.path) }
func (server) Tools() []supervisor.Tool                           { return nil }
func (server) HasSession(id string) bool                          { return id == "open" }
func (server) Clients() int                                       { return 3 }
func (server) Close()                                             {}

// gate lets everybody in, unless it is broken, and notes which tokens are renewed.
type gate struct {
	broken  error
	renewed []string
}

func (g *gate) Guard(_ context.Context, _ supervisor.Worktree, h http.Handler) (http.Handler, error) {
	if _, ok := h.(httpguard.Sessions); !ok {
		return nil, errors.New("the guard does not learn the sessions of the server")
	}
	return h, g.broken
}

func (g *gate) Renew(_ context.Context, w supervisor.Worktree) error {
	g.renewed = append(g.renewed, filepath.Base(w.Path))
	return nil
}
func (*gate) Refresh(context.Context)                {}
func (*gate) TokenFile(w supervisor.Worktree) string { return w.Key + ".token" }

// rig is a supervisor over a list of directories.
type rig struct {
	t     *testing.T
	repo  *repository
	gate  *gate
	ports string
	first int
	hosts []string
	own   func(port int) bool
	all   bool // there is a server for all worktrees
}

func newRig(t *testing.T, names ...string) *rig {
	t.Helper()
	r := &rig{t: t, repo: &repository{}, gate: &gate{}, ports: filepath.Join(t.TempDir(), "state", "ports.json"), first: free(t)}
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		r.repo.list = append(r.repo.list, supervisor.Worktree{Path: path, Key: path})
	}
	return r
}

// free returns a port with some free ones after it.
func free(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first := l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		ok := first < 65000
		for port := first; port < first+6 && ok; port++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if ok = err == nil; ok {
				_ = l.Close()
			}
		}
		if ok {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}

func (r *rig) start() *supervisor.Supervisor {
	r.t.Helper()
	o := supervisor.Options{
		Repository: r.repo, Serve: func(_ context.Context, path string) supervisor.Server { return server{path} }, Gate: r.gate,
		Ports: supervisor.NewPorts(r.ports, r.first), Own: r.own, Hosts: r.hosts, Logger: slog.New(slog.DiscardHandler),
	}
	if r.all {
		o.SharedKey, o.Shared = "all", func(context.Context) supervisor.Server { return server{"all"} }
	}
	s := supervisor.New(o)
	r.t.Cleanup(s.Close)
	if err := s.Join(r.t.Context(), r.repo.list[0].Path); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// hold listens where a worktree of ours would.
func (r *rig) hold(host string, port int) net.Listener {
	r.t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
	if err != nil {
		r.t.Skipf("%s cannot be listened on: %v", host, err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	return l
}

// view returns the state in short: name and port from the first one on, or what is wrong.
func (r *rig) view(s *supervisor.Supervisor) string {
	var all []string
	for _, one := range s.Status() {
		text := fmt.Sprintf("%s+%d", filepath.Base(one.Path), one.MCP.Port-r.first)
		if one.MCP.LastError != "" {
			text = filepath.Base(one.Path) + "!"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func (r *rig) want(s *supervisor.Supervisor, want string) {
	r.t.Helper()
	if got := r.view(s); got != want {
		r.t.Errorf("it is %q, want %q", got, want)
	}
}

// eventually waits for what happens within a second or so.
func (r *rig) eventually(s *supervisor.Supervisor, want string) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); r.view(s) != want && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	r.want(s, want)
}

// A worktree never moves to another port by itself, on whichever half of localhost the
// stranger is, and comes back when the port is free.
func TestHeldPort(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "::1", "0.0.0.0"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "a", "b")
			s := r.start()
			r.want(s, "a+0 b+1")
			s.Close()
			stranger := r.hold(host, r.first)
			s = r.start()
			r.want(s, "a! b+1")
			state := s.Status()[0]
			if state.MCP.ServerRunning || state.MCP.Port != 0 || !strings.Contains(state.MCP.LastError, "is in use by another program") || !strings.Contains(state.MCP.LastError, "--new-port") {
				t.Errorf("the state is %+v", state)
			}
			if opened, err := s.Open(t.Context(), r.repo.list[0].Path); err != nil || opened.MCP.LastError == "" {
				t.Errorf("opened by name: %+v, %v", opened, err)
			}
			_ = stranger.Close()
			r.eventually(s, "a+0 b+1")
			if len(r.gate.renewed) != 0 {
				t.Errorf("new tokens for %v", r.gate.renewed)
			}
		})
	}
}

// A stranger who holds the port learns a token that no longer opens the worktree, also when the port
// is free again.
func TestStrangerHoldsPort(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "b")
	r.start().Close()
	stranger := r.hold("127.0.0.1", r.first)
	r.own = func(port int) bool { return port != r.first }
	s := r.start()
	r.want(s, "a! b+1")
	for range 3 { // each one tries again
		state, err := s.Open(t.Context(), r.repo.list[0].Path)
		if err != nil || !strings.Contains(state.MCP.LastError, "new token") {
			t.Errorf("the state is %+v, %v", state, err)
		}
	}
	_ = stranger.Close()
	r.eventually(s, "a+0 b+1")
	if got := fmt.Sprint(r.gate.renewed); got != "[a]" {
		t.Errorf("new tokens for %s", got)
	}
}

// On purpose the worktree moves, with a new token; the others stay as they are.
func TestMove(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "b")
	r.start().Close()
	r.hold("127.0.0.1", r.first)
	s := r.start()
	if err := s.Move(t.Context(), r.repo.list[0].Path); err != nil {
		t.Fatal(err)
	}
	r.want(s, "b+1 a+2")
	if got := fmt.Sprint(r.gate.renewed); got != "[a]" {
		t.Errorf("new tokens for %s", got)
	}
	if err := s.Move(t.Context(), r.repo.list[0].Path); err != nil {
		t.Fatal(err)
	}
	r.want(s, "b+1 a+2") // it no longer holds anything
	s.Close()
	if err := s.Move(t.Context(), r.repo.list[0].Path); !errors.Is(err, supervisor.ErrClosed) {
		t.Errorf("moved after the end: %v", err)
	}
	r.want(r.start(), "b+1 a+2")
}

// The same is true of the server for all worktrees.
func TestMoveShared(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a")
	r.all = true
	first := r.start()
	port := first.Shared().MCP.Port
	first.Close()
	r.hold("127.0.0.1", port)
	s := r.start()
	if got := s.Shared().MCP; got.ServerRunning || got.LastError == "" {
		t.Errorf("the state is %+v", got)
	}
	if err := s.Move(t.Context(), r.repo.list[0].Path); err != nil {
		t.Fatal(err)
	}
	if got := s.Shared().MCP; !got.ServerRunning || got.Port == port {
		t.Errorf("after the move, the state is %+v", got)
	}
	if len(r.gate.renewed) != 1 {
		t.Errorf("new tokens for %v", r.gate.renewed)
	}
}

// A worktree that cannot be let into is not served, and holds no port.
func TestBrokenGate(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a")
	r.gate.broken = errors.New("others can read the token")
	s := r.start()
	if state := s.Status()[0]; state.MCP.LastError != "others can read the token" || state.MCP.ServerRunning || !strings.HasSuffix(state.TokenFile, "a.token") {
		t.Errorf("the state is %+v", state)
	}
	r.hold("127.0.0.1", r.first)
}

// If the ports were lost, all worktrees would silently move.
func TestBrokenPorts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a")
	r.start().Close()
	if err := os.WriteFile(r.ports, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := r.start()
	if state := s.Status()[0]; !strings.Contains(state.MCP.LastError, "ports.json") || state.MCP.ServerRunning {
		t.Errorf("the state is %+v", state)
	}
	if data, err := os.ReadFile(r.ports); err != nil || string(data) != "{" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// A port belongs to one worktree. One that is gone loses it to the next.
func TestReusedPort(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "b")
	r.start().Close()
	gone := r.repo.list[0].Path
	if err := os.Rename(gone, gone+"-away"); err != nil {
		t.Fatal(err)
	}
	c := filepath.Join(filepath.Dir(gone), "c")
	if err := os.Mkdir(c, 0o755); err != nil {
		t.Fatal(err)
	}
	r.repo.list = []supervisor.Worktree{r.repo.list[1], {Path: c, Key: c}}
	s := r.start()
	r.want(s, "c+0 b+1")
	s.Close()
	if err := os.Rename(gone+"-away", gone); err != nil {
		t.Fatal(err)
	}
	r.repo.list = append(r.repo.list, supervisor.Worktree{Path: gone, Key: gone})
	r.want(r.start(), "c+0 b+1 a+2")
}

// Loopback is served whatever other addresses are: localhost is not left to strangers.
func TestLoopbackIsAlwaysServed(t *testing.T) {
	t.Parallel()
	for _, hosts := range [][]string{nil, {"127.0.0.1"}, {"0.0.0.0"}, {"127.0.0.2"}, {"::1"}, {"::"}, {"0.0.0.0", "::"}} {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "a")
			r.hosts = hosts
			s := r.start()
			r.want(s, "a+0")
			for _, host := range []string{"127.0.0.1", "::1"} {
				if l, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
					continue // a machine without IPv6
				} else {
					_ = l.Close()
				}
				at := net.JoinHostPort(host, fmt.Sprint(r.first))
				if l, err := net.Listen("tcp", at); err == nil {
					_ = l.Close()
					t.Errorf("another program can listen on %s", at)
				}
				res, err := http.Get("http://" + at + "/")
				if err != nil {
					t.Errorf("%s: %v", at, err)
					continue
				}
				if body, _ := io.ReadAll(res.Body); string(body) != r.repo.list[0].Path { // what there is
					t.Errorf("%s answers %q", at, body)
				}
				_ = res.Body.Close()
			}
		})
	}
}

// A closed worktree stays closed while a limited list is without it, and the supervisor says how many
// worktrees that list leaves out.
func TestClosedBeyondTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "b")
	s := r.start()
	if err := s.Join(t.Context(), r.repo.list[0].Path); err != nil {
		t.Fatal(err)
	}
	a, b := r.repo.list[0], r.repo.list[1]
	if _, err := s.CloseWorktree(t.Context(), b.Path); err != nil {
		t.Fatal(err)
	}
	watched := func() bool { r.repo.mu.Lock(); defer r.repo.mu.Unlock(); return r.repo.changed != nil }
	for !watched() {
		time.Sleep(time.Millisecond)
	}
	r.repo.becomes(7, a)
	if got := s.Unserved(); got != 7 {
		t.Errorf("%d worktrees are left out, want 7", got)
	}
	r.repo.becomes(0, a, b)
	if got := s.Status(); len(got) != 1 || got[0].Path != a.Path {
		t.Errorf("the closed worktree is served again: %+v", got)
	}
	// A new worktree with the path of a removed one is not closed.
	r.repo.becomes(0, a)
	r.repo.becomes(0, a, b)
	if got := s.Status(); len(got) != 2 {
		t.Errorf("a new worktree is closed: %+v", got)
	}
}
