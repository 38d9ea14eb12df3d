package servers_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// A task ends with the client of the newer era that hangs up, with its worktree's
// server, and with the session of an older client.
func TestTasksEndWithTheirClients(t *testing.T) {
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	for name, end := range map[string]func(t *testing.T, run func(ctx context.Context, c *client), port int, stop func()){
		"hang up": func(t *testing.T, run func(ctx context.Context, c *client), port int, _ func()) {
			ctx, cancel := context.WithCancel(t.Context())
			run(ctx, modern(t, port))
			cancel()
		},
		"end of the session": func(t *testing.T, run func(ctx context.Context, c *client), port int, _ func()) {
			c := connect(t, port)
			run(t.Context(), c)
			c.close(t.Context())
		},
		"end of the server": func(t *testing.T, run func(ctx context.Context, c *client), port int, stop func()) {
			run(t.Context(), modern(t, port))
			stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t)
			g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
			dir := g.Init()
			gittest.Write(t, filepath.Join(dir, "justfile"), "slow:\n  @sh -c 'echo $$ >pid; exec sleep 100'\n")
			s := fleet(t, g, "", freePort(t), httpguard.Options{Token: func() string { return token }})
			join(t, s, dir)
			pid := 0
			run := func(ctx context.Context, c *client) {
				go c.call(ctx, 1, "run_just_task", `{"task_name":"slow"}`)
				for deadline := time.Now().Add(10 * time.Second); pid == 0; time.Sleep(10 * time.Millisecond) {
					text, _ := os.ReadFile(filepath.Join(dir, "pid")) // once it is there
					pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
					if time.Now().After(deadline) {
						t.Fatal("the task does not begin")
					}
				}
			}
			end(t, run, s.Status()[0].MCP.Port, s.Close)
			for deadline := time.Now().Add(5 * time.Second); running(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the task goes on")
				}
			}
		})
	}
}

// running reports whether there is such a process, and not only its remains.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
