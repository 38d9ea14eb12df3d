package up

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// accepting is a running process that serves whatever it is asked to serve.
type accepting struct{}

func (accepting) Join(context.Context, string) error { return nil }
func (accepting) Move(context.Context, string) error { return nil }
func (accepting) Shared() *supervisor.State          { return nil }
func (accepting) Unserved() int                      { return 0 }
func (accepting) Status() []supervisor.State         { return nil }
func (accepting) Open(_ context.Context, dir string) (supervisor.State, error) {
	return supervisor.State{Path: dir}, nil
}

func (accepting) CloseWorktree(_ context.Context, dir string) (supervisor.State, error) {
	return supervisor.State{Path: dir}, nil
}

// Each command that adds a worktree to a process that others can reach warns about it, and the
// status names the address. A process that started since the command looked must have its flags.
func TestJoiningWarns(t *testing.T) {
	t.Parallel()
	home, err := os.MkdirTemp("", "c") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := app.Env{Dir: t.TempDir(), GOOS: "linux", Now: time.Now, Executable: program, Environ: append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")}
	socket, err := control.Take(env.RuntimeDir())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- control.Serve(socket, accepting{}, control.Options{Terms: control.Terms{Guarded: true, Listen: []string{"0.0.0.0", "127.0.0.2"}}})
	}()
	t.Cleanup(func() {
		if _ = socket.Close(); <-ended != nil {
			t.Error("the socket did not end well")
		}
	})
	o := options{port: 1, given: func(flag string) bool { return flag == "read-only" }}
	o.choice.ReadOnly = true
	if _, err := start(t.Context(), env, o, servers.Files{Runtime: env.RuntimeDir(), Log: filepath.Join(home, "log")}, env.Dir, []string{"-test.run=^$"}); err == nil || !strings.Contains(err.Error(), "it runs without --read-only") {
		t.Errorf("a process that another one came before: %v", err)
	}
	for line, want := range map[string]string{
		"up":                "WARNING: --listen 0.0.0.0 sends the tokens",
		"open .":            "WARNING: --listen 0.0.0.0 sends the tokens",
		"board --print-url": "WARNING: --listen 0.0.0.0 sends the tokens",
		"status":            "note: --listen 0.0.0.0 sends the tokens",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			env := env
			env.Stdout, env.Stderr = &out, &errs
			name, rest, _ := strings.Cut(line, " ")
			for _, cmd := range Commands(env) {
				if cmd.Name() != name {
					continue
				}
				cmd.SilenceErrors, cmd.SilenceUsage = true, true
				cmd.SetArgs(strings.Fields(rest))
				_ = cmd.ExecuteContext(t.Context()) // this process has no board
			}
			if text := errs.String(); !strings.Contains(text, want) || strings.Contains(text, "127.0.0.2") {
				t.Errorf("%q", text)
			}
		})
	}
}
