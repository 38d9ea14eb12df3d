package quotation_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/recipe/quotation"
)

// checked has one line of one file.
type checked struct{}

func (checked) Line(file, number, text string) (known, same bool) {
	return file == "a.just" || filepath.IsAbs(file), file == "a.just" && number == "3" && text == "known"
}

// written returns what passes of an output that comes in parts of n bytes.
func written(t *testing.T, output string, n int) string {
	t.Helper()
	var out bytes.Buffer
	w := quotation.New(&out, checked{}, true)
	for rest := []byte(output); len(rest) > 0; rest = rest[min(n, len(rest)):] {
		if _, err := w.Write(rest[:min(n, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const (
	omitted = "error: just cannot use line 3 of a.just. copse omits the message, because it has not checked that line: the file has just changed, or a recipe has started just for another one\n"
	unread  = ": copse omits the line that just cannot read\n"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	const known = "error: a mistake\n ——▶ a.just:3:1\n  │\n3 │ known\n  │ ^\n"
	for output, want := range map[string]string{
		"":                      "",
		"hi\nerror: no\n":       "hi\nerror: no\n",
		"error: no":             "error: no",
		"erro":                  "erro",
		"error: a\nb\nc":        "error: a\nb\nc",
		known:                   known,
		known + "error: more\n": known + "error: more\n",
		"error: a mistake `s3cret`\n ——▶ a.just:3:1\n  │\n3 │ s3cret\n  │ ^^^\n":              omitted,
		"error: a `s3cret`\nand more s3cret\n ——▶ a.just:3:1\n  │\n3 │ s3cret\n  │ ^^^\n":     omitted,
		"error: a mistake `s3cret`\n ——▶ a.just:3:1\n":                                        omitted,
		"error: a mistake `s3cret`\n ——▶ a.just:3:1\ns3cret":                                  omitted,
		"error: a mistake `s3cret`\n ——▶ a.just:3:1\n  │\n3 │ s3c":                            omitted,
		"error: a mistake `s3cret`\n ——▶ a.just:3:1\n  │\n4 │ s3cret\n":                       omitted,
		"error: a mistake `s3cret`\n --> a.just:3:1\n  |\n3 | s3cret\n  | ^\n":                omitted,
		"error: a `s3cret`\n ——▶ a.just:3:1\n  │\n3 │ s3cret\n  │ ^\nerror: a pattern s3cret": omitted,
		"error: 1\n2\n3\n4\n5\n6\n ——▶ a.just:3:1\n  │\n3 │ x\n":                              "error: 1\n2\n3\n4\n5\n6\n ——▶ a.just:3:1\n  │\n3 │ x\n",

		"error: failed to load environment file from `/p/.env`: Error parsing line: 's3cret', error at line index: 3\n":      "error: failed to load environment file from `/p/.env`" + unread,
		"error: Failed to load environment file: Error parsing line: 's3cret', error at line index: 3\n":                     "error: Failed to load environment file" + unread,
		"a\nzerror: failed to load environment file from `/p`: Error parsing line: 's3\ncret', error at line index: 7\nmore": "a\nzerror: failed to load environment file from `/p`" + unread + "more",
		"error: other\nerror: failed to load environment file from `/p/.env`: Error parsing line: 's3cret":                   "error: other\nerror: failed to load environment file from `/p/.env`" + unread,
		"error: failed to load environment file from `/p/.env`: it is missing\nmore":                                         "error: failed to load environment file from `/p/.env`: it is missing\nmore",
		"error: failed to load environment file from `/p/.env":                                                               "error: failed to load environment file from `/p/.env",
		"error: failed to load":                          "error: failed to load",
		"Failed to load environment file, no defaults\n": "Failed to load environment file, no defaults\n",

		// a compiler, a table, and another just
		"error: expected one of\n --> src/main.rs:3:1\n  |\n3 | fn\n  | ^\n\nEXIT 1\n": "error: expected one of\n --> src/main.rs:3:1\n  |\n3 | fn\n  | ^\n\nEXIT 1\n",
		"error: x\n| a | b |\n12 | foo()\n":                                            "error: x\n| a | b |\n12 | foo()\n",
		"error: x\n ——▶ sub/a.just:3:1\n  │\n3 │ own\n":                                "error: x\n ——▶ sub/a.just:3:1\n  │\n3 │ own\n",
	} {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			if got := written(t, output, n); got != want {
				t.Errorf("%q, in parts of %d bytes:\n%s\nnot\n%s", output, n, got, want)
			}
		}
	}
}

// An output without an error passes at once.
func TestPasses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := quotation.New(&out, checked{}, true)
	for _, part := range []string{"Name? ", "error: x\n", "50 %\r", "100 %", "\n", "e2\n", "go"} {
		_, _ = w.Write([]byte(part))
		if !strings.HasSuffix(out.String(), part) {
			t.Errorf("%q has not passed: %q", part, out.String())
		}
	}
}

// A line that never ends is not held.
func TestLongLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := quotation.New(&out, checked{}, true)
	const size = 10 << 20
	_, _ = w.Write([]byte("error: " + strings.Repeat("x", size)))
	_, _ = w.Write([]byte("y"))
	_ = w.Flush()
	if out.Len() != size+len("error: ")+1 {
		t.Errorf("%d bytes", out.Len())
	}
}

// The rest of a quoted line without an end is omitted, too.
func TestLongQuotation(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1000, 64 << 10, 1 << 20} {
		if got := written(t, "error: x\n ——▶ a.just:3:1\n  │\n3 │ "+strings.Repeat("s3cret ", 30_000)+"\n  │ ^\n", n); got != omitted {
			t.Errorf("in parts of %d bytes: %.300q", n, got)
		}
	}
}

// Without files with variables, nothing is an error about one.
func TestNoVariables(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := quotation.New(&out, checked{}, false)
	const text = "x: failed to load environment file from `a`: it is missing\nmore"
	_, _ = w.Write([]byte(text))
	if out.String() != text {
		t.Errorf("%q", out.String())
	}
}

// What looks like the beginning of an error does not wait for its rest.
func TestHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := quotation.New(&out, checked{}, false)
		_, _ = w.Write([]byte("error: port 80 is in use\nwait"))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := out.String(); got != "error: port 80 is in use\nwait" {
			t.Errorf("%q", got)
		}
		_, _ = w.Write([]byte("ing\n"))
		_ = w.Flush()
		if got := out.String(); got != "error: port 80 is in use\nwaiting\n" {
			t.Errorf("%q", got)
		}
	})
}

// A position with lines that surround a quotation, and never one, is not held.
func TestNoQuotation(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := quotation.New(&out, checked{}, true)
	_, _ = w.Write([]byte("error: x\n ——▶ a.just:3:1\n" + strings.Repeat("  │\n", 100)))
	if got := out.String(); got != omitted {
		t.Errorf("%q", got)
	}
}

// The output does not depend on the parts in which it comes, and nothing is lost of one without an error.
func FuzzWriter(f *testing.F) {
	f.Add("error: a\n ——▶ a.just:3:1\n  │\n3 │ s3cret\n  │ ^\nmore", 3)
	f.Add("x\nerror: failed to load environment file from `e`: Error parsing line: 'a\nb', error at line index: 2\n", 5)
	f.Fuzz(func(t *testing.T, output string, n int) {
		whole := written(t, output, 1<<20)
		if parts := written(t, output, 1+n&0xff); parts != whole {
			t.Errorf("%q in parts is %q, not %q", output, parts, whole)
		}
		if !strings.Contains(output, "error: ") && !strings.Contains(output, "ailed to load environment file") && whole != output {
			t.Errorf("%q became %q", output, whole)
		}
	})
}
