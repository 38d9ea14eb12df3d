//go:build unix

package xec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// shell returns a script to stream.
func shell(script string, args ...string) xec.Command {
	return xec.Command{Name: "sh", Args: append([]string{"-c", script, "sh"}, args...), Env: os.Environ()}
}

func TestStreamInterleaves(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := xec.Stream(t.Context(), shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2"), &out); err != nil || out.String() != "1\n2\n3\n4\n" {
		t.Errorf("got %q, %v", &out, err)
	}
	out.Reset()
	err := xec.Stream(t.Context(), shell("echo no; exit 7"), &out)
	if exit, ok := errors.AsType[*xec.ExitError](err); !ok || exit.Code != 7 || out.String() != "no\n" {
		t.Errorf("got %q, %v", &out, err)
	}
	if err := xec.Stream(t.Context(), xec.Command{Name: "no-such-program"}, &out); !errors.Is(err, xec.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

// Both streams have one pipe, whatever kind of writer gets them.
func TestStreamOfAnyWriter(t *testing.T) {
	t.Parallel()
	type incomparable struct {
		io.Writer
		_ []int
	}
	var want bytes.Buffer
	for i := range 200 {
		fmt.Fprintln(&want, i)
	}
	var out bytes.Buffer
	if err := xec.Stream(t.Context(), shell("for i in $(seq 0 2 198); do echo $i; echo $((i + 1)) >&2; done"), incomparable{Writer: &out}); err != nil || out.String() != want.String() {
		t.Errorf("got %q, %v", &out, err)
	}
}

func TestStreamHasNoTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := xec.Stream(t.Context(), shell("read line || echo no input; echo x >/dev/tty"), &out); err == nil || !strings.HasPrefix(out.String(), "no input\n") {
		t.Errorf("got %q, %v", &out, err)
	}
}

// alive returns the processes whose numbers the files in dir hold, as soon as they are no more than
// most: who was killed takes a moment to go.
func alive(t *testing.T, dir string, most int) []string {
	t.Helper()
	for range 200 {
		if living := living(t, dir); len(living) <= most {
			return living
		}
		time.Sleep(10 * time.Millisecond)
	}
	return living(t, dir)
}

func living(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no process said its number: %v", err)
	}
	var living []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && syscall.Kill(pid, 0) == nil && !zombie(pid) {
			living = append(living, filepath.Base(f))
		}
	}
	return living
}

// zombie reports whether a process has ended, and only its parent has not noticed.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

// family starts processes that do their best to stay.
const family = `cd "$1"
trap '' TERM
sh -c 'trap "" TERM; echo $$ >ignores; while :; do sleep 1; done' &
if command -v setsid >/dev/null; then
  setsid sh -c 'echo $$ >session; exec sleep 60' &
  setsid sh -c 'setsid sh -c "echo \$\$ >orphan; trap \"\" TERM HUP; while :; do sleep 1; done" >/dev/null 2>&1 & exit' &
  env -i PATH="$PATH" setsid sh -c 'echo $$ >clean; exec sleep 60' &
fi
echo $$ >leader
echo ready
while :; do sleep 1; done`

func TestStreamStopsTheWholeFamily(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(context.Context, string) error{
		"cancel": func(ctx context.Context, dir string) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return xec.Stream(ctx, shell(family, dir), whenReady{dir: dir, call: cancel})
		},
		"timeout": func(ctx context.Context, dir string) error {
			c := shell(family, dir)
			c.Timeout = 700 * time.Millisecond
			return xec.Stream(ctx, c, whenReady{dir: dir, call: func() {}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			begun := time.Now()
			err := stop(t.Context(), dir)
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if want := map[string]error{"cancel": context.Canceled, "timeout": context.DeadlineExceeded}[name]; !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
			living := alive(t, dir, 0)
			if len(living) > 0 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
				t.Errorf("still there: %q", living)
			}
		})
	}
}

// whenReady calls a function once the family is complete.
type whenReady struct {
	dir  string
	call func()
}

func (w whenReady) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("ready")) {
		go func() {
			for range 100 {
				if files, _ := filepath.Glob(filepath.Join(w.dir, "*")); len(files) >= 5 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			w.call()
		}()
	}
	return len(p), nil
}

// A program that is asked to stop can clean up.
func TestStreamAsksFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	script := `cd "$1"; trap 'echo bye >bye; exit 0' TERM; echo a >1; echo a >2; echo a >3; echo a >4; echo a >5; echo ready; while :; do sleep 0.02; done`
	if err := xec.Stream(ctx, shell(script, dir), whenReady{dir: dir, call: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bye")); err != nil {
		t.Error("it could not clean up")
	}
}

// What a program that ended by itself has sent away stays; its own group does not.
func TestStreamLeavesWhatMovedAway(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("setsid"); err != nil {
		need.Skip(t, "setsid is not installed")
	}
	dir := t.TempDir()
	script := `cd "$1"
setsid sh -c 'echo $$ >away; exec sleep 60' >/dev/null 2>&1 &
sh -c 'echo $$ >group; exec sleep 60' &
while [ ! -s away ] || [ ! -s group ]; do sleep 0.01; done`
	var out bytes.Buffer
	if err := xec.Stream(t.Context(), shell(script, dir), &out); err != nil {
		t.Fatal(err)
	}
	living := alive(t, dir, 1)
	if len(living) != 1 || living[0] != "away" {
		t.Errorf("still there: %q", living)
	}
	text, err := os.ReadFile(filepath.Join(dir, "away"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
