package capture_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/recipe/capture"
)

func asIs(text string) string { return text }

// The lines that explain a failure are found wherever they are in an output, in whatever
// pieces it comes, and also where only its beginning and its end are kept.
func TestReasons(t *testing.T) {
	t.Parallel()
	noise := func(lines int) string { return strings.Repeat("compiling something unimportant\n", lines) }
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"short":       {"a\nerror: broken\n", nil},
		"none":        {noise(100), nil},
		"the middle":  {noise(5000) + "\x1b[31m--- FAIL: TestLogin\x1b[0m\n" + noise(5000), []string{"--- FAIL: TestLogin"}},
		"the end":     {noise(300_000) + "main.go:3:1: undefined: x\nerror: it failed", []string{"main.go:3:1: undefined: x", "error: it failed"}},
		"once":        {noise(20) + strings.Repeat("error: again\n", 50), []string{"error: again"}},
		"a long line": {noise(20) + "error: " + strings.Repeat("x", 1<<20), []string{"error: " + strings.Repeat("x", 292) + "…"}},
	} {
		for _, size := range []int{13, 4096, 1 << 30} {
			var o capture.Output
			for rest := c.output; rest != ""; {
				n := min(size, len(rest))
				_, _ = io.WriteString(&o, rest[:n])
				rest = rest[n:]
			}
			if diff := cmp.Diff(c.want, o.Reasons(asIs)); diff != "" {
				t.Errorf("%s, %d bytes at a time: %s", name, size, diff)
			}
		}
	}
}

// The first mistakes and the last ones are shown, and no half of a secret.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	var o capture.Output
	for i := range 1000 {
		fmt.Fprintf(&o, "error: number %d\n", i)
	}
	got := o.Reasons(asIs)
	if len(got) != 12 || got[0] != "error: number 0" || got[9] != "error: number 9" || got[11] != "error: number 999" {
		t.Errorf("got %q", got)
	}
	var p capture.Output
	_, _ = io.WriteString(&p, strings.Repeat("line\n", 20)+"error: "+strings.Repeat("x", 280)+" password=hunter2hunter2\n")
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter2hunter2", "***") }
	if got := p.Reasons(hide); len(got) != 1 || strings.Contains(got[0], "hunt") {
		t.Errorf("got %q", got)
	}
}

// Each way in which programs report a mistake is found.
func TestReasonsKinds(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"fatal: not a git repository", "panic: nil map", "go: fatal error: out of memory", "Uncaught TypeError", "Unhandled rejection",
		"Traceback (most recent call last):", "Segmentation fault (core dumped)", "Exception in thread main", "ld: error: no symbol",
		"error[E0382]: borrow of moved value", "Failure: 3 examples", "failed: exit 2", "  ERROR here", "sh: command not found",
		"cat: No such file or directory", "bash: permission denied", "--- FAIL: TestX", "FAIL  pkg", "FAILED tests/a.py", "not ok 3 - x",
		"E   assert 1 == 2", "✗ logs in", "× logs in", "● logs in", "KeyError: 'a'", "java.lang.IllegalStateException", "src/a.go:3:4: bad",
	} {
		var o capture.Output
		_, _ = io.WriteString(&o, strings.Repeat("all is well\n", 20)+line+"\n")
		if got := o.Reasons(asIs); len(got) != 1 || got[0] != line {
			t.Errorf("%q: got %q", line, got)
		}
	}
}
