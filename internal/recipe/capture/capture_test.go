package capture_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/capture"
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
