package item_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/tic"
)

// run runs tic in a directory and returns what it wrote.
func run(t *testing.T, dir string, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = tic.Run(t.Context(), app.Env{Args: args, Stdin: stdin, Stdout: &out, Stderr: &errs, Dir: dir, GOOS: "linux", Now: time.Now})
	return out.String(), errs.String(), code
}

func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, stderr, code := run(t, dir, strings.NewReader(""), "init"); code != app.OK {
		t.Fatal(stderr)
	}
	return dir
}

// An open pipe without input, as programs leave to those they start, holds
// nothing up, and it is said that it was left alone.
func TestSilentPipe(t *testing.T) {
	t.Parallel()
	dir := project(t)
	silent, keep := io.Pipe()
	t.Cleanup(func() { _ = keep.Close() })
	_, stderr, code := run(t, dir, silent, "item", "create", "One")
	if code != app.OK || !strings.Contains(stderr, "no text arrived on standard input") {
		t.Errorf("ended with %d: %s", code, stderr)
	}
	if _, stderr, code = run(t, dir, silent, "item", "update", "1", "--status", "done"); code != app.OK {
		t.Errorf("ended with %d: %s", code, stderr)
	}
}

// A comment without a text waits for one, as long as it takes.
func TestSlowPipe(t *testing.T) {
	t.Parallel()
	dir := project(t)
	if _, stderr, code := run(t, dir, strings.NewReader(""), "item", "create", "One"); code != app.OK {
		t.Fatal(stderr)
	}
	slow, w := io.Pipe()
	time.AfterFunc(1200*time.Millisecond, func() {
		_, _ = io.WriteString(w, "at ")
		_, _ = io.WriteString(w, "last\n")
		_ = w.Close()
	})
	stdout, stderr, code := run(t, dir, slow, "item", "comment", "1")
	if code != app.OK || !strings.HasSuffix(stdout, "\tat last\n") {
		t.Errorf("ended with %d: %s%s", code, stdout, stderr)
	}
}

func TestTooMuchText(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for _, args := range [][]string{{"item", "create", "One"}, {"item", "create", "One", "--description", "-"}} {
		_, stderr, code := run(t, dir, strings.NewReader(strings.Repeat("x", 10<<20)), args...)
		if code != app.Failed || !strings.Contains(stderr, "more than the 1048576 (1 MiB) allowed") {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
}
