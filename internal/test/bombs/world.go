package bombs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// World is a complete repository, and a user's home directory.
type World struct {
	base string
	bin  string
	env  []string
}

// Tools are the arguments of the tools, by name.
var Tools = map[string]string{
	"get_current_branch": `{}`, "get_branch_metadata": `{"branch":"topic"}`, "get_branch_tree": `{}`, "get_branch_stack": `{}`,
	"list_branches": `{}`, "list_repositories": `{}`, "get_worktrees": `{}`, "get_pull_request": `{}`, "get_pr_status": `{}`,
	"list_pull_requests": `{}`, "get_jira_issue": `{"key":"PROJ-1"}`, "list_jira_issues": `{"project":"PROJ"}`,
	"init_project": `{}`, "get_config": `{}`, "list_items": `{}`, "show_item": `{"id":1}`, "create_item": `{"title":"More"}`,
	"update_item": `{"id":2,"title":"Built"}`, "delete_item": `{"id":2}`, "confirm_delete": `{"id":99}`, "add_comment": `{"id":1,"text":"hello"}`, "claim_item": `{"id":1}`, "release_item": `{"id":1}`,
	"set_iteration": `{"name":"soon"}`, "search_items": `{"query":"plan","all":true}`, "get_children": `{"id":1}`,
	"get_dependents": `{"id":1}`, "get_item_tree": `{}`, "search": `{"query":"commit"}`, "reload": `{}`,
	"describe": `{"c1":"git","c2":"write","c3":"commit-message"}`,
	"execute":  `{"agent":"climpt","c1":"git","c2":"write","c3":"commit-message"}`, "read_file": `{"path":"a.txt"}`,
	"list_directory": `{"path":".","depth":3}`, "get_project_context": `{"fresh":true}`, "run_just_task": `{"task_name":"hello"}`,
	"stop_task": `{"id":"none"}`, "get_task": `{"id":"none"}`, "get_conflicts": `{}`, "get_stack_status": `{}`,
	"search_all": `{"query":"a"}`,
}

// commands are further command lines to try.
var commands = []string{
	"copse context", "copse mcp doctor", "copse mcp install --client cursor --scope project", "copse mcp install --client cursor --scope user",
	"copse branch tree", "copse task list", "copse prompt list", "copse item list", "tic item list", "copse status", "copse search plan", "copse mcp config --client cursor",
}

