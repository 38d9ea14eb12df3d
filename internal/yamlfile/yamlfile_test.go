package yamlfile_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/yamlfile"
)

// bomb returns a short text with nested aliases, each level of which has the one before
// it width times.
func bomb(levels, width int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 lol\n")
	for i := range levels {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), width), ","))
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "[]",
		"# nothing":                             "[]",
		"a: 1\nb: [x, 2]\n":                     "[{a 1} {b [x 2]}]",
		"a: &x {y: 1}\nb: *x\n":                 "[{a [{y 1}]} {b [{y 1}]}]",
		"a: &x {y: 1}\nb: {<<: *x}\n":           "[{a [{y 1}]} {b [{y 1}]}]",
		"[1":                                    "line 1: sequence end token ']' not found",
		"a\nb":                                  "line 1: expected a mapping, got text",
		"a: *x":                                 `line 1: could not find alias "x"`,
		"a: &a [*a]":                            "line 1: the alias *a is a part of its own value",
		"a: &a\n  <<: *a":                       "line 2: the alias *a is a part of its own value",
		strings.Repeat("[", 101):                "it nests more than 100 collections",
		strings.Repeat("- ", 120) + "x":         "line 1: it nests more than 100 collections",
		strings.Repeat("{a: ", 120) + "x":       "it nests more than 100 collections",
		strings.Repeat("x", yamlfile.MaxSize+1): "it has 16385 bytes; the limit is 16384",
		bomb(7, 9):                              "line 6: its aliases expand to more than 65536 bytes; write the values out, or use fewer",
		bomb(12, 2) + "b: &b [*a12, *a12, *a12, *a12, *a12]":                              "line 14: its aliases expand to more than 65536 bytes; write the values out, or use fewer",
		"x: &x " + strings.Repeat("y", 8000) + "\nl: [" + strings.Repeat("*x, ", 9) + "]": "line 2: its aliases expand to more than 65536 bytes; write the values out, or use fewer",
	} {
		v, err := yamlfile.Decode[yaml.MapSlice]([]byte(text))
		got := fmt.Sprint(v)
		if err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*yamlfile.Error](err); !ok {
				t.Errorf("%q: the error is a %T", text, err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60q: %s", text, diff)
		}
	}
}

// Nothing that a text can say takes much memory.
func TestMemory(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const most = 200 << 20 // of garbage and all, for a text at the limit of size
	for name, text := range map[string]string{
		"7 levels": bomb(7, 9), "12 levels": bomb(12, 9), "30 levels": bomb(30, 9), "wide": bomb(2, 1500), "deep": strings.Repeat("- ", yamlfile.MaxSize/2),
		"anchors": strings.Repeat("&a ", yamlfile.MaxSize/3), "merges": "a: &a {b: 1}\n" + strings.Repeat("c: {<<: [*a, *a, *a]}\n", 100), "keys": strings.Repeat("? ", yamlfile.MaxSize/2),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = yamlfile.Decode[struct {
			A12 any `yaml:"a12"`
			A7  any `yaml:"a7"`
			C   any `yaml:"c"`
		}]([]byte(text))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: %d MB were allocated for %d bytes", name, got>>20, len(text))
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	const text = `a: {b: 1, c: {d: 2}}
x: &x
  e: 1
f:
  <<: [*x, {g: 1}]
h: *x
i: [{no: 1}]
`
	found, err := yamlfile.Keys([]byte(text), func(path []string) bool { return strings.Join(path, ".") != "a.c" && path[0] != "x" })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range found {
		got = append(got, fmt.Sprint(k.Line, " ", strings.Join(k.Path, ".")))
	}
	want := []string{"1 a", "1 a.b", "1 a.c", "2 x", "4 f", "3 f.e", "5 f.g", "6 h", "3 h.e", "7 i"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever a text is, it decodes or is an error, and so it is for its keys.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "a: 1", "a: &a [*a]", bomb(3, 3), "? a\n: b", "--- a\n--- b", "a: !!int x", "{", "- - - a", "a: |\n  b", "<<: *x", "\x00", "&a : *a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := yamlfile.Decode[any]([]byte(text))
		if err == nil && len(fmt.Sprint(v)) > 20*yamlfile.MaxExpanded {
			t.Errorf("%q decodes to %d bytes", text, len(fmt.Sprint(v)))
		}
		_, keysErr := yamlfile.Keys([]byte(text), func([]string) bool { return true })
		if err == nil && keysErr != nil {
			t.Errorf("%q decodes, and has no keys: %v", text, keysErr)
		}
	})
}
