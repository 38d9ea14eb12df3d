package xec_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/xec"
)

// The test binary is also the program the tests run: with modeVar set it does
// one thing and ends.
const modeVar = "XEC_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVar); mode != "" {
		os.Exit(child(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func child(mode string, args []string) int {
	switch mode {
	case "echo":
		fmt.Fprintln(os.Stdout, strings.Join(args, "|"))
		fmt.Fprintln(os.Stderr, "to stderr")
	case "env":
		for _, kv := range os.Environ() {
			fmt.Println(kv)
		}
	case "cwd":
		wd, err := os.Getwd()
		if err != nil {
			return 1
		}
		fmt.Println(wd)
	case "cat":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "exit":
		fmt.Fprint(os.Stderr, strings.Join(args[1:], "\n"))
		code, _ := strconv.Atoi(args[0])
		return code
	case "flood":
		n, _ := strconv.Atoi(args[0])
		w := bufio.NewWriter(os.Stdout)
		for range n {
			_ = w.WriteByte('x')
		}
		if err := w.Flush(); err != nil {
			return 1
		}
		fmt.Fprint(os.Stderr, "all written")
	case "suicide":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		time.Sleep(time.Hour)
	case "hang":
		// Live until killed, or until the test closes the connection.
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			return 1
		}
		fmt.Fprintln(os.Stderr, "up")
		_, _ = io.Copy(io.Discard, conn)
	case "answer":
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			return 1
		}
		_, _ = io.Copy(conn, conn)
	case "run-hang", "run-answer":
		mode := strings.TrimPrefix(mode, "run-")
		c := xec.Command{Name: os.Args[0], Args: args, Env: xec.Env(os.Environ()).With(modeVar + "=" + mode), Timeout: time.Hour, Outlives: mode == "answer"}
		if _, err := xec.Run(context.Background(), c); err != nil {
			return 1
		}
	case "parent", "parent-ends", "parent-of-escaped":
		if err := startGrandchild(mode == "parent-of-escaped", args[0]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if mode == "parent" {
			fmt.Println("grandchild is up")
			time.Sleep(time.Hour)
		}
		fmt.Println("parent done")
	}
	return 0
}

// startGrandchild starts a process that holds this one's standard output, and
// waits until it is connected to addr.
func startGrandchild(escaped bool, addr string) error {
	cmd := exec.Command(os.Args[0], addr)
	cmd.Env = append(os.Environ(), modeVar+"=hang")
	cmd.Stdout = os.Stdout
	if escaped {
		leaveGroup(cmd)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.ReadFull(stderr, make([]byte, 2))
	return err
}

func self(t *testing.T, mode string, args ...string) xec.Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := xec.Env{modeVar + "=" + mode}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return xec.Command{Name: exe, Args: args, Env: env, Timeout: time.Minute}
}

func TestRunOutput(t *testing.T) {
	t.Parallel()
	res, err := xec.Run(t.Context(), self(t, "echo", "a b", "", `"c"`))
	if err != nil {
		t.Fatal(err)
	}
	want := xec.Result{Stdout: []byte("a b||\"c\"\n"), Stderr: []byte("to stderr\n")}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestRunEnvironmentIsComplete(t *testing.T) {
	t.Setenv("XEC_TEST_LEAK", "leaked")
	for _, env := range []xec.Env{{"A=1", "A=2"}, {}} {
		c := self(t, "env")
		c.Env = append(env, c.Env...)
		res, err := xec.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(res.Stdout, []byte("XEC_TEST_LEAK")) {
			t.Error("the child sees a variable of this process")
		}
		if len(env) > 0 && !bytes.Contains(res.Stdout, []byte("A=2")) {
			t.Errorf("A=2 is missing in:\n%s", res.Stdout)
		}
	}
}

// A program looks up others by the PATH that it gets, which never leads into its working
// directory.
func TestRunPathIsAbsolute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	join := func(entries ...string) string { return strings.Join(entries, string(filepath.ListSeparator)) }
	for path, want := range map[string]string{
		join(dir, dir):              "PATH=" + join(dir, dir),
		join(".", dir, "", "a/b"):   "PATH=" + dir,
		join("", dir):               "PATH=" + dir,
		join(dir, "node_modules/x"): "PATH=" + dir,
		".":                         "",
		"":                          "",
	} {
		c := self(t, "env")
		c.Env = append(c.Env, "PATH="+path)
		res, err := xec.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for line := range strings.Lines(string(res.Stdout)) {
			if strings.HasPrefix(line, "PATH=") {
				got = strings.TrimSpace(line)
			}
		}
		if got != want {
			t.Errorf("PATH=%s: got %q, want %q", path, got, want)
		}
	}
}

func TestRunDirAndStdin(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := self(t, "cwd")
	c.Dir = dir
	res, err := xec.Run(t.Context(), c)
	if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != dir {
		t.Errorf("working folder is %q, want %q (error %v)", got, dir, err)
	}

	// Without one, the program does not start where this process works.
	for _, home := range []string{dir, "relative", filepath.Join(dir, "missing")} {
		c.Dir, c.Env = "", c.Env.With("HOME="+home, "USERPROFILE="+home)
		want := dir
		if home != dir {
			want = string(filepath.Separator)
		}
		if res, err = xec.Run(t.Context(), c); err != nil || !strings.HasSuffix(strings.TrimSpace(string(res.Stdout)), want) || home != dir && len(res.Stdout) > 5 {
			t.Errorf("HOME=%s: working directory is %q (error %v)", home, res.Stdout, err)
		}
	}

	c.Dir = filepath.Join(dir, "missing")
	if _, err := xec.Run(t.Context(), c); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), c.Dir) {
		t.Errorf("missing folder: error is %v, want one that names it", err)
	}

	c = self(t, "cat")
	c.Stdin = bytes.Repeat([]byte("line\n"), 50_000)
	res, err = xec.Run(t.Context(), c)
	if err != nil || !bytes.Equal(res.Stdout, c.Stdin) {
		t.Errorf("cat gave %d of %d bytes (error %v)", len(res.Stdout), len(c.Stdin), err)
	}
}

