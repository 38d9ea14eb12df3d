package copse_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/fakes"
	"github.com/copse-dev/copse/internal/test/mcptext"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/test/postgrestest"
	"github.com/copse-dev/copse/internal/xec/guard"
)

// programs are what scripts can run, as processes with exec and in this process
// with mcp.
var programs = map[string]func(context.Context, app.Env) int{
	"copse":    copse.Run,
	"tic":      tic.Run,
	"twig-mcp": twigmcp.Run,
}

// patience makes an answer on a machine that runs many tests at once as complete as on an idle one.
const patience = 30

func TestMain(m *testing.M) {
	commands := make(map[string]func())
	for name, run := range programs {
		patiently := func(ctx context.Context, env app.Env) int {
			env.Patience = patience
			return run(ctx, env)
		}
		commands[name] = func() { os.Exit(app.Main(patiently)) }
	}
	commands[guard.Name] = guard.Main
	testscript.Main(withServices{m}, commands)
}

// withServices removes the programs that tests built, and stops the database server that scripts
// started.
type withServices struct{ m *testing.M }

// Run is of testscript.TestingM.
func (w withServices) Run() int { return built.Main(stopping(w)) }

type stopping struct{ m *testing.M }

// Run is of testscript.TestingM.
func (s stopping) Run() int { return postgrestest.Main(s.m) }

// TestScript runs the programs from end to end. A new behavior is a new file in
// testdata/script; besides testscript's own commands there are
//
//	mcp [-modern|-bare] CONVERSATION PROGRAM [ARG…]   hold a conversation (see package
//	                                            mcptext); the transcript is stdout
//	github FIXTURE [TOKEN]   start a fake GitHub, set GITHUB_API_URL
//	jira FIXTURE             start a fake Jira, set JIRA_HOST
//	generate WHAT N PATH     see generate
//
// Set COPSE_UPDATE=1 to rewrite the expected output after a wanted change.
func TestScript(t *testing.T) {
	t.Parallel()
	params := scripts(converse)
	params.Dir = filepath.Join("testdata", "script")
	params.UpdateScripts = os.Getenv("COPSE_UPDATE") != ""
	testscript.Run(t, params)
}

// TestScriptHTTP holds the same conversations with copse over HTTP, and expects the same.
func TestScriptHTTP(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	params := scripts(func(ts *testscript.TestScript, neg bool, args []string) {
		if serve := overHTTP(args); serve != nil {
			hold(ts, args, serve)
			return
		}
		converse(ts, neg, args)
	})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), " copse mcp serve") {
			params.Files = append(params.Files, file)
		}
	}
	testscript.Run(t, params)
}

// scripts returns the parameters of both.
func scripts(mcp func(ts *testscript.TestScript, neg bool, args []string)) testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"mcp":      mcp,
			"generate": generate,
			"github":   fakes.GitHub,
			"requests": fakes.Requests,
			"jira":     fakes.Jira,
			"postgres": postgrestest.Script,
		},
	}
}

// condition decides "[have:PROGRAM]": whether a program is installed. Where nothing may
// be skipped, one that is not fails the script.
func condition(cond string) (bool, error) {
	name, ok := strings.CutPrefix(cond, "have:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	have := need.Installed(name) != "" || name == "postgres" && postgrestest.Programs() != "" // Debian has that one where nobody finds it
	if !have && need.All() {
		return false, fmt.Errorf("%s must be installed here", name)
	}
	return have, nil
}

// setup gives a script a home of its own, and a git that behaves the same
// everywhere.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env.Values[fakes.Key{}] = &fakes.Last{}
	const when = "2026-01-02T03:04:05Z"
	for k, v := range map[string]string{
		"HOME":                home,
		"USERPROFILE":         home,
		"XDG_CACHE_HOME":      filepath.Join(home, "cache"),
		"XDG_DATA_HOME":       filepath.Join(home, "data"),
		"GIT_CONFIG_GLOBAL":   filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_AUTHOR_DATE": when,
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com", "GIT_COMMITTER_DATE": when,
		"NO_COLOR": "1",
		// No engine that happens to run here.
		"DOCKER_HOST": "unix:///no/engine.sock",
	} {
		env.Setenv(k, v)
	}
	passRace(env.Setenv)
	// A script that failed may have left a supervisor.
	env.Defer(func() {
		_ = control.NewClient(filepath.Join(env.WorkDir, "r", "copse")).Stop(context.Background())
	})
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[init]\n\tdefaultBranch = main\n"), 0o600)
}

