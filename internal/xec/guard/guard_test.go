//go:build unix

package guard_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/family"
	"github.com/copse-dev/copse/internal/xec/guard"
)

// With this variable the test binary is a caller: it streams the script in its argument
// and prints the number of the outer guard first.
const callerVar = "GUARD_TEST_CALLER"

func TestMain(m *testing.M) {
	guard.Main()
	if os.Getenv(callerVar) == "once" {
		_, err := xec.Run(context.Background(), once(os.Args[1], os.Args[2:]...))
		fmt.Println("ended:", err)
		os.Exit(0)
	}
	if os.Getenv(callerVar) != "" {
		err := xec.Stream(context.Background(), guarded(os.Args[1], os.Args[2:]...), os.Stdout)
		fmt.Println("ended:", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// guarded returns a script that runs under guard.
func guarded(script string, args ...string) xec.Command {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return guard.Wrap(xec.Command{
		Name: "sh", Args: append([]string{"-c", script, "sh"}, args...), Env: xec.Env(os.Environ()).Without(callerVar), Timeout: time.Minute,
		Started: func(pid int) {
			if os.Getenv(callerVar) != "" {
				fmt.Println("guard", pid)
			}
		},
	}, self)
}

// once returns a script that runs under one guard.
func once(script string, args ...string) xec.Command {
	c := guarded(script, args...)
	return guard.Once(c, c.Guard.Path)
}

// stubborn starts processes that do their best to stay: each writes its number to a file.
const stubborn = `cd "$1"
trap '' TERM HUP INT
say() { echo $$ >"$1.new"; mv "$1.new" "$1"; }
sh -c 'trap "" TERM; echo $$ >ignores; while :; do sleep 1; done' &
setsid sh -c 'echo $$ >session; exec sleep 300' &
(setsid sh -c 'setsid sh -c "echo \$\$ >daemon; trap \"\" TERM HUP; while :; do sleep 1; done" >/dev/null 2>&1 </dev/null & exit' &)
(env -i PATH="$PATH" setsid sh -c 'env -i setsid sh -c "echo \$\$ >clean; exec sleep 300" >/dev/null 2>&1 & exit' &)
sh -c 'while :; do sh -c "echo \$\$ >forking; sleep 0.01"; done' &
echo $$ >leader
while [ ! -s ignores ] || [ ! -s session ] || [ ! -s daemon ] || [ ! -s clean ] || [ ! -s forking ]; do sleep 0.01; done
echo ready
while :; do sleep 1; done`

// caller is a process that has started the stubborn script.
type caller struct {
	cmd          *exec.Cmd
	outer, inner int
	dir          string
	out          *bytes.Buffer
}

func start(t *testing.T) *caller {
	t.Helper()
	if _, err := xec.Env(os.Environ()).LookPath("setsid"); err != nil {
		need.Skip(t, "setsid is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{dir: t.TempDir(), out: &bytes.Buffer{}}
	c.cmd = exec.CommandContext(t.Context(), self, stubborn, c.dir)
	c.cmd.Env = append(os.Environ(), callerVar+"=1")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stdout, c.cmd.Stderr = w, os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = r.Close() })
	buf := make([]byte, 4096)
	for !strings.Contains(c.out.String(), "ready") {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, c.out)
		}
		c.out.Write(buf[:n])
	}
	if _, err := fmt.Sscanf(c.out.String(), "guard %d", &c.outer); err != nil {
		t.Fatal(err)
	}
	for _, p := range family.Descendants(c.outer) {
		if args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Pid)); err == nil && bytes.HasPrefix(args, []byte(guard.Name+"\x00inner")) {
			c.inner = p.Pid
		}
		_ = p.Release()
	}
	return c
}

// pids returns the processes that said their numbers, and the guards.
func (c *caller) pids(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{"outer": c.outer, "inner": c.inner}
	files, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			found[filepath.Base(f)] = pid
		}
	}
	return found
}

// left returns those that are alive, once there are none or time is up.
func left(pids map[string]int) []string {
	var alive []string
	for deadline := time.Now().Add(8 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		alive = nil
		for name, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if pid > 0 && syscall.Kill(pid, 0) == nil && (err != nil || !bytes.Contains(stat, []byte(") Z "))) {
				alive = append(alive, name)
			}
		}
		if alive == nil {
			return nil
		}
	}
	return alive
}