func TestRunExitError(t *testing.T) {
	t.Parallel()
	_, err := xec.Run(t.Context(), self(t, "exit", "3", "first", "second"))
	exit, ok := errors.AsType[*xec.ExitError](err)
	if !ok || exit.Code != 3 || exit.Stderr != "first\nsecond" {
		t.Fatalf("error is %#v, want status 3 with the two lines", err)
	}
	if !strings.Contains(err.Error(), "exit status 3: \"first second\"") {
		t.Errorf("message %q does not say why", err)
	}

	long := strings.Repeat("x", 5000)
	_, err = xec.Run(t.Context(), self(t, "exit", "1", long, "reason"))
	if exit, ok = errors.AsType[*xec.ExitError](err); !ok || exit.Stderr != "reason" {
		t.Errorf("error is %v, want the last line of a long stderr only", err)
	}
}

// A program that prints very many errors runs to its end, and costs little memory.
func TestRunBoundsErrors(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	c := self(t, "exit", "0", strings.Repeat("x", limit+1))
	c.Whole, c.MaxOutput = true, 1<<20
	res, err := xec.Run(t.Context(), c)
	if err != nil || res.Truncated || len(res.Stderr) != limit {
		t.Errorf("kept %d bytes of errors, truncated %v, %v; want %d", len(res.Stderr), res.Truncated, err, limit)
	}
}

// A cut within a line leaves a mark.
func TestRunExcerptIsMarked(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		strings.Repeat("x", 2000):                                 "…" + strings.Repeat("x", 1021),
		strings.Repeat("x", 2000) + "\n" + strings.Repeat("y", 9): strings.Repeat("y", 9),
		strings.Repeat("x", 70_000):                               "…" + strings.Repeat("x", 1018) + "…",
	} {
		_, err := xec.Run(t.Context(), self(t, "exit", "3", written))
		if exit, ok := errors.AsType[*xec.ExitError](err); !ok || exit.Stderr != want {
			t.Errorf("%d bytes: %v, want %q", len(written), err, want)
		}
	}
}

func TestRunBoundsOutput(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, tt := range []struct {
		limit, kept int
		cut         bool
	}{
		{limit: 1000, kept: 1000, cut: true},
		{limit: n, kept: n},
		{limit: 0, kept: n},
	} {
		c := self(t, "flood", strconv.Itoa(n))
		c.MaxOutput = tt.limit
		res, err := xec.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Stdout) != tt.kept || res.Truncated != tt.cut {
			t.Errorf("limit %d: kept %d, truncated %v; want %d, %v",
				tt.limit, len(res.Stdout), res.Truncated, tt.kept, tt.cut)
		}
		if string(res.Stderr) != "all written" {
			t.Errorf("limit %d: the program could not write to the end", tt.limit)
		}
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	c := self(t, "hang", listen(t).Addr().String())
	c.Timeout = 100 * time.Millisecond
	_, err := xec.Run(t.Context(), c)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "100ms") {
		t.Errorf("error is %v, want a deadline that names the limit", err)
	}
}

func TestRunCancelKillsGroup(t *testing.T) {
	t.Parallel()
	l := listen(t)
	cause := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		_, err := xec.Run(ctx, self(t, "parent", l.Addr().String()))
		ended <- err
	}()
	grandchild := accept(t, l)
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("error is %v, want the cause of the cancellation", err)
	}
	waitGone(grandchild)
}

func TestRunCancelledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xec.Run(ctx, self(t, "echo")); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// A program that ends while a process it started still holds its output.
func TestRunKillsWhatIsLeft(t *testing.T) {
	t.Parallel()
	l := listen(t)
	res, err := xec.Run(t.Context(), self(t, "parent-ends", l.Addr().String()))
	if err != nil || string(res.Stdout) != "parent done\n" {
		t.Errorf("got %q and error %v, want the parent's output", res.Stdout, err)
	}
	waitGone(accept(t, l))
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	_, err := xec.Run(t.Context(), xec.Command{Name: "git", Env: xec.Env{"PATH=" + t.TempDir()}})
	if !errors.Is(err, xec.ErrNotInstalled) || !strings.Contains(err.Error(), "git") {
		t.Errorf("error is %v, want ErrNotInstalled for git", err)
	}
}

// listen returns a listener that children connect to while they live.
func listen(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no local sockets: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// accept waits for a child to be up.
func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("no child came up: %v", err)
	}
	return conn
}

// waitGone waits until the child at the other end has ended.
func waitGone(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}
