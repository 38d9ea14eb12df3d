package servers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// TestBackground starts a task in the background. It outlives the session that started it,
// a client of another worktree sees it, waits for it and stops it, and none outlives the
// server.
func TestBackground(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	g := gittest.New(t)
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH")).With("XDG_STATE_HOME=" + t.TempDir())
	dir := g.Init()
	gittest.Write(t, filepath.Join(dir, "justfile"), "slow:\n  @echo begun; while [ ! -e go ]; do sleep 0.05; done; echo slept; exit 3\nforever:\n  @echo begun; echo $$ >pid; sleep 600\n")
	g.Run(dir, "add", ".")
	g.Run(dir, "commit", "-q", "-m", "start")
	g.Run(dir, "worktree", "add", "-q", "-b", "other", filepath.Join(filepath.Dir(dir), "other"))
	s := fleet(t, g, "", consecutive(t, 2), httpguard.Options{Token: func() string { return token }, Rate: 10_000})
	join(t, s, dir)
	ports := map[string]int{}
	for _, one := range s.Status() {
		ports[one.Branch] = one.MCP.Port
	}
	start := func(task string) string {
		c := connect(t, ports["main"])
		defer c.close(t.Context())
		text := c.call(t.Context(), 1, "run_just_task", fmt.Sprintf(`{"task_name":%q,"background":true}`, task))
		_, rest, _ := strings.Cut(text, `get_task {"id": "`)
		id, _, ok := strings.Cut(rest, `"`)
		if !ok {
			t.Fatalf("no task: %q", text)
		}
		return id
	}
	other := modern(t, ports["other"])
	get := func(id string, wait int) string {
		args, err := json.Marshal(map[string]any{"id": id, "wait_seconds": wait})
		if err != nil {
			t.Fatal(err)
		}
		return other.call(t.Context(), 2, "get_task", string(args))
	}
	until := func(id, text string) {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if got := get(id, 0); strings.Contains(got, text) {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s is not said: %q", text, got)
			}
		}
	}

	slow := start("slow")
	until(slow, "begun\n")
	if got := get(slow, 0); !strings.Contains(got, "slow ("+slow+"): running for ") {
		t.Errorf("got %q", got)
	}
	if got := modern(t, ports["main"]).call(t.Context(), 3, "run_just_task", `{"task_name":"slow","background":true}`); !strings.Contains(got, "is already running, as task "+slow) {
		t.Errorf("it runs twice: %q", got)
	}
	context := func(since string) string {
		return modern(t, ports["main"]).call(t.Context(), 5, "get_project_context", `{"sections":["task"]`+since+`}`)
	}
	before := context("")
	if !strings.Contains(before, "`slow`: running as task `"+slow+"`, started ") && !strings.Contains(before, "`slow`: running as task "+slow+", started ") {
		t.Errorf("the context does not say what runs: %q", before)
	}
	_, rest, _ := strings.Cut(before, `since="`)
	token, _, _ := strings.Cut(rest, `"`)
	ended := make(chan string)
	go func() { ended <- get(slow, 40) }()
	gittest.Write(t, filepath.Join(dir, "go"), "")
	if got := <-ended; !strings.Contains(got, "slept\n") || !strings.Contains(got, "failed, exit code 3 after ") {
		t.Errorf("got %q", got)
	}

	if got := context(`,"since":"` + token + `"`); !strings.Contains(got, "gone: ") || !strings.Contains(got, "failed with exit code 3") {
		t.Errorf("since the task ran: %q", got)
	}

	forever := start("forever")
	until(forever, "begun\n")
	if got := other.call(t.Context(), 4, "stop_task", fmt.Sprintf(`{"id":%q}`, forever)); !strings.Contains(got, forever) {
		t.Errorf("got %q", got)
	}
	if got := get(forever, 0); !strings.Contains(got, ": stopped, stopped by ") {
		t.Errorf("got %q", got)
	}

	forever = start("forever")
	until(forever, "begun\n")
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	// A killed process is in the table until its new parent takes note of it.
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Since(begun) > time.Second {
			t.Fatalf("a task outlives its server: %s", stat)
		}
	}
}
