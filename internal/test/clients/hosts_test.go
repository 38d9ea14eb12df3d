package clients_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/test/model"
	"github.com/copse-dev/copse/internal/test/need"
)

// host is a program that copse is used with. It can be asked, without a login, which servers it
// knows, and be given a model that is on this machine.
type host struct {
	client string
	list   []string
	// reached is what the list says of a server that answers. Codex and Copilot CLI do not start
	// the servers that they list.
	reached string
	// moved is the variable that moves the configuration.
	moved string

	// tool is how the model calls a tool, in a namespace or not.
	tool, namespace string
	hooks           bool
	// files are written into the home before copse is installed, with the model's address for
	// "@MODEL@".
	files map[string]string
	env   []string
	argv  []string
}

func hosts() []host {
	return []host{
		{
			client: "claude-code", list: []string{"claude", "mcp", "list"}, reached: "✔ Connected", moved: "CLAUDE_CONFIG_DIR",
			tool: "mcp__copse__%s", hooks: true,
			env:  []string{"ANTHROPIC_BASE_URL=@MODEL@", "ANTHROPIC_API_KEY=none", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
			argv: []string{"claude", "-p", "Begin.", "--allowedTools", "mcp__copse"},
		},
		{
			client: "codex", list: []string{"codex", "mcp", "list", "--json"}, reached: `"name": "copse"`, moved: "CODEX_HOME",
			tool: "%s", namespace: "mcp__copse", hooks: true,
			files: map[string]string{".codex/config.toml": `model = "fake"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "@MODEL@/v1"
wire_api = "responses"
env_key = "FAKE_KEY"

[mcp_servers.copse]
required = true
startup_timeout_sec = 120
`},
			env:  []string{"FAKE_KEY=none"},
			argv: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "Begin."},
		},
		{
			client: "gemini", list: []string{"gemini", "mcp", "list"}, reached: "Connected", moved: "GEMINI_CLI_HOME",
			tool: "mcp_copse_%s", hooks: true,
			files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}
`},
			env:  []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=@MODEL@", "GEMINI_API_KEY=none"},
			argv: []string{"gemini", "-p", "Begin.", "-m", "gemini-2.5-flash", "-y"},
		},
		{
			client: "opencode", list: []string{"opencode", "mcp", "list"}, reached: "connected", moved: "XDG_CONFIG_HOME",
			tool: "copse_%s",
			files: map[string]string{".config/opencode/opencode.json": `{"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "@MODEL@/v1", "apiKey": "none"}, "models": {"m": {}}}}, "small_model": "fake/m"}
`},
			env:  []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
			argv: []string{"opencode", "run", "-m", "fake/m", "Begin."},
		},
		{
			client: "copilot", list: []string{"copilot", "mcp", "list"}, reached: "  copse (", moved: "COPILOT_HOME",
			tool: "copse-%s", hooks: true,
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=@MODEL@/v1", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=gpt-5",
				"COPILOT_AUTO_UPDATE=false",
			},
			argv: []string{"copilot", "-p", "Begin.", "--allow-all-tools"},
		},
		{
			client: "qwen", list: []string{"qwen", "mcp", "list"}, reached: "Connected", moved: "QWEN_HOME",
			tool: "mcp__copse__%s",
			files: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}
`},
			env:  []string{"OPENAI_BASE_URL=@MODEL@/v1", "OPENAI_API_KEY=none", "OPENAI_MODEL=fake"},
			argv: []string{"qwen", "-p", "Begin.", "-y"},
		},
	}
}

// hostTime is how long a program may take that starts others, on a machine that is busy.
const hostTime = 4 * time.Minute

// installed is where the hosts are, with the tests' fixture.
type installed struct {
	fixture
	hosts string
}

// withHosts returns the fixture of tests with hosts.
func withHosts(t *testing.T) installed {
	t.Helper()
	f := installed{fixture: setup(t)}
	var err error
	if f.hosts, err = filepath.Abs(filepath.Join("..", "hosts", "node_modules", ".bin")); err != nil {
		t.Fatal(err)
	}
	if !need.Present(filepath.Join(f.hosts, "claude")) {
		need.Skip(t, "the hosts are not installed; run npm install in internal/test/hosts")
	}
	return f
}

