package protocol

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// Canceled cancels calls at random moments, and ends servers with calls under way. The server
// is in this process, so that goroutines that stay behind are seen.
func Canceled(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("cancel")
	if err != nil {
		return nil, err
	}
	res := rig.Result{What: "calls Canceled, or left behind, at random moments: no goroutine and no process stays"}
	_, noJust := exec.LookPath("just")
	asks := []string{
		`{"name":"get_project_context","arguments":{}}`, `{"name":"list_directory","arguments":{"path":".","depth":5}}`, `{"name":"get_branch_tree","arguments":{}}`,
	}
	if noJust == nil {
		asks = append(asks, `{"name":"run_just_task","arguments":{"task_name":"sleep"}}`)
	}
	before := runtime.NumGoroutine()
	calls := 0
	for session := 0; session < 5 || r.GoOn(); session++ {
		in, feed := io.Pipe()
		env := app.Env{
			Args: []string{"mcp", "serve"}, Stdin: in, Stdout: io.Discard, Stderr: io.Discard, Environ: os.Environ(), Dir: dir, GOOS: runtime.GOOS, Now: time.Now,
		}
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(r.Context)
		go func() {
			defer close(ended)
			copse.Run(ctx, env)
		}()
		var text bytes.Buffer
		text.WriteString(hello)
		for id := range 30 {
			fmt.Fprintf(&text, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, asks[r.Random.IntN(len(asks))])
		}
		_, _ = feed.Write(text.Bytes())
		for id := range 30 {
			calls++
			time.Sleep(time.Duration(r.Random.IntN(4)) * time.Millisecond)
			if r.Random.IntN(3) > 0 {
				_, _ = fmt.Fprintf(feed, `{"jsonrpc":"2.0","method":"notifications/Canceled","params":{"requestId":%d}}`+"\n", id)
			}
		}
		if r.Random.IntN(2) == 0 {
			cancel()
		}
		_ = feed.Close()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			res.Lost++
			res.Note = "a server did not end with its input"
		}
		cancel()
		_ = in.Close()
	}
	res.Tried = calls
	left := 0
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if left = max(runtime.NumGoroutine()-before, 0); left == 0 && !sleeping(dir) {
			break
		}
	}
	if left > 0 {
		stacks := make([]byte, 1<<16)
		res.Lost += left
		res.Note = fmt.Sprintf("%d goroutines are left: %.600s", left, stacks[:runtime.Stack(stacks, true)])
	}
	if sleeping(dir) {
		res.Lost++
		res.Note = "a task goes on"
	}
	res.Survived = res.Tried - res.Lost
	return []rig.Result{res}, nil
}

// sleeping reports whether a process works in dir: the task that sleeps.
func sleeping(dir string) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd"); err == nil && strings.HasPrefix(cwd, dir) {
			return true
		}
	}
	return false
}
