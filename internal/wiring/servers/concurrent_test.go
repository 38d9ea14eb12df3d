package servers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// TestFiftyClients lets fifty clients of both eras read, write and run tasks in two
// worktrees at once: nobody waits for another's task, and nobody sees what is another's.
func TestFiftyClients(t *testing.T) {
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	g := gittest.New(t)
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	dir := g.Init()
	other := filepath.Join(filepath.Dir(dir), "other")
	gittest.Write(t, filepath.Join(dir, "who.txt"), "main\n")
	gittest.Write(t, filepath.Join(dir, "justfile"), "slow:\n  @echo begun >slow-began; while [ ! -e go ]; do sleep 0.05; done; echo slept\n")
	g.Run(dir, "add", ".")
	g.Run(dir, "commit", "-q", "-m", "start")
	g.Run(dir, "worktree", "add", "-q", "-b", "other", other)
	gittest.Write(t, filepath.Join(other, "who.txt"), "other\n")
	for _, at := range []string{dir, other} {
		gittest.Write(t, filepath.Join(at, ".tic", "config.yml"), "types: [issue]\nstatuses: [todo, done]\npriorities: [low, medium, high, critical]\n")
	}
	s := fleet(t, g, "", consecutive(t, 2), httpguard.Options{Token: func() string { return token }, Rate: 10_000})
	join(t, s, dir)
	ports := map[string]int{}
	for _, one := range s.Status() {
		ports[one.Branch] = one.MCP.Port
	}

	dirs := map[string]string{"main": dir, "other": other}
	slow := make(chan string, 1)
	go func() { slow <- modern(t, ports["main"]).call(t.Context(), 1, "run_just_task", `{"task_name":"slow"}`) }()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "slow-began")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the task does not begin")
		}
	}
	const clients, calls = 50, 12
	var all sync.WaitGroup
	for n := range clients {
		branch := []string{"main", "other"}[n%2]
		all.Go(func() {
			c := modern(t, ports[branch])
			if n%4 < 2 {
				c = connect(t, ports[branch])
				defer c.close(t.Context())
			}
			for i := range calls {
				id := n*1000 + i
				switch i % 4 {
				case 0:
					got := c.call(t.Context(), id, "read_file", `{"path":"who.txt"}`)
					if text, worktree, named := strings.Cut(got, "\nWorktree: "); text != branch+"\n" || named && worktree != "`"+dirs[branch]+"`\n" {
						t.Errorf("client %d of %s reads %q", n, branch, got)
					}
				case 1:
					if got := c.call(t.Context(), id, "get_current_branch", `{}`); !strings.Contains(got, `"branch":"`+branch+`"`) {
						t.Errorf("client %d of %s: %s", n, branch, got)
					}
				case 2:
					title := fmt.Sprintf("%s-%d-%d", branch, n, i)
					if got := c.call(t.Context(), id, "create_item", fmt.Sprintf(`{"title":%q}`, title)); !strings.Contains(got, title) {
						t.Errorf("client %d created %q", n, got)
					}
				case 3:
					if got := c.call(t.Context(), id, "run_just_task", `{"task_name":"slow"}`); branch == "main" && !strings.Contains(got, "already running") {
						t.Errorf("client %d runs it twice: %q", n, got)
					} else if branch == "other" && !strings.Contains(got, "There is no task") && !strings.Contains(got, "slept") && !strings.Contains(got, "already running") {
						t.Errorf("client %d: %q", n, got)
					}
				}
			}
		})
		if n == clients/2 {
			gittest.Write(t, filepath.Join(other, "go"), "")
		}
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(50 * time.Second):
		t.Fatal("the clients wait for the task")
	}
	select {
	case got := <-slow:
		t.Errorf("the task has ended: %q", got)
	default:
	}
	gittest.Write(t, filepath.Join(dir, "go"), "")
	if got := <-slow; !strings.HasPrefix(got, "slept\n") {
		t.Errorf("the task says %q", got)
	}
	for branch, port := range ports {
		got := modern(t, port).call(t.Context(), 1, "list_items", `{"limit":20}`)
		if want := fmt.Sprintf(" of %d.", clients/2*calls/4); !strings.Contains(got, want) || strings.Contains(got, map[string]string{"main": "other-", "other": "main-"}[branch]) {
			t.Errorf("%s has not all of its items, or others': %s", branch, got)
		}
	}
	for deadline := time.Now().Add(3 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		connected := 0
		for _, one := range s.Status() {
			connected += one.MCP.ConnectedClients
		}
		if connected == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d clients are still connected", connected)
		}
	}
}