// passRace passes the settings of the race detector on to a program under it. By default, such
// a program sleeps for a second before it exits.
func passRace(set func(name, value string)) {
	if options := os.Getenv("GORACE"); options != "" {
		set("GORACE", options)
	}
}

// inherited are the variables that a conversation's server sees of a script.
var inherited = []string{
	"HOME", "USERPROFILE", "PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NETRC", "JIRA_EMAIL", "JIRA_TOKEN", "JIRA_PAT", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST",
	"GITHUB_API_URL", "GITHUB_SERVER_URL", "JIRA_HOST", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "SYSTEMROOT", "TMPDIR",
	"COPSE_ITEMS", "DOCKER_HOST", "GORACE",
}

var (
	port  = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
	took  = regexp.MustCompile(` after [0-9.]+ ?m?s\b`)
	stamp = regexp.MustCompile(`(as_of":")?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`)
)

// server answers a conversation until its input ends.
type server func(ctx context.Context, env app.Env) int

func converse(ts *testscript.TestScript, neg bool, args []string) {
	_, rest := eraOf(args)
	if neg || len(rest) < 2 || programs[rest[1]] == nil {
		ts.Fatalf("usage: mcp [-modern|-bare] conversation copse|tic|twig-mcp [arg...]")
	}
	hold(ts, args, programs[rest[1]])
}

// eraOf takes the flag of the era from the arguments of mcp.
func eraOf(args []string) (mcptext.Era, []string) {
	if len(args) > 0 {
		switch args[0] {
		case "-modern":
			return mcptext.Modern, args[1:]
		case "-bare":
			return mcptext.Bare, args[1:]
		}
	}
	return mcptext.Legacy, args
}

// hold holds a conversation and prints its transcript.
func hold(ts *testscript.TestScript, args []string, serve server) {
	era, args := eraOf(args)
	script := ts.ReadFile(args[0])
	var stderr strings.Builder
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	env := app.Env{
		Args: args[2:], Stdin: in, Stdout: out, Stderr: &stderr,
		Dir: ts.MkAbs("."), GOOS: runtime.GOOS, Now: time.Now, Patience: patience,
	}
	env.Hostname, _ = os.Hostname() // as for the programs that a script starts
	for _, k := range inherited {
		if v := ts.Getenv(k); v != "" {
			env.Environ = append(env.Environ, k+"="+v)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- serve(ctx, env)
		out.Close()
	}()
	transcript, err := mcptext.Run(era, script, toServer, fromServer, func(program string, args ...string) error {
		if program == "github" && len(args) == 1 {
			return fakes.Change(ts, args[0])
		}
		return ts.Exec(program, args...)
	})
	toServer.Close()
	go io.Copy(io.Discard, fromServer)
	code := <-ended
	// Paths, ports and the present differ from run to run.
	transcript = strings.ReplaceAll(transcript, ts.Getenv("WORK"), "$WORK")
	transcript = port.ReplaceAllString(transcript, "127.0.0.1:PORT")
	transcript = took.ReplaceAllString(transcript, " after TIME")
	transcript = stamp.ReplaceAllStringFunc(transcript, func(s string) string {
		when, asOf := strings.CutPrefix(s, `as_of":"`)
		if at, err := time.Parse(time.RFC3339, when); err != nil || time.Since(at).Abs() > time.Hour || !asOf && !strings.Contains(s, ".") {
			return s
		}
		return strings.TrimSuffix(s, when) + "NOW"
	})
	fmt.Fprint(ts.Stdout(), transcript)
	fmt.Fprint(ts.Stderr(), stderr.String())
	if err != nil {
		ts.Fatalf("%v\n%s", err, stderr.String())
	}
	if code != app.OK {
		ts.Fatalf("the server ended with %d: %s", code, stderr.String())
	}
}