// No matter which process dies, all others die, too.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the test finds the inner guard through /proc")
	}
	for name, end := range map[string]func(t *testing.T, c *caller){
		"caller killed":      func(t *testing.T, c *caller) { kill(t, c.cmd.Process.Pid) },
		"caller interrupted": func(_ *testing.T, c *caller) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
		"outer guard killed": func(t *testing.T, c *caller) { kill(t, c.outer) },
		"inner guard killed": func(t *testing.T, c *caller) { kill(t, c.inner) },
		"outer guard and caller killed": func(t *testing.T, c *caller) {
			kill(t, c.outer)
			kill(t, c.cmd.Process.Pid)
		},
		// What has no parent, no session and no environment in common escapes here.
		"both guards killed": func(t *testing.T, c *caller) {
			kill(t, c.pids(t)["clean"])
			if err := syscall.Kill(c.inner, syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			kill(t, c.outer)
			kill(t, c.inner)
		},
		"inner guard and caller killed": func(t *testing.T, c *caller) {
			kill(t, c.cmd.Process.Pid)
			kill(t, c.inner)
		},
		"asked to end": func(t *testing.T, c *caller) {
			if err := syscall.Kill(c.outer, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			if c.inner == 0 {
				t.Fatal("there is no inner guard")
			}
			pids := c.pids(t)
			end(t, c)
			if alive := left(pids); alive != nil {
				t.Errorf("still there: %q", alive)
				for _, name := range alive {
					_ = syscall.Kill(pids[name], syscall.SIGKILL)
				}
			}
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		})
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// A guarded program ends as it would without.
func TestEnds(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo a; echo b >&2; echo c": "a\nb\nc\n<nil>",
		"exit 7":                     "run sh: exit status 7",
		"kill -9 $$":                 "run sh: signal: killed",
		"kill -15 $$":                "run sh: signal: terminated",
		"read line || echo no input; (echo x >/dev/tty) 2>&1": "no input\n",
		"sleep 300 & echo $COPSE_RUN_ID | tr -d 'A-Z0-9'":     "\n<nil>",
	} {
		var out bytes.Buffer
		err := xec.Stream(t.Context(), guarded(script), &out)
		if got := out.String() + fmt.Sprint(err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
	c := guarded("")
	c.Name = filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(c.Name, []byte("\x7fELF"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := xec.Stream(t.Context(), c, &out); err == nil || !strings.HasPrefix(out.String(), "cannot run "+c.Name) {
		t.Errorf("got %q, %v", &out, err)
	}
}

// The context and the time limit end everything.
func TestStopped(t *testing.T) {
	t.Parallel()
	c := guarded("sleep 300 & exec sleep 300")
	c.Timeout = 100 * time.Millisecond
	if err := xec.Stream(t.Context(), c, &bytes.Buffer{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = guarded("sleep 300 & exec sleep 300")
	var outer int
	c.Started = func(pid int) { outer = pid; cancel() }
	if err := xec.Stream(ctx, c, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if alive := left(map[string]int{"outer": outer}); alive != nil {
		t.Error("the guard is still there")
	}
}

// What is asked to end has the caller's grace for it, and no more.
func TestGrace(t *testing.T) {
	t.Parallel()
	const (
		slow = `trap 'echo INT; sleep 0.4; echo cleaned; exit' INT; sleep 300 & echo ready; wait; wait`
		// Like just when it is asked while it starts a recipe: it expects that the recipe was asked, too.
		early = `go=; trap 'go=1' INT; echo ready; while [ -z "$go" ]; do :; done; sleep 300; echo ended`
		never = `trap 'echo INT' INT; trap 'echo TERM' TERM; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`
	)
	cancels := func(_ int, cancel, _ func()) { cancel() }
	asks := func(outer int, _, _ func()) { _ = syscall.Kill(outer, syscall.SIGTERM) }
	for name, c := range map[string]struct {
		script, want   string
		grace, timeout time.Duration
		stop           func(outer int, cancel, hurry func())
	}{
		"canceled":                     {slow, "ready INT cleaned", time.Minute, 0, cancels},
		"guard asked":                  {slow, "ready INT cleaned", time.Minute, 0, asks},
		"time limit":                   {slow, "ready INT cleaned", time.Minute, 500 * time.Millisecond, func(int, func(), func()) {}},
		"grace is over":                {never, "ready INT TERM", 300 * time.Millisecond, 0, cancels},
		"asked before a recipe starts": {early, "ready ended", time.Minute, 0, cancels},
		"hurry": {never, "ready INT", time.Minute, 0, func(_ int, cancel, hurry func()) {
			cancel()
			time.Sleep(300 * time.Millisecond)
			hurry()
		}},
		"no grace": {never, "ready TERM", time.Minute, 0, func(_ int, cancel, hurry func()) {
			hurry()
			cancel()
		}},
		"guard asked twice": {never, "ready INT", time.Minute, 0, func(outer int, _, _ func()) {
			asks(outer, nil, nil)
			time.Sleep(300 * time.Millisecond)
			asks(outer, nil, nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hurry := make(chan struct{})
			var outer atomic.Int64
			run := guarded(c.script)
			run.Grace, run.Hurry, run.Timeout = c.grace, hurry, cmp.Or(c.timeout, 10*time.Second)
			run.Started = func(pid int) { outer.Store(int64(pid)) }
			out := &whenReady{then: func() { c.stop(int(outer.Load()), cancel, func() { close(hurry) }) }}
			begun := time.Now()
			_ = xec.Stream(ctx, run, out)
			if took := time.Since(begun); took > 8*time.Second {
				t.Errorf("it took %s", took)
			}
			if got := strings.Join(strings.Fields(out.out.String()), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if alive := left(map[string]int{"outer": int(outer.Load())}); alive != nil {
				t.Error("the guard is still there")
			}
		})
	}
}

// whenReady calls a function when the program has said that it is ready.
type whenReady struct {
	out  bytes.Buffer
	then func()
}

func (w *whenReady) Write(p []byte) (int, error) {
	if w.out.Len() == 0 {
		go w.then()
	}
	return w.out.Write(p)
}

// A process that runs a program by the guard's name is not one.
func TestNotAGuard(t *testing.T) {
	t.Parallel()
	if c := guard.Wrap(xec.Command{Name: "x"}, ""); c.Guard != nil {
		t.Error("there is a guard without a program")
	}
}

// Of a program with one guard, nothing survives its caller or its context either.
func TestOnce(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("setsid"); err != nil {
		need.Skip(t, "setsid is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// ready waits until the script has started everything in a directory, and returns that.
	ready := func(dir string) map[string]int {
		for _, name := range []string{"ignores", "session", "daemon", "clean", "forking", "leader"} {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && len(text) > 0 {
					break
				}
			}
		}
		pids := (&caller{dir: dir}).pids(t)
		delete(pids, "outer")
		delete(pids, "inner")
		return pids
	}
	for name, end := range map[string]func(dir string) map[string]int{
		"killed caller": func(dir string) map[string]int {
			cmd := exec.CommandContext(t.Context(), self, stubborn, dir)
			cmd.Env = append(os.Environ(), callerVar+"=once")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids := ready(dir)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return pids
		},
		"context": func(dir string) map[string]int {
			return canceled(t, once(stubborn, dir), func() map[string]int { return ready(dir) })
		},
		"context with a grace": func(dir string) map[string]int {
			c := once(stubborn, dir)
			c.Grace = 50 * time.Millisecond
			return canceled(t, c, func() map[string]int { return ready(dir) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if alive := left(end(t.TempDir())); len(alive) > 0 {
				t.Errorf("%q are alive", alive)
			}
		})
	}
}

// canceled runs a program until ready returns, and returns what that returned.
func canceled(t *testing.T, c xec.Command, ready func() map[string]int) (pids map[string]int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		pids = ready()
	}()
	c.Timeout = 5 * time.Minute
	if _, err := xec.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	return pids
}

// The output and the exit code are those of the program, and its limits apply from its start.
func TestOnceResult(t *testing.T) {
	t.Parallel()
	c := once("echo out; echo err >&2; exit 3")
	res, err := xec.Run(t.Context(), c)
	exit, ok := errors.AsType[*xec.ExitError](err)
	if !ok || exit.Code != 3 || string(res.Stdout) != "out\n" || string(res.Stderr) != "err\n" {
		t.Errorf("got %q, %q, %v", res.Stdout, res.Stderr, err)
	}
	for script, want := range map[string]string{"kill -SEGV $$": "exit status 139", "kill -KILL $$": "signal: killed", "kill -QUIT $$": "exit status 131"} {
		if _, err := xec.Run(t.Context(), once(script)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", script, err, want)
		}
	}
	c = once("trap 'echo asked; exit' INT; echo up; while :; do sleep 0.01; done")
	c.Grace, c.Timeout = time.Minute, 3*time.Second
	if res, err := xec.Run(t.Context(), c); !errors.Is(err, context.DeadlineExceeded) || string(res.Stdout) != "up\nasked\n" {
		t.Errorf("got %q, %v", res.Stdout, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	c = once("ulimit -d; ulimit -t")
	c.MaxMemory, c.MaxProcessor = 1<<30, 7*time.Second
	if res, err := xec.Run(t.Context(), c); err != nil || string(res.Stdout) != "1048576\n7\n" {
		t.Errorf("got %q, %v", res.Stdout, err)
	}
}

// When the caller is killed, the program gets the signal with which git removes its lock files, and a moment for it.
func TestOnceAsks(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const tidy = `cd "$1"; exec 2>/dev/null; trap 'echo >asked; exit' TERM; echo >ready; while :; do sleep 0.01; done`
	for range 30 {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), self, tidy, dir)
		cmd.Env = append(os.Environ(), callerVar+"=once")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exists := func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}
		for deadline := time.Now().Add(time.Minute); !exists("ready") && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for deadline := time.Now().Add(2 * time.Second); !exists("asked"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the program was killed without a moment to end by itself")
			}
		}
	}
}
