package yamlmap_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/copse-dev/copse/internal/item/yamlmap"
	"github.com/copse-dev/copse/internal/test/need"
)

// written is a mapping that version 2.8.2 of the yaml package of npm wrote, with
// what that package reads back from it.
type written struct {
	YAML, Title, Status, Iteration, Assignee string
	Labels                                   []string
}

// check reports what is read differently here.
func (w written) check(t *testing.T) {
	t.Helper()
	m, err := yamlmap.Parse(w.YAML)
	if err != nil {
		t.Errorf("%q: %v", w.YAML, err)
		return
	}
	w.compare(t, m, w.Assignee)
	// A change of one value leaves the others as they are.
	if err := m.SetText("assignee", "ada"); err != nil {
		t.Errorf("%q: %v", w.YAML, err)
	}
	w.compare(t, m, "ada")
}

func (w written) compare(t *testing.T, m *yamlmap.Map, assignee string) {
	t.Helper()
	for key, want := range map[string]string{"title": w.Title, "status": w.Status, "iteration": w.Iteration, "assignee": assignee} {
		if got := m.Get(key).Text; got != want {
			t.Errorf("%q: %s is read as %q, want %q", m.Text(), key, got, want)
		}
	}
	if got := m.Get("labels").Items; !slices.Equal(got, w.Labels) {
		t.Errorf("%q: the labels are read as %q, want %q", m.Text(), got, w.Labels)
	}
}

func checkAll(t *testing.T, data []byte) {
	t.Helper()
	var all []written
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("nothing to check")
	}
	for _, w := range all {
		w.check(t)
	}
}

// npm-hostile.json is what testdata/hostile.mjs writes.
func TestHostileVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/npm-hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, data)
}

// Everything that the original's YAML library writes is read as that library reads
// it.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs(filepath.Join("..", "..", "test", "clients", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if !need.Present(filepath.Join(modules, "yaml", "dist", "index.js")) {
		need.Skip(t, "the YAML library of the original is not installed; run npm ci in internal/test/clients")
	}
	const seeds, files = 4, 3000
	for seed := range seeds {
		cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "node", "bin", "node"),
			filepath.Join("testdata", "hostile.mjs"), modules, strconv.Itoa(seed+1), strconv.Itoa(files))
		cmd.Stderr = os.Stderr
		data, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		checkAll(t, data)
	}
}

func TestBlockScalars(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"tab first":            {"k: |-\n  \ttab\n  next\n", "\ttab\nnext"},
		"clipped":              {"k: |\n  a\n\n\nb: 1\n", "a\n"},
		"kept":                 {"k: |+\n  a\n\n\nb: 1\n", "a\n\n\n"},
		"blank line first":     {"k: |-\n  \n  \ttab\n", "\n\ttab"},
		"indent given":         {"k: |2-\n   a\n  b\n", " a\nb"},
		"chomping first":       {"k: |-2\n   a\n", " a"},
		"comment on the line":  {"k: | # why\n  a # text\n", "a # text\n"},
		"comment behind":       {"k: |-\n  a\n# why\nb: 1\n", "a"},
		"indented comment":     {"k: |-\n   a\n  # why\nb: 1\n", "a"},
		"nothing":              {"k: |\nb: 1\n", ""},
		"only breaks":          {"k: |+\n\n\nb: 1\n", "\n\n"},
		"folded":               {"k: >-\n  a\n  b\n\n  c\n", "a b\nc"},
		"folded around spaces": {"k: >-\n  a\n\n    b\n\n  c\n", "a\n\n  b\n\nc"},
		"looks like a list":    {"k: |-\n  - a\nb: 1\n", "- a"},
		"looks like a key":     {"k: |-\n  b: 2\nb: 1\n", "b: 2"},
		"CRLF":                 {"k: |-\r\n  a\r\n  b\r\n", "a\nb"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := parse(t, test.text).Get("k"); got.Kind != yamlmap.Scalar || got.Text != test.want {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
	for _, bad := range []string{"k: |0\n  a\n", "k: |x\n  a\n", "k: |-\n    a\n  b\n"} {
		if m, err := yamlmap.Parse(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, m.Get("k"))
		}
	}
}
