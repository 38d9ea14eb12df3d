package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// overHTTP measures copse up beside the example server of the protocol library.
func overHTTP(ctx context.Context, work, copse string, rounds int) ([]report.Row, error) {
	example := filepath.Join(work, "example")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", example, "github.com/modelcontextprotocol/go-sdk/examples/http").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the example server: %w: %s", err, out)
	}
	repo := filepath.Join(work, "served")
	if err := worktrees(ctx, repo, 20); err != nil {
		return nil, err
	}
	ports, err := freePorts()
	if err != nil {
		return nil, err
	}
	yard, err := daemon(ctx, work, nil, example, "-port", fmt.Sprint(ports[0]), "-host", "127.0.0.1", "server")
	if err != nil {
		return nil, err
	}
	defer yard.stop()
	home := filepath.Join(work, "h")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	up, err := daemon(ctx, repo, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home},
		copse, "up", "--port", fmt.Sprint(ports[1]))
	if err != nil {
		return nil, err
	}
	defer up.stop()
	served, err := up.served(ctx, copse)
	if err != nil {
		return nil, err
	}
	for _, s := range served { // each server has answered once
		if _, err := dial(ctx, s.url, s.token, "get_current_branch", "{}"); err != nil {
			return nil, err
		}
	}
	many := report.Limit(fmt.Sprintf("%d worktrees: memory in all", len(served)), "MiB", up.memory(), 60)

	theirs, err := dial(ctx, fmt.Sprintf("http://127.0.0.1:%d/", ports[0]), "", "cityTime", `{"city":"nyc"}`)
	if err != nil {
		return nil, fmt.Errorf("the example server: %w", err)
	}
	ours, err := dial(ctx, served[0].url, served[0].token, "get_current_branch", "{}")
	if err != nil {
		return nil, err
	}
	var took [2][]time.Duration
	for range rounds * 2 {
		for i, c := range []*caller{theirs, ours} {
			d, err := c.call(ctx)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], d)
		}
		time.Sleep(12 * time.Millisecond) // within the rate that a client may have
	}
	rows := []report.Row{many, report.Ratio("a call over HTTP, beside the library's example server", median(took[0]), median(took[1]), 2)}
	more, err := crowd(ctx, up, served, time.Duration(min(rounds*3, 60))*time.Second)
	return append(rows, more...), err
}

// crowd lets fifty clients call for a while, and looks for growth.
func crowd(ctx context.Context, up *process, servers []endpoint, span time.Duration) ([]report.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var all sync.WaitGroup
	failed := make(chan error, 50)
	for i := range 50 {
		all.Go(func() {
			for ctx.Err() == nil {
				server := servers[i%len(servers)]
				c, err := dial(ctx, server.url, server.token, "list_directory", `{"path":"."}`)
				for n := 0; err == nil && n < 20 && ctx.Err() == nil; n++ {
					_, err = c.call(ctx)
					time.Sleep(50 * time.Millisecond)
				}
				if err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
				if c != nil {
					c.close()
				}
			}
		})
	}
	time.Sleep(span / 3)
	memory, files := up.memory(), up.files()
	all.Wait()
	close(failed)
	for err := range failed {
		return nil, err
	}
	time.Sleep(200 * time.Millisecond)
	what := fmt.Sprintf("50 clients for %s", span)
	return []report.Row{
		report.Limit(what+": growth of memory after a third", "MiB", max(up.memory()-memory, 0), 10),
		report.Limit(what+": growth of open files", "files", max(float64(up.files()-files), 0), 5),
	}, nil
}

// process is a server that runs on its own.
type process struct {
	cmd *exec.Cmd
	env []string
}

func daemon(ctx context.Context, dir string, env []string, argv ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return &process{cmd, cmd.Env}, cmd.Start()
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait() // the exit status does not matter here
}

func (p *process) memory() float64 { return stdio.MemoryOf(p.cmd.Process.Pid) }

// files returns how many files and sockets are open.
func (p *process) files() int { return stdio.FilesOf(p.cmd.Process.Pid) }

// endpoint is a server that copse up runs.
type endpoint struct{ url, token string }

// served waits until copse up serves, and returns its servers.
func (p *process) served(ctx context.Context, copse string) ([]endpoint, error) {
	for range 200 {
		cmd := exec.CommandContext(ctx, copse, "status", "--json")
		cmd.Env = p.env
		var status struct {
			Worktrees []struct {
				TokenFile string `json:"token_file"`
				MCP       struct{ Port int }
			}
		}
		if out, err := cmd.Output(); err == nil && json.Unmarshal(out, &status) == nil && len(status.Worktrees) > 0 {
			var found []endpoint
			for _, w := range status.Worktrees {
				token, err := os.ReadFile(w.TokenFile)
				if err != nil {
					return nil, err
				}
				found = append(found, endpoint{fmt.Sprintf("http://localhost:%d/mcp", w.MCP.Port), strings.TrimSpace(string(token))})
			}
			return found, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.New("copse up does not serve")
}

// freePorts returns two, with some after each.
func freePorts() ([2]int, error) {
	var ports [2]int
	for i := range ports {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		defer l.Close()
	}
	return ports, nil
}

// worktrees makes a repository with so many worktrees.
func worktrees(ctx context.Context, dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	commands := [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "start"}}
	for i := range n - 1 {
		commands = append(commands, []string{"worktree", "add", "-q", "-b", fmt.Sprintf("b%d", i), fmt.Sprintf("%s-%d", dir, i)})
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return nil
}

// caller has a session and makes one call again and again.
type caller struct {
	url, token, session, tool, args string
	http                            *http.Client
	id                              int
}

// dial begins a session and makes the first call.
func dial(ctx context.Context, url, token, tool, args string) (*caller, error) {
	c := &caller{url: url, token: token, tool: tool, args: args, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}}}
	for range 100 {
		res, err := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
		if err != nil {
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
			time.Sleep(20 * time.Millisecond) // it is starting
			continue
		}
		if c.session = res.session; c.session == "" {
			return c, fmt.Errorf("initialize: status %d", res.status)
		}
		if _, err := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			return c, err
		}
		_, err = c.call(ctx)
		return c, err
	}
	return c, errors.New("the server does not answer")
}

func (c *caller) call(ctx context.Context) (time.Duration, error) {
	c.id++
	begun := time.Now()
	res, err := c.send(ctx, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, c.tool, c.args))
	took := time.Since(begun)
	if err == nil && res.status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", c.tool, res.status)
	}
	return took, err
}

// reply is what an answer says around its body.
type reply struct {
	status  int
	session string
}

// send sends a message and reads the answer.
func (c *caller) send(ctx context.Context, method, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && bytes.Contains(data, []byte(`"isError":true`)) && json.Valid(data) {
		err = fmt.Errorf("%s", data)
	}
	return reply{res.StatusCode, res.Header.Get("Mcp-Session-Id")}, err
}

func (c *caller) close() {
	_, _ = c.send(context.Background(), http.MethodDelete, "") // the server may be gone
	c.http.CloseIdleConnections()
}
