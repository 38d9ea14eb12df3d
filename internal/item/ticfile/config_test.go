package ticfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

func parseConfig(t *testing.T, text string) *ticfile.Config {
	t.Helper()
	c, err := ticfile.ParseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewConfig(t *testing.T) {
	t.Parallel()
	c := parseConfig(t, ticfile.NewConfig)
	diff(t, "values", item.Config{
		Types:            []string{"epic", "issue", "task"},
		Statuses:         []string{"backlog", "todo", "in-progress", "review", "done"},
		Iterations:       []string{"default"},
		CurrentIteration: "default",
		NextID:           1,
	}, c.Values())
	diff(t, "next id", item.ID(1), c.NextID())
	diff(t, "text", ticfile.NewConfig, c.Text())
}

func TestConfigIsEditedInPlace(t *testing.T) {
	t.Parallel()
	const source = "\ufeff# ours\r\nnext_id: 7 # counts\r\ntypes: [task] # few\r\nstatuses:\r\n- open\r\n- closed\r\n\r\n" +
		"iterations:\r\n    - one # first\r\n\r\ncurrent_iteration: 'one'\r\njira:\r\n  site: x # y\r\n"
	c := parseConfig(t, source)
	for range 2 { // the second time changes nothing
		err := errors.Join(c.SetNextID(8), c.AddIteration("a: b"), c.AddIteration("one"), c.SetCurrentIteration("a: b"))
		if err != nil {
			t.Fatal(err)
		}
	}
	want := strings.NewReplacer("7 #", "8 #", "first\r\n", "first\r\n    - \"a: b\"\r\n", "'one'", `"a: b"`).Replace(source)
	diff(t, "text", want, c.Text())
	changed := parseConfig(t, c.Text())
	diff(t, "values", c.Values(), changed.Values())
	diff(t, "next id", item.ID(8), changed.NextID())
}

func TestSmallConfig(t *testing.T) {
	t.Parallel()
	c := parseConfig(t, "types: [a]\nstatuses: [b]")
	diff(t, "values", item.Config{Types: []string{"a"}, Statuses: []string{"b"}}, c.Values())
	if err := errors.Join(c.SetNextID(2), c.AddIteration("x"), c.SetCurrentIteration("x")); err != nil {
		t.Fatal(err)
	}
	diff(t, "text", "types: [a]\nstatuses: [b]\nnext_id: 2\niterations:\n  - x\ncurrent_iteration: x\n", c.Text())
}

// No change makes a configuration that cannot be read.
func TestListsStayReadable(t *testing.T) {
	t.Parallel()
	text := "types:\n  - a\nstatuses:\n  - b\niterations:" + strings.Repeat("\n  - b", 10_000)
	c, err := ticfile.ParseConfig(text + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticfile.ParseConfig(text + "\n  - b\n"); err == nil || err.Error() != "has too many iterations; at most 10000, with 1024 KiB together, are allowed" {
		t.Errorf("one more iteration: %v", err)
	}
	if _, refused := errors.AsType[*item.InvalidError](c.AddIteration("one more")); !refused || len(c.Values().Iterations) != 10_000 {
		t.Errorf("another iteration is added: %d", len(c.Values().Iterations))
	}
	merged := c.Values()
	merged.Types = make([]string, 1001)
	if err := c.SetValues(merged); err == nil {
		t.Error("a merge makes 1,001 types")
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	const good = "types: [a]\nstatuses: [b]\n"
	for text, want := range map[string]string{
		"":                           "is empty; restore it, or remove it and initialize the project again",
		"\ufeff \n":                  "is empty; restore it, or remove it and initialize the project again",
		"# nothing":                  "is not the configuration of a tic project: it has no types",
		"hello":                      "is not usable YAML: it is not a mapping; write lines `key: value`; correct it",
		"a: [":                       "is not usable YAML: line 1: sequence end token ']' not found; correct it",
		"next_id: 1\nversion: 3":     "is not the configuration of a tic project: it has no types",
		"types: [a]\n":               "is not the configuration of a tic project: it has no statuses",
		"types: a\nstatuses: [b]\n":  "has a types that is not a list of strings",
		"types: []\nstatuses: [b]\n": "is not the configuration of a tic project: it has no types",
		good + "backend: github\n":   `has the backend "github", and copse reads only "local"; to use copse instead of that backend, set "backend: local"`,
		good + "next_id: x\n":        "has a next_id that is not a whole number up to 9007199254740992",
		good + "next_id: -1\n":       "has a next_id that is not a whole number up to 9007199254740992",
		good + "next_id: 1e3\n":      "has a next_id that is not a whole number up to 9007199254740992",
		good + "backend: [x]\n":      "has a backend that is not text",
		good + "done_statuses: [" + strings.Repeat("b,", 1001) + "]":                               "has too many done_statuses; at most 1000, with 64 KiB together, are allowed",
		"types:" + strings.Repeat("\n  - "+strings.Repeat("a", 100), 700) + "\nstatuses:\n  - b\n": "has too many types; at most 1000, with 64 KiB together, are allowed",
		"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n":                                                    "has merge conflict markers; run `copse item doctor --repair`",
	} {
		if _, err := ticfile.ParseConfig(text); err == nil || err.Error() != want {
			t.Errorf("%q gives %v, want %s", text, err, want)
		}
	}
}

func TestMergeConfig(t *testing.T) {
	t.Parallel()
	const conflict = `backend: local
types:
  - task
statuses:
  - open
<<<<<<< HEAD
  - done
current_iteration: one
iterations:
  - one
next_id: 7
=======
  - tested
  - done
current_iteration: two
iterations:
  - one
  - two
next_id: 9
>>>>>>> other
custom: kept # so
`
	c, err := ticfile.MergeConfig(conflict)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "text", `backend: local
types:
  - task
statuses:
  - open
  - tested
  - done
current_iteration: one
iterations:
  - one
  - two
next_id: 9
custom: kept # so
`, c.Text())
	if _, err := ticfile.MergeConfig("types: [a]\nstatuses: [b]\n"); !errors.Is(err, ticfile.ErrConflict) {
		t.Errorf("without a conflict: %v", err)
	}
}