// environ returns all that a host gets: a home of its own, and no way out of this machine.
func (f installed) environ(home string, more ...string) []string {
	nowhere := "http://127.0.0.1:9"
	return append([]string{
		"HOME=" + home, "USER=tester", "LOGNAME=tester", "SHELL=/bin/sh", "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1",
		"PATH=" + strings.Join([]string{f.bin, f.hosts, filepath.Dir(f.node), os.Getenv("PATH")}, string(filepath.ListSeparator)),
		"XDG_RUNTIME_DIR=" + home, "TMPDIR=" + os.TempDir(),
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"GIT_CONFIG_NOSYSTEM=1", "PWD=" + f.repo,
	}, more...)
}

// at runs a program in the repository.
func (f installed) at(t *testing.T, env []string, argv ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostTime)
	defer cancel()
	out, err := f.command(ctx, env, argv...).CombinedOutput()
	return string(out), err
}

// command returns a program to be run in the repository.
func (f installed) command(ctx context.Context, env []string, argv ...string) *exec.Cmd {
	// The programs are on the path of their own environment.
	cmd := exec.CommandContext(ctx, "/usr/bin/env", append([]string{"--"}, argv...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.repo, env, 5*time.Second
	return cmd
}

// must is at for what must not fail.
func (f installed) must(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	out, err := f.at(t, env, argv...)
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return out
}

// TestInstalledHosts lets the real clients read what "copse mcp install" wrote, over stdio and
// over HTTP, connect, and find no entry after "uninstall". Over HTTP their
// configuration is where their own variable says.
func TestInstalledHosts(t *testing.T) {
	t.Parallel()
	f := withHosts(t)
	home := short(t)
	upAt(t, f.fixture, home)
	for _, h := range hosts() {
		for _, transport := range []string{"stdio", "http"} {
			env := append(f.environ(home, h.env...), "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home)
			if transport == "http" && h.moved != "XDG_CONFIG_HOME" {
				moved := filepath.Join(home, "moved-"+h.client)
				if err := os.MkdirAll(moved, 0o700); err != nil {
					t.Fatal(err)
				}
				env = append(env, h.moved+"="+moved)
			}
			f.must(t, env, "copse", "mcp", "install", "--client", h.client, "--transport", transport)
			out := f.must(t, env, h.list...)
			if !strings.Contains(out, h.reached) || !strings.Contains(out, "copse") {
				t.Errorf("%s over %s says\n%s", h.client, transport, out)
			}
			f.must(t, env, "copse", "mcp", "uninstall", "--client", h.client, "--transport", transport)
			if out := f.must(t, env, h.list...); strings.Contains(out, h.reached) {
				t.Errorf("%s over %s still says\n%s", h.client, transport, out)
			}
		}
	}
}

// large returns a file of many lines, each of them different.
func large() string {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "line %04d of a file that no client hands to its model in one piece %s\n", i+1, strings.Repeat("x", 30))
	}
	return b.String()
}

var onward = regexp.MustCompile(`continue with offset=(\d+)`)

// conversation reads, writes, makes a mistake, and reads a large file to its end.
func conversation(results []string) (model.Call, bool) {
	calls := []model.Call{
		{Tool: "get_branch_stack", Args: `{}`},
		{Tool: "create_item", Args: `{"title":"Write the tests"}`},
		{Tool: "show_item", Args: `{"id":99}`},
		{Tool: "read_file", Args: `{"path":"large.txt"}`},
	}
	if len(results) < len(calls) {
		return calls[len(results)], true
	}
	if next := onward.FindStringSubmatch(results[len(results)-1]); next != nil && len(results) < 50 {
		return model.Call{Tool: "read_file", Args: fmt.Sprintf(`{"path":"large.txt","offset":%s}`, next[1])}, true
	}
	return model.Call{}, false
}

// TestHostTranscripts runs each host with a model that calls tools, and compares what the model
// receives with the text in testdata.
func TestHostTranscripts(t *testing.T) {
	t.Parallel()
	f := withHosts(t)
	for _, h := range hosts() {
		t.Run(h.client, func(t *testing.T) {
			golden(t, filepath.Join("testdata", "hosts", h.client+".txt"), f.talk(t, h))
		})
	}
}

// golden compares a text with the one in a file, which COPSE_UPDATE=1 writes again.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("COPSE_UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// talk runs a host and returns what its model received.
func (f installed) talk(t *testing.T, h host) string {
	t.Helper()
	home := short(t)
	f.repo = freshRepo(t)
	m, env := f.ready(t, h, home, conversation)
	install := []string{"copse", "mcp", "install", "--client", h.client}
	if h.hooks {
		install = append(install, "--hooks")
	}
	f.must(t, env, install...)
	f.must(t, env, "copse", "item", "init")
	out, err := f.at(t, env, h.argv...)
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(h.argv, " "), err, out)
	}
	return f.transcript(t, h, home, m)
}

