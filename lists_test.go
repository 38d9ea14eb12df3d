package copse_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// narrowScreen is a terminal of 50 columns, such as one beside an editor.
type narrowScreen struct{ bytes.Buffer }

func (*narrowScreen) Width() int { return 50 }

// lists are commands that list something, by the number of fields that their help promises of
// each line in a pipe; 0 for a tree, which is the same there.
var lists = map[string]int{
	"branch adopt --offline": 4, "branch list": 5, "branch parent": 3, "branch prune --offline": 5, "branch stack": 5, "branch status": 9, "branch trunk list": 2,
	"branch tree": 0, "conflicts": 5, "stack --offline": 15, "worktrees": 10, "search login": 5,
	"item list": 6, "item list --all": 6, "item ready": 6, "item search cookie": 6, "item tree": 0, "item log": 6, "item trash list": 5, "item iteration list": 2, "item show 2": 0,
	"item config get statuses": 1, "item doctor": 0, "prompt list": 2, "prompt search commit": 3, "prompt show git write commit-message": 0, "prompt check": 0,
	"repo list": 3, "task list": 3, "task ps": 5, "mcp doctor": 3, "init": 3,
}

// furnished returns the repository of package demo, with something to show for each list.
func furnished(t *testing.T) *demo.Demo {
	t.Helper()
	d := demo.New(t)
	for _, line := range [][]string{
		{"item", "create", "A title that is a good deal longer than the fifty columns of a terminal", "--labels", "one,two,three", "--assignee", "ada"},
		{"item", "create", "Away"}, {"item", "delete", "6", "--yes"},
		{"branch", "link", "docs/api", "--jira", "SHOP-7"},
		{"branch", "status", "--fresh"},
	} {
		d.Run(line...)
	}
	return d
}

// TestListsFitNarrowTerminals runs each list at a terminal of 50 columns and in a pipe.
func TestListsFitNarrowTerminals(t *testing.T) {
	t.Parallel()
	d := furnished(t)
	for line, fields := range lists {
		if strings.HasPrefix(line, "task") {
			if _, err := exec.LookPath("just"); err != nil {
				t.Run(line, func(t *testing.T) { need.Skip(t, "just is not installed") })
				continue
			}
		}
		run := func(out interface {
			Write(p []byte) (int, error)
			String() string
		}) string {
			env := d.Env(strings.Fields(line)...)
			env.Stdout = out
			if code := copse.Run(t.Context(), env); code != app.OK && code != app.Failed {
				t.Errorf("%s ends with %d: %v", line, code, env.Stderr)
			}
			return out.String()
		}
		for shown := range strings.Lines(run(&narrowScreen{})) {
			shown = sgr.ReplaceAllString(strings.TrimSuffix(shown, "\n"), "")
			if strings.HasPrefix(shown, "Next: ") || strings.HasPrefix(shown, "usage: ") {
				continue // a command to copy, which the terminal breaks
			}
			if n := displaywidth.String(shown); n > 50 {
				t.Errorf("%s: %d columns: %s", line, n, shown)
			}
		}
		for row := range strings.Lines(run(&bytes.Buffer{})) {
			if n := 1 + strings.Count(row, "\t"); fields > 0 && n != fields {
				t.Errorf("%s: %d fields of %d in a pipe: %q", line, n, fields, row)
			}
		}
	}
}