// New makes a world in an empty directory. bin has the programs.
func New(ctx context.Context, base, bin string) (*World, error) {
	home := filepath.Join(base, "home")
	w := &World{base: base, bin: bin, env: []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"), "XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"), "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GITHUB_API_URL=http://127.0.0.1:1", "JIRA_HOST=http://127.0.0.1:1",
		"GITHUB_TOKEN=", "GH_TOKEN=", "JIRA_TOKEN=", "NETRC=", "DOCKER_HOST=unix:///no/engine.sock", "NO_COLOR=1",
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}}
	for _, dir := range []string{home, w.Root(), filepath.Join(base, "run"), filepath.Join(home, ".cursor"), filepath.Join(w.Root(), ".cursor")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"home/.gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.com\n", "home/.netrc": "machine example.com login a password secret\n",
		"root/justfile": "import 'more.just'\nhello:\n  @echo hello\n", "root/more.just": "more:\n  @echo more\n", "root/a.txt": "a\n", "root/.gitignore": "*.log\n",
		"root/.cursor/mcp.json": "{}\n", "home/.cursor/mcp.json": "{}\n",
	} {
		if err := os.WriteFile(filepath.Join(base, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, line := range []string{
		"git init -q -b main", "git add -A", "git commit -qm start", "git branch topic", "git remote add origin https://github.com/acme/app.git", "git pack-refs --no-all",
		"copse init --branches --items --commands", "tic item create Plan", "tic item create Build", "git add -A", "git commit -qm more",
	} {
		if out, err := w.command(ctx, line).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	return w, nil
}

// Root returns the root of the repository.
func (w *World) Root() string { return filepath.Join(w.base, "root") }

// Environ returns what the world adds to the environment.
func (w *World) Environ() []string { return w.env }

// path returns where a place is.
func (w *World) path(p Place) string {
	if p.Path == "" {
		return bearer.NewStore(filepath.Join(w.base, "home", ".config", "copse", "tokens")).File(w.Root()).Path()
	}
	return filepath.Join(w.base, filepath.FromSlash(p.Path))
}

func (w *World) command(ctx context.Context, line string) *exec.Cmd {
	words := strings.Fields(line)
	if words[0] != "git" {
		words[0] = filepath.Join(w.bin, words[0])
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = w.Root(), append(os.Environ(), w.env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// Outcome is the effect of a bomb.
type Outcome struct {
	// Slowest is the longest time until an answer, or the end of a command, and What it was.
	Slowest time.Duration
	What    string
	// Peak is the most memory that a process took, in MiB; 0 where the system does not tell.
	Peak float64
	// Refused is how many tools answered with an error, of Asked.
	Refused, Asked int
}

func (o *Outcome) took(what string, since time.Time) {
	if took := time.Since(since); took > o.Slowest {
		o.Slowest, o.What = took, what
	}
}

// Try puts a bomb at a place and tries the server and the commands. The error names what gave no
// answer before the limit, or ended without one.
func (w *World) Try(ctx context.Context, p Place, b Bomb, limit time.Duration) (o Outcome, err error) {
	restore, err := plant(b, w.path(p))
	if restore != nil {
		defer func() { err = errors.Join(err, restore()) }()
	}
	if err != nil {
		return o, err
	}
	if p.up {
		if err := w.up(ctx, limit, &o); err != nil {
			return o, err
		}
	} else if err := w.serve(ctx, limit, &o); err != nil {
		return o, err
	}
	for _, line := range commands {
		if err := w.end(ctx, line, limit, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// serve asks a server on standard input for everything.
func (w *World) serve(ctx context.Context, limit time.Duration, o *Outcome) error {
	ctx, cancel := context.WithCancel(ctx) // it kills the server
	defer cancel()
	watch := time.AfterFunc(limit, cancel)
	begin := time.Now()
	server, err := stdio.SpawnWith(ctx, w.Root(), w.env, filepath.Join(w.bin, "copse"), "mcp", "serve")
	if err != nil {
		return err
	}
	o.took("initialize", begin)
	ask := func(what, method, params string) ([]byte, error) {
		watch.Reset(limit)
		start := time.Now()
		line, err := server.Request(method, params)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: no answer within %s", what, limit)
		}
		o.took(what, start)
		return line, err
	}
	lists := make(map[string][]byte)
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		if lists[method], err = ask(method, method, `{}`); err != nil {
			return err
		}
	}
	var listed struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(lists["tools/list"], &listed); err != nil {
		return err
	}
	for _, tool := range listed.Result.Tools {
		args, ok := Tools[tool.Name]
		if !ok {
			return fmt.Errorf("the tool %s has no arguments in the table Tools", tool.Name)
		}
		line, err := ask(tool.Name, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool.Name, args))
		if err != nil {
			return fmt.Errorf("%s: %w", tool.Name, err)
		}
		var answer struct {
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return err
		}
		o.Asked++
		if answer.Result.IsError {
			o.Refused++
		}
	}
	o.Peak = max(o.Peak, server.Peak())
	watch.Reset(limit)
	start := time.Now()
	if err := server.Stop(); err != nil {
		return fmt.Errorf("the server did not end well when its input closed: %w", err)
	}
	o.took("the end", start)
	return nil
}

// end runs a command to its end, which need not be a good one.
func (w *World) end(ctx context.Context, line string, limit time.Duration, o *Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	cmd := w.command(ctx, line)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("%s: did not end within %s", line, limit)
	}
	o.took(line, start)
	o.Peak = max(o.Peak, peakOf(cmd.ProcessState))
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || failed.ExitCode() != 1 && failed.ExitCode() != 2) {
		return fmt.Errorf("%s: %w: %.300s", line, err, out)
	}
	if slices.Contains(strings.Fields(string(out)), "panic:") {
		return fmt.Errorf("%s: %.300s", line, out)
	}
	return nil
}

// up starts copse up, which serves or says why it cannot.
func (w *World) up(ctx context.Context, limit time.Duration, o *Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	start := time.Now()
	cmd := w.command(ctx, "copse up --port 43000")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{}, 1)
	go func() {
		_ = cmd.Wait() // how it ends is not asked
		ended <- struct{}{}
	}()
	var err error
wait:
	for {
		select {
		case <-ended:
			ended <- struct{}{}
			break wait
		case <-time.After(20 * time.Millisecond):
		}
		status, statusErr := w.command(ctx, "copse status --json").Output()
		if statusErr == nil && strings.Contains(string(status), `"worktrees": [`) && strings.Contains(string(status), "root") {
			break
		}
		if time.Since(start) > limit {
			err = fmt.Errorf("copse up: neither served nor ended within %s", limit)
			break
		}
	}
	o.took("copse up", start)
	o.Peak = max(o.Peak, stdio.PeakOf(cmd.Process.Pid))
	_ = w.command(ctx, "copse down").Run() // it may have ended
	select {
	case <-ended:
	case <-ctx.Done():
		return errors.Join(err, errors.New("copse up did not end"))
	}
	return err
}
