package capture_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/secret"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcde\n", 10_000)
	for _, size := range []int{1, 7, 1000, 16 << 10, 50_000, len(long)} {
		var o capture.Output
		for rest := long; rest != ""; {
			n := min(size, len(rest))
			if _, err := io.WriteString(&o, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		text, cut := o.Text()
		head, tail, found := strings.Cut(text, fmt.Sprintf("\n… %d bytes left out …\n", cut))
		if !found || !strings.HasPrefix(long, head) || !strings.HasSuffix(long, tail) || len(head)+1+len(tail)+int(cut) != len(long) || len(text) < 30_000 {
			t.Errorf("written %d bytes at a time: %d bytes, %d left out, %.50q", size, len(text), cut, text)
		}
		if last := o.LastLine(100); last != "0123456789abcde" {
			t.Errorf("the last line is %q", last)
		}
	}
	for in, want := range map[string]string{
		"":                         "",
		"a":                        "a",
		"10%\r20%\r100%\ndone\r\n": "100%\ndone\n",
		"\x1b[31mred\x1b[0m\x07":   "red",
		"\xff\xfe\x00bin":          "\ufffdbin",
		"a\u202eb":                 "ab",
	} {
		var o capture.Output
		_, _ = io.WriteString(&o, in)
		if got, cut := o.Text(); got != want || cut != 0 {
			t.Errorf("%q is shown as %q, %d", in, got, cut)
		}
	}
}

// A gigabyte costs no memory.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	var o capture.Output
	chunk := bytes.Repeat([]byte{0xff}, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1024 {
		_, _ = o.Write(chunk)
	}
	runtime.ReadMemStats(&after)
	if text, cut := o.Text(); len(text) > 2*capture.MaxOutput || cut < 1<<30-capture.MaxOutput {
		t.Errorf("%d bytes, %d left out", len(text), cut)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// Wherever an output is cut, the part of a secret that is left is recognized.
func TestCutsHideHalfOfASecret(t *testing.T) {
	t.Parallel()
	const password = "hunter2-ünd-correct-horse-battery"
	var secrets secret.Set
	secrets.Add(password)
	reveals := func(text string) bool {
		text = secrets.Redact(text)
		for i := range len(password) - 8 {
			if strings.Contains(text, password[i:i+9]) {
				return true
			}
		}
		return false
	}
	lines := strings.Repeat("line\n", 20)
	for at := range len(password) {
		for name, output := range map[string]string{
			"the last line":             strings.Repeat("a", 50) + password + strings.Repeat("b", 4096-at),
			"the last line of many":     strings.Repeat("a", 40<<10) + password + strings.Repeat("b", 4096-at),
			"a line without its end":    "a " + password[:at],
			"the beginning":             strings.Repeat("a", capture.MaxOutput/2-at) + password + strings.Repeat("b", capture.MaxOutput),
			"the end":                   strings.Repeat("a", capture.MaxOutput) + password + strings.Repeat("b", capture.MaxOutput/2-at),
			"a smaller part":            strings.Repeat("a", 500-at) + password + strings.Repeat("b", 2000),
			"an error after a progress": lines + strings.Repeat("#", 2040-at) + "\rerror: " + password + "\n",
			"a colored error":           lines + strings.Repeat("\x1b[31m", 400) + "error: " + strings.Repeat(".", 41-at) + password + "\n",
		} {
			var o capture.Output
			_, _ = io.WriteString(&o, output)
			all, _ := o.Text()
			some, _ := o.TextOf(1000)
			if name == "a line without its end" {
				all, some = "", "" // only a line of progress continues
			}
			for _, text := range append([]string{all, some, o.LastLine(200)}, o.Reasons(secrets.Redact)...) {
				if reveals(text) {
					t.Errorf("%s, cut at %d: %.300q", name, at, text)
				}
			}
		}
	}
}

// A task that is stopped in the middle of a secret leaves no beginning of it, whatever follows.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	const password = "hunter2-ünd-correct-horse"
	var secrets secret.Set
	secrets.Add(password)
	for at := range len(password) {
		for i, after := range []string{"", "error: recipe `x` was terminated\n", "", "", "", "more"} {
			open := []string{"", "", "\x1b]8;;http", "\x1bP1\x1b", "\u009f", "\x1b]0;"}[i]
			var o capture.Output
			_, _ = io.WriteString(&o, strings.Repeat("line\n", 20)+"error: "+password[:at]+open)
			running, _ := o.Text()
			o.Interrupt()
			o.Interrupt()
			_, _ = io.WriteString(&o, after)
			text, _ := o.Text()
			for _, text := range append([]string{text, o.LastLine(200), running + "…"}, o.Reasons(secrets.Redact)...) {
				if text = secrets.Redact(text); strings.Contains(text, password[:9]) || strings.Contains(text, "……") {
					t.Errorf("cut at %d before %q: %q", at, open, text)
				}
			}
		}
	}
	var o capture.Output
	_, _ = io.WriteString(&o, "done\n")
	o.Interrupt()
	if text, _ := o.Text(); text != "done\n" {
		t.Errorf("a complete line: %q", text)
	}
}

// A task that ends in the middle of a secret by itself leaves no beginning of it, and no other output changes.
func TestEnd(t *testing.T) {
	t.Parallel()
	const password = "hunter2-ünd-correct-horse"
	var secrets secret.Set
	secrets.Add(password)
	const failed = "error: recipe `x` failed on line 1 with exit code 1\n"
	for _, before := range []string{"", "line\n", strings.Repeat("line\n", 20), strings.Repeat("line\n", capture.MaxOutput/4)} {
		for _, after := range []string{
			"", failed, "\x1b]8;;http", "\x1b]0;x" + failed, "\x1bc" + failed, "\x1b#8", "\u009d0;x\u009c" + failed, "\x1bP" + strings.Repeat("q", 3000) + "\x1b\\", "error: Recipe `y` was terminated on line 1 by signal 9\n" + failed, "\x1b[1;31merror\x1b[0m: \x1b[1mRecipe `x` failed\x1b[0m\n" + failed,
		} {
			for at := range len(password) + 1 {
				var o capture.Output
				_, _ = io.WriteString(&o, before+"error: "+password[:at]+after)
				o.End(secrets.Redact)
				o.End(secrets.Redact)
				text, _ := o.Text()
				for _, text := range append([]string{text, o.LastLine(200)}, o.Reasons(secrets.Redact)...) {
					if text = secrets.Redact(text); strings.Contains(text, password[:9]) || strings.Contains(text, "……") {
						t.Errorf("cut at %d of %d before %q: %.300q", at, len(before), after, text)
					}
				}
			}
			var marked, plain capture.Output
			for _, o := range []*capture.Output{&marked, &plain} {
				_, _ = io.WriteString(o, before+"hunter"+after)
			}
			marked.End(secrets.Redact)
			got, cut := marked.Text()
			if want, left := plain.Text(); got != want || cut != left {
				t.Errorf("without a secret: %.200q, %d, want %.200q, %d", got, cut, want, left)
			}
		}
	}
}

// The end of a long line begins within an escape sequence in the middle of a secret.
func TestCutInSequence(t *testing.T) {
	t.Parallel()
	const password = "ghp_Zk9fjQ2mVx7LpT4wRb8NcY1dHs6KuE3gJa5K"
	var secrets secret.Set
	secrets.Add(password)
	for _, sequence := range []string{"\x1b]8;;https://example.com/a/page\x07", "\x1b]0;title\x1b\\", "\x1bP1;2|abc\u009c", "\x1b[38;2;255;0;0;48;2;0;0;255m", "\u009b38;5;255m", "\x1bPq" + strings.Repeat("#0~-", 2000) + "\x1b\\"} {
		for _, at := range []int{1, 20} {
			for cut := 0; cut < len(sequence); cut += 1 + len(sequence)/100 {
				var o capture.Output
				_, _ = io.WriteString(&o, strings.Repeat("y", capture.MaxOutput))
				after := sequence[cut:] + password[at:]
				_, _ = io.WriteString(&o, password[:at]+sequence[:cut]+after+strings.Repeat(" ", capture.MaxOutput/2-len(after)))
				text, _ := o.Text()
				if text = secrets.Redact(text); strings.Contains(text, password[at+8:]) {
					t.Errorf("%q cut at %d: %q", sequence, cut, strings.Trim(text, "y "))
				}
			}
		}
	}
}
