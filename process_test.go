package copse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/test/built"
)

// repository makes a git repository with a branch that is linked to a pull request, and gives its
// directory and an environment for processes in it.
func repository(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	env = []string{
		"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.Getenv("TMPDIR"),
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"commit", "-q", "--allow-empty", "-m", "start"},
		{"checkout", "-q", "-b", "feature/login"},
		{"remote", "add", "origin", "https://github.com/acme/app.git"},
	} {
		git(t, dir, env, args...)
	}
	writeState(t, dir, "main")
	return dir, env
}

func git(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writeState(t *testing.T, dir, parent string) {
	t.Helper()
	const when = "2026-01-02T03:04:05Z"
	state := fmt.Sprintf(`{"version":1,"updated_at":%q,"worktrees":[],
"branches":{"feature/login":{"branch":"feature/login","jira_issue":null,"github_pr":7,"created_at":%q}},
"dependencies":[{"id":"00000000-0000-4000-8000-000000000000","child":"feature/login","parent":%q,"created_at":%q}],
"root_branches":[{"id":"00000000-0000-4000-8000-000000000001","branch":"main","is_default":true,"created_at":%q}]}`,
		when, when, parent, when, when)
	if err := os.MkdirAll(filepath.Join(dir, ".twig"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".twig", "state.json"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
}

// process is a server that runs as its own process.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	// taskID is the task that it runs.
	taskID string
}

func start(t *testing.T, dir string, env []string, argv ...string) *process {
	t.Helper()
	// A server that falls silent is killed, so that the test ends.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{t: t, cmd: cmd, in: in, out: newLines(out)}
}

func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	return s
}

func (p *process) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// await reads lines until one contains text.
func (p *process) await(text string) string {
	p.t.Helper()
	for p.out.Scan() {
		if strings.Contains(p.out.Text(), text) {
			return p.out.Text()
		}
	}
	p.t.Fatalf("the server ended before it said %s: %v", text, p.out.Err())
	return ""
}

func (p *process) initialize() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.await(`"id":"i"`)
}

// A server ends within a second when its client goes away, whatever it is
// doing, and leaves nothing running.
func TestServersEnd(t *testing.T) {
	t.Parallel()
	bin := built.Programs(t)
	github, err := githubtest.Start(githubtest.Fixture{Faults: []githubtest.Fault{{Kind: githubtest.Hang}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(github.Close)
	ways := map[string]func(p *process){
		"end of input": func(p *process) { p.in.Close() },
	}
	if runtime.GOOS != "windows" {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			ways[sig.String()] = func(p *process) {
				if err := p.cmd.Process.Signal(sig); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for name, end := range ways {
		for _, argv := range [][]string{{"twig-mcp"}, {"copse", "mcp", "serve"}} {
			t.Run(name+" "+argv[0], func(t *testing.T) {
				t.Parallel()
				dir, env := repository(t)
				env = append(env, "GITHUB_API_URL="+github.URL, "GH_TOKEN=secret")
				p := start(t, dir, env, append([]string{filepath.Join(bin, argv[0])}, argv[1:]...)...)
				p.initialize()
				asked := len(github.Requests())
				p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_pull_request","arguments":{}}}`)
				for len(github.Requests()) == asked { // then the call hangs in the network
					select {
					case <-time.After(time.Millisecond):
					case <-t.Context().Done():
						t.Fatal("the call never reached the network")
					}
				}
				begin := time.Now()
				end(p)
				for p.out.Scan() {
				}
				err := p.cmd.Wait()
				// The promise is a second; the machine that tests may be busy.
				if took := time.Since(begin); took > 3*time.Second {
					t.Errorf("the server took %v to end", took)
				}
				if err != nil {
					t.Errorf("the server ended with %v", err)
				}
			})
		}
	}
}

// Subscribers of the tree hear of changes to state and branches, and of nothing
// else.
func TestTreeSubscription(t *testing.T) {
	t.Parallel()
	bin := built.Programs(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for era, subscribe := range map[string]func(p *process){
		"legacy": func(p *process) {
			p.initialize()
			p.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"twig://repo/tree"}}`)
			p.await(`"id":1`)
		},
		"modern": func(p *process) {
			p.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["twig://repo/tree"]},` + meta + `}}`)
			p.await("acknowledged")
		},
	} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			dir, env := repository(t)
			p := start(t, dir, env, filepath.Join(bin, "twig-mcp"))
			subscribe(p)
			// The watcher takes a moment to stand; a change before that is
			// not promised to be reported, so change until one is.
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				p.await("notifications/resources/updated")
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for i := 0; ; i++ {
				git(t, dir, env, "branch", fmt.Sprintf("topic/%d", i))
				select {
				case <-heard:
				case <-time.After(200 * time.Millisecond):
					continue
				case <-ctx.Done():
					t.Fatal("no word of a new branch")
				}
				break
			}
			writeState(t, dir, "topic/0")
			line := p.await("notifications/resources/updated")
			var note struct {
				Params struct{ URI string }
			}
			if err := json.Unmarshal([]byte(line), &note); err != nil || note.Params.URI != "twig://repo/tree" {
				t.Errorf("%v: %s", err, line)
			}
			p.in.Close()
			for p.out.Scan() {
			}
			if err := p.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
