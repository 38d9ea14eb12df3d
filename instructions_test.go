package copse_test

import (
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// maxInstructions is how many characters of its instructions Claude Code shows a model at
// most, with room to spare.
const maxInstructions = 2500

// The instructions name tools that are served, and no others, whatever is left out.
func TestInstructionsNameServedTools(t *testing.T) {
	t.Parallel()
	all := toolsets(t)
	known := make(map[string]*regexp.Regexp)
	for _, set := range all {
		for _, tool := range set.Tools {
			known[tool.Name] = regexp.MustCompile(`\b` + tool.Name + `\b`)
		}
	}
	for mask := range 1 << len(all) {
		for _, readOnly := range []bool{false, true} {
			var sets []toolset.Toolset
			served := make(map[string]bool)
			for i, set := range all {
				if mask&(1<<i) == 0 {
					continue
				}
				sets = append(sets, set)
				for _, tool := range set.Tools {
					served[tool.Name] = tool.Hints.ReadOnly || !readOnly
				}
			}
			text := toolset.Instructions(mcp.About, sets, readOnly)
			for name, word := range known {
				if !served[name] && word.MatchString(text) {
					t.Errorf("%s is named, which is not served (toolsets %b, read-only %t): %s", name, mask, readOnly, text)
				}
			}
			if len(text) > maxInstructions {
				t.Errorf("%d characters", len(text))
			}
		}
	}
}

// An instruction has the names of the tools that it is about, so that it can be left out.
func TestAdviceNamesItsTools(t *testing.T) {
	t.Parallel()
	for _, set := range toolsets(t) {
		if len(set.Instructions) == 0 {
			t.Errorf("the toolset %s has no advice on when to use it", set.Name)
		}
		for _, a := range set.Instructions {
			for _, tool := range set.Tools {
				if regexp.MustCompile(`\b`+tool.Name+`\b`).MatchString(a.Say) != slices.Contains(a.Tools, tool.Name) {
					t.Errorf("%s: the advice %q says otherwise than its list %q whether it is about %s", set.Name, a.Say, a.Tools, tool.Name)
				}
			}
		}
	}
}

// The first tool that the instructions name is the cheapest to call.
func TestInstructionsBegin(t *testing.T) {
	t.Parallel()
	for disabled, want := range map[string]string{
		"": "get_current_branch", "branches": "get_project_context", "branches,workspace,github,jira": "list_items",
	} {
		text := instructions(t, nil, strings.Split(disabled, ",")...)
		first, at := "", len(text)
		for _, set := range toolsets(t) {
			for _, tool := range set.Tools {
				if i := strings.Index(text, tool.Name); i >= 0 && i < at && strings.Contains(tool.Name, "_") {
					first, at = tool.Name, i
				}
			}
		}
		if first != want {
			t.Errorf("without %q the first tool is %q, not %q: %s", disabled, first, want, text)
		}
	}
}

// The instructions say which tools have no login, where that is sure.
func TestInstructionsSayWhatHasNoLogin(t *testing.T) {
	t.Parallel()
	const note = "No login for "
	for name, tt := range map[string]struct {
		env, disabled []string
		want          string
	}{
		"nothing":       {want: note + "GitHub and Jira was"},
		"a token":       {env: []string{"GH_TOKEN=x"}, want: note + "Jira was"},
		"both":          {env: []string{"GH_TOKEN=x", "JIRA_HOST=j.example.com", "JIRA_PAT=x"}},
		"a host alone":  {env: []string{"GH_TOKEN=x", "JIRA_HOST=j.example.com"}, want: note + "Jira was"},
		"neither there": {disabled: []string{"github", "jira"}},
	} {
		text := instructions(t, tt.env, tt.disabled...)
		if strings.Contains(text, note) != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// instructions returns what a server in a directory of its own tells its clients.
func instructions(t *testing.T, environ []string, disabled ...string) string {
	t.Helper()
	env := app.EmptyEnv()
	env.Dir, env.GOOS = t.TempDir(), "linux"
	env.Environ = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environ...)
	p := full.Follow(t.Context(), wiring.Options{Program: "copse", Env: env, Disabled: disabled}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() { _ = p.Close() })
	return p.Instructions(mcp.About, false)
}
