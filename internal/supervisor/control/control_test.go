package control_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
)

// fake answers what it was asked.
type fake struct{ asked []string }

func (f *fake) note(what, dir string) error {
	f.asked = append(f.asked, what+" "+dir)
	if dir == "bad" {
		return errors.New("no such worktree")
	}
	return nil
}

func (f *fake) Join(_ context.Context, dir string) error { return f.note("join", dir) }
func (f *fake) Move(_ context.Context, dir string) error { return f.note("move", dir) }
func (*fake) Shared() *supervisor.State                  { return &supervisor.State{MCP: supervisor.MCP{Port: 41}} }
func (*fake) Unserved() int                              { return 0 }
func (f *fake) Status() []supervisor.State               { return []supervisor.State{{Path: "/w"}} }
func (f *fake) Open(_ context.Context, dir string) (supervisor.State, error) {
	return supervisor.State{Path: dir}, f.note("open", dir)
}

func (f *fake) CloseWorktree(_ context.Context, dir string) (supervisor.State, error) {
	return supervisor.State{Path: dir}, f.note("close", dir)
}

// shortDir returns a directory whose sockets have short paths.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

// answer serves f in a directory until the test ends.
func answer(t *testing.T, dir string, f *fake, o control.Options) {
	t.Helper()
	socket, err := control.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- control.Serve(socket, f, o) }()
	t.Cleanup(func() {
		_ = socket.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAskAndSteer(t *testing.T) {
	t.Parallel()
	dir, f, reloaded := shortDir(t), &fake{}, false
	stopped := make(chan struct{})
	client := control.NewClient(dir)
	if _, err := client.Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("before it runs: %v", err)
	}
	answer(t, dir, f, control.Options{Terms: control.Terms{Guarded: true}, Stop: func() { close(stopped) }, Reload: func(context.Context) error { reloaded = true; return nil }})
	if _, err := control.Take(dir); !errors.Is(err, control.ErrTaken) {
		t.Errorf("a second supervisor: %v", err)
	}
	status, err := client.Status(t.Context())
	if err != nil || status.PID != os.Getpid() || !status.Guarded || len(status.Worktrees) != 1 {
		t.Errorf("status: %+v, %v", status, err)
	}
	if state, err := client.Open(t.Context(), "/a"); err != nil || state.Path != "/a" {
		t.Errorf("open: %+v, %v", state, err)
	}
	if state, err := client.Close(t.Context(), "/b"); err != nil || state.Path != "/b" {
		t.Errorf("close: %+v, %v", state, err)
	}
	for what, err := range map[string]error{
		"join": client.Join(t.Context(), "/c"), "reload": client.Reload(t.Context()),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := client.Move(t.Context(), "bad"); err == nil || err.Error() != "no such worktree" {
		t.Errorf("an error on its way: %v", err)
	}
	if err := client.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	<-stopped // Stop is called after the answer is sent
	if got := strings.Join(f.asked, ", "); got != "open /a, close /b, join /c, move bad" || !reloaded {
		t.Errorf("asked %s; reloaded %t", got, reloaded)
	}
}

// A killed process leaves a socket, which the next one replaces.
func TestLeftSocket(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "up.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t, dir, &fake{}, control.Options{})
	if _, err := control.NewClient(dir).Status(t.Context()); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, "up.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
