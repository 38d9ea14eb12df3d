package copse_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// examplesFile has what must exist before an example runs: a file for each command that
// needs something, and "world" for all of them.
var examplesFile = filepath.Join("testdata", "examples.txtar")

// heldByScript are commands whose examples need a database. A script runs them.
var heldByScript = map[string]string{
	"copse item migrate": "items_postgres.txtar",
	"copse item move":    "items_move.txtar",
}

// roots returns the commands of the three programs.
func roots() []*cobra.Command {
	env := app.EmptyEnv()
	return []*cobra.Command{copse.Command(env), tic.Command(env), twigmcp.Command(env)}
}

// A manual page indents an example by seven columns, and does not wrap it.
func TestExamplesFitManualPages(t *testing.T) {
	t.Parallel()
	const width = 80 - 7
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimRight(line, "\n"); len(line) > width {
				t.Errorf("%s has an example of %d columns, more than %d: %q", c.CommandPath(), len(line), width, line)
			}
		}
		for _, below := range c.Commands() {
			if !below.Hidden { // a hidden command has no page
				check(below)
			}
		}
	}
	for _, root := range roots() {
		check(root)
	}
}

// sameAs returns the command that the reference describes in place of another one, "" if it
// describes the command itself.
func sameAs(path string) string {
	switch {
	case strings.HasPrefix(path, "copse server "):
		return "copse" + strings.TrimPrefix(path, "copse server")
	case strings.HasPrefix(path, "tic ") && !strings.HasPrefix(path, "tic mcp"):
		return "copse item" + strings.TrimPrefix(strings.TrimPrefix(path, "tic"), " item")
	}
	return ""
}

// described returns a command and those below it, as far as the reference describes them.
func described(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sameAs(sub.CommandPath()) == "" {
			all = append(all, described(sub)...)
		}
	}
	return all
}

// TestExamples runs the example of each command that the reference describes, as a shell
// does, in a copy of the repository of package demo. Each line must succeed.
func TestExamples(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are those of a POSIX shell")
	}
	setups := make(map[string]string)
	archive, err := txtar.ParseFile(examplesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		setups[f.Name] = string(f.Data)
	}
	base := newWorld(t)
	if text, err := base.shell(t, "").run(t.Context(), setups["world"]); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	delete(setups, "world")
	for _, root := range roots() {
		for _, cmd := range described(root) {
			path := cmd.CommandPath()
			setup := setups[path]
			delete(setups, path)
			if script := heldByScript[path]; script != "" {
				text, err := os.ReadFile(filepath.Join("testdata", "script", script))
				if err != nil || !strings.Contains(string(text), "exec "+path) {
					t.Errorf("%s does not run %s, %v", script, path, err)
				}
				continue
			}
			t.Run(strings.ReplaceAll(path, " ", "_"), func(t *testing.T) {
				t.Parallel()
				if cmd.Example == "" {
					t.Fatalf("%s has no example", path)
				}
				if strings.HasPrefix(path, "copse task") {
					if _, err := exec.LookPath("just"); err != nil {
						need.Skip(t, "just is not installed")
					}
				}
				sh := base.copy(t).shell(t, path)
				if text, err := sh.run(t.Context(), setup); err != nil {
					t.Fatalf("what comes before: %v\n%s", err, text)
				}
				for line := range strings.Lines(cmd.Example) {
					if text, err := sh.run(t.Context(), line); err != nil {
						t.Errorf("%s\n%v\n%s", strings.TrimSpace(line), err, text)
					}
				}
			})
		}
	}
	for path := range setups {
		t.Errorf("%s prepares %q, which the reference does not describe", examplesFile, path)
	}
}

// world is a home directory with a repository.
type world struct {
	home, dir string
	environ   []string
	now       func() time.Time
}

// newWorld makes the repository of package demo, in a home whose directory bin has the
// programs.
func newWorld(t *testing.T) world {
	t.Helper()
	d := demo.New(t)
	w := world{home: filepath.Dir(d.Dir), dir: d.Dir, environ: d.Environ, now: d.Env().Now}
	links(t, filepath.Join(w.home, "bin"))
	return w
}

