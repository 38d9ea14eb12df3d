package clientconfig_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig"
)

// Hooks are added beside others, follow the program when it moves, and are taken out again.
func TestHooks(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"claude-code", "codex", "gemini", "copilot"} {
		c := lookup(t, id)
		for _, before := range []string{
			"", "{}\n", "{\n  \"model\": \"x\" // mine\n}\n",
			"{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ],\n    \"sessionStart\": [{\"bash\": \"mine\"}]\n  }\n}\n",
		} {
			set, err := c.SetHooks([]byte(before), `"/old path/copse" mcp hook --client `+id)
			if err != nil {
				t.Fatal(id, err)
			}
			if !strings.Contains(string(set), "mcp hook --client "+id) || strings.Count(string(set), "mine") != strings.Count(before, "mine") {
				t.Errorf("%s: %q became %s", id, before, set)
			}
			if again, err := c.SetHooks(set, `"/old path/copse" mcp hook --client `+id); err != nil || string(again) != string(set) {
				t.Errorf("%s: not the same twice: %v\n%s", id, err, again)
			}
			changed := strings.Replace(string(set), "10", "20", 1) // a person gives it more time
			moved, err := c.SetHooks([]byte(changed), "/new/copse mcp hook --client "+id)
			if err != nil || strings.Contains(string(moved), "/old") || !strings.Contains(string(moved), "20") || strings.Count(string(moved), "mcp hook") != strings.Count(string(set), "mcp hook") {
				t.Errorf("%s: moved: %v\n%s", id, err, moved)
			}
			removed, err := c.RemoveHooks(moved)
			want := normal([]byte(before))
			if want == "" {
				want = "{}"
			}
			if err != nil || id != "copilot" && normal(removed) != want {
				t.Errorf("%s: %q became %q, %v", id, before, removed, err)
			}
			if again, err := c.RemoveHooks([]byte(before)); err != nil || string(again) != before {
				t.Errorf("%s: without hooks: %q became %q, %v", id, before, again, err)
			}
		}
	}
	if _, err := lookup(t, "zed").HookPath(clientconfig.User, clientconfig.Location{Home: "/h"}); err == nil || !strings.Contains(err.Error(), "claude-code, codex, gemini, or copilot") {
		t.Errorf("got %v", err)
	}
}