// ready starts a model with a script, and prepares a host for it. It returns the environment of
// the host.
func (f installed) ready(t *testing.T, h host, home string, script model.Script) (*model.Model, []string) {
	t.Helper()
	m := model.New(script, func(tool string) string { return fmt.Sprintf(h.tool, tool) })
	t.Cleanup(m.Close)
	if h.namespace != "" {
		m.InNamespace(h.namespace)
	}
	address := strings.NewReplacer("@MODEL@", m.URL)
	for name, content := range h.files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(address.Replace(content)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var env []string
	for _, kv := range h.env {
		env = append(env, address.Replace(kv))
	}
	return m, f.environ(home, env...)
}

// freshRepo returns a repository with a stack, work items, and a large file.
func freshRepo(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	git := func(args ...string) {
		run(t, repo, append([]string{"git", "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	}
	git("init", "-q", "-b", "main")
	for name, content := range map[string]string{
		".gitignore": ".twig\n.tic\n", "large.txt": large(), ".twig/state.json": state,
	} {
		path := filepath.Join(repo, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "large.txt", ".gitignore")
	git("commit", "-q", "-m", "start")
	git("checkout", "-q", "-b", "feature/login")
	return repo
}

// transcript writes what the model received as text. Of the large file it shows which lines each
// answer has, and checks that they are all there.
func (f installed) transcript(t *testing.T, h host, home string, m *model.Model) string {
	t.Helper()
	var b, file strings.Builder
	results := m.Results()
	for i, result := range results {
		call, _ := conversation(results[:i])
		fmt.Fprintf(&b, "> %s %s\n", call.Tool, call.Args)
		if call.Tool != "read_file" {
			b.WriteString(strings.TrimRight(result, "\n") + "\n")
			continue
		}
		var lines []string
		for line := range strings.Lines(result) {
			if strings.HasPrefix(line, "line ") {
				file.WriteString(line)
				lines = append(lines, line)
				continue
			}
			if len(lines) > 0 {
				fmt.Fprintf(&b, "[%s to %s]\n", lines[0][:len("line 0000")], lines[len(lines)-1][:len("line 0000")])
				lines = nil
			}
			b.WriteString(line)
		}
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	if diff := cmp.Diff(f.toolNames(t), offered(m)); diff != "" {
		t.Errorf("%s offers its model other tools: %s", h.client, diff)
	}
	if h.hooks && !strings.Contains(m.Requests()[0], "This is the state of the project as copse knows it") {
		t.Errorf("the session of %s does not start informed:\n%.4000s", h.client, m.Requests()[0])
	}
	if file.String() != large() {
		t.Errorf("%s handed %d bytes of a file of %d bytes to its model", h.client, file.Len(), len(large()))
	}
	text := strings.NewReplacer(f.repo, "$REPO", home, "$HOME").Replace(b.String())
	for pattern, stands := range varying {
		text = pattern.ReplaceAllString(text, stands)
	}
	return text
}

var (
	// offeredTool matches the name of one of our tools, as the hosts show it to their model.
	offeredTool = regexp.MustCompile(`(?:mcp__copse_*|mcp_copse_|\bcopse[_-])([a-z_]+)`)
	// varying is what differs from run to run. Claude Code adds the schema of a tool that it
	// has not shown before; that is held elsewhere.
	varying = map[*regexp.Regexp]string{
		regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`): "$$TIME",
		regexp.MustCompile(`Wall time: [0-9.]+ seconds`):                              "Wall time: $$SECONDS seconds",
		regexp.MustCompile(`(The input schema is: )\{.*\}`):                           "${1}$$SCHEMA",
	}
)

// offered returns the copse tools that a request to the model lists. Claude Code lists them as text.
func offered(m *model.Model) []string {
	text := strings.Join(m.Tools(), "\n")
	if !strings.Contains(text, "copse") {
		text = strings.ReplaceAll(m.Requests()[0], `\n`, "\n")
	}
	var names []string
	for _, found := range offeredTool.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// toolNames returns the names of the tools that copse serves.
func (f installed) toolNames(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(f.bin, "copse"), "mcp", "serve")
	cmd.Dir = f.repo
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		var answer struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		for _, tool := range answer.Result.Tools {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	return names
}