// links makes a directory with the three programs, which are links to this one: see TestMain.
func links(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name := range programs {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// copy returns a copy of the world, which ends with the test.
func (w world) copy(t *testing.T) world {
	t.Helper()
	home, err := os.MkdirTemp("", "w") //nolint:usetesting // a socket's path must be short
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", w.home+"/.", home).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	again := world{home: home, dir: home + strings.TrimPrefix(w.dir, w.home), now: w.now}
	for _, v := range w.environ {
		again.environ = append(again.environ, strings.ReplaceAll(v, w.home, home))
	}
	return again
}

// shell runs commands one after the other in a world. It runs the three programs in this
// process, each with an empty standard input if it has no other.
type shell struct {
	world  world
	runner *interp.Runner
	output *transcript
}

func (w world) shell(t *testing.T, name string) *shell {
	t.Helper()
	runtimeDir := filepath.Join(w.home, "run")
	environ := expand.ListEnviron(append(slices.Clone(w.environ),
		"PATH="+filepath.Join(w.home, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"XDG_CONFIG_HOME="+filepath.Join(w.home, ".config"), "XDG_RUNTIME_DIR="+runtimeDir)...)
	if err := os.MkdirAll(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // an example may have started a server
		_ = control.NewClient(filepath.Join(runtimeDir, "copse")).Stop(context.Background())
	})
	var output transcript
	s := &shell{world: w, output: &output}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nothing.Close() })
	runner, err := interp.New(interp.Env(environ), interp.Dir(w.dir), interp.Params("-e", "-o", "pipefail"),
		interp.StdIO(nothing, &output, &output), interp.ExecHandlers(s.exec))
	if err != nil {
		t.Fatal(name, err)
	}
	s.runner = runner
	return s
}

// run runs lines and returns what they print.
func (s *shell) run(ctx context.Context, lines string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	file, err := syntax.NewParser().Parse(strings.NewReader(lines), "")
	if err == nil {
		err = s.runner.Run(ctx, file)
	}
	return s.output.take(), err
}

// placeholder represents, in an example, an ID that differs from run to run. The preparation sets a
// variable of that name.
var placeholder = regexp.MustCompile(`^[a-z][a-z0-9]{7,}$`)

func (s *shell) exec(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		run := programs[args[0]]
		if run == nil {
			return next(ctx, args)
		}
		here := interp.HandlerCtx(ctx)
		env := app.Env{
			Stdin: here.Stdin, Stdout: here.Stdout, Stderr: here.Stderr, Dir: here.Dir, GOOS: runtime.GOOS, Now: s.world.now, Patience: patience,
			Executable: filepath.Join(s.world.home, "bin", args[0]),
		}
		env.Self = env.Executable
		for _, arg := range args[1:] {
			if v := here.Env.Get(arg); placeholder.MatchString(arg) && v.IsSet() {
				arg = v.String()
			}
			env.Args = append(env.Args, arg)
		}
		for name, v := range here.Env.Each {
			if v.Exported {
				env.Environ = append(env.Environ, name+"="+v.String())
			}
		}
		if slices.Contains(args, "--watch") {
			// It ends when its user stops it, here as soon as it says something.
			watching, stop := context.WithCancelCause(ctx)
			defer stop(nil)
			env.Stdout, env.Stderr, ctx = stopper{here.Stdout, stop}, stopper{here.Stderr, stop}, watching
		}
		if code := run(ctx, env); code != app.OK && !errors.Is(context.Cause(ctx), errStopped) {
			return interp.ExitStatus(code)
		}
		return nil
	}
}

// transcript is what commands print, also those that run in the background.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// take returns what was printed since the last call.
func (t *transcript) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.text.Reset()
	return t.text.String()
}

var errStopped = errors.New("stopped")

// stopper stops what writes to it.
type stopper struct {
	io.Writer
	stop context.CancelCauseFunc
}

func (s stopper) Write(p []byte) (int, error) {
	defer s.stop(errStopped)
	return s.Writer.Write(p)
}
