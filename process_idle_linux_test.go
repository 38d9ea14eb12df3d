package copse_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// A server whose client calls nothing returns memory to the system, and still answers the next call.
func TestIdleServer(t *testing.T) {
	t.Parallel()
	dir, env := repository(t)
	p := start(t, dir, env, filepath.Join(built.Programs(t), "copse"), "mcp", "serve")
	p.initialize()
	const budget = 18 // MiB
	for before, end := stdio.MemoryOf(p.cmd.Process.Pid), time.Now().Add(30*time.Second); ; time.Sleep(100 * time.Millisecond) {
		now := stdio.MemoryOf(p.cmd.Process.Pid)
		if now < budget && now < before-2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("an idle server has %.1f MiB, had %.1f before, and may have %d", now, before, budget)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_branches","arguments":{}}}`)
	p.await(`feature/login`)
	if err := p.in.Close(); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
