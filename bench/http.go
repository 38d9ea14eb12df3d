package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/copse-dev/copse/bench/daemon"
	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
)

// overHTTP measures copse up beside the example server of the protocol library.
func overHTTP(ctx context.Context, work, copse string, rounds int) ([]report.Row, error) {
	example := filepath.Join(work, "example")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", example, "github.com/modelcontextprotocol/go-sdk/examples/http").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the example server: %w: %s", err, out)
	}
	repo := filepath.Join(work, "served")
	if err := fixture.Worktrees(ctx, repo, 20); err != nil {
		return nil, err
	}
	ports, err := daemon.FreePorts()
	if err != nil {
		return nil, err
	}
	yard, err := daemon.Start(ctx, work, nil, example, "-port", fmt.Sprint(ports[0]), "-host", "127.0.0.1", "server")
	if err != nil {
		return nil, err
	}
	defer yard.Stop()
	home := filepath.Join(work, "h")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	up, err := daemon.Start(ctx, repo, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home},
		copse, "up", "--port", fmt.Sprint(ports[1]))
	if err != nil {
		return nil, err
	}
	defer up.Stop()
	served, err := up.Served(ctx, copse)
	if err != nil {
		return nil, err
	}
	for _, s := range served { // each server has answered once
		if _, err := daemon.Dial(ctx, s.URL, s.Token, "get_current_branch", "{}"); err != nil {
			return nil, err
		}
	}
	many := report.Limit(fmt.Sprintf("%d worktrees: memory in all", len(served)), "MiB", up.Memory(), 60)

	theirs, err := daemon.Dial(ctx, fmt.Sprintf("http://127.0.0.1:%d/", ports[0]), "", "cityTime", `{"city":"nyc"}`)
	if err != nil {
		return nil, fmt.Errorf("the example server: %w", err)
	}
	ours, err := daemon.Dial(ctx, served[0].URL, served[0].Token, "get_current_branch", "{}")
	if err != nil {
		return nil, err
	}
	var took [2][]time.Duration
	for range rounds * 2 {
		for i, c := range []*daemon.Session{theirs, ours} {
			d, err := c.Call(ctx)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], d)
		}
		time.Sleep(12 * time.Millisecond) // within the rate that a client may have
	}
	rows := []report.Row{many, report.Ratio("a call over HTTP, beside the library's example server", measure.Median(took[0]), measure.Median(took[1]), 2)}
	more, err := crowd(ctx, up, served, time.Duration(min(rounds*3, 60))*time.Second)
	return append(rows, more...), err
}

// crowd lets fifty clients call for a while, and looks for growth.
func crowd(ctx context.Context, up *daemon.Process, servers []daemon.Endpoint, span time.Duration) ([]report.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var all sync.WaitGroup
	failed := make(chan error, 50)
	for i := range 50 {
		all.Go(func() {
			for ctx.Err() == nil {
				server := servers[i%len(servers)]
				c, err := daemon.Dial(ctx, server.URL, server.Token, "list_directory", `{"path":"."}`)
				for n := 0; err == nil && n < 20 && ctx.Err() == nil; n++ {
					_, err = c.Call(ctx)
					time.Sleep(50 * time.Millisecond)
				}
				if err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
				if c != nil {
					c.Close()
				}
			}
		})
	}
	time.Sleep(span / 3)
	memory, files := up.Memory(), up.Files()
	all.Wait()
	close(failed)
	for err := range failed {
		return nil, err
	}
	time.Sleep(200 * time.Millisecond)
	what := fmt.Sprintf("50 clients for %s", span)
	return []report.Row{
		report.Limit(what+": growth of memory after a third", "MiB", max(up.Memory()-memory, 0), 10),
		report.Limit(what+": growth of open files", "files", max(float64(up.Files()-files), 0), 5),
	}, nil
}
