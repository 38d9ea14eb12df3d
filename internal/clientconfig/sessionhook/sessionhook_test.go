package sessionhook_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/clientconfig/sessionhook"
)

// Hooks are added beside others, follow the program when it moves, and are taken out again.
func TestHooks(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"claude-code", "codex", "gemini", "copilot"} {
		h, err := sessionhook.For(id, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []string{
			"", "{}\n", "{\n  \"model\": \"x\" // mine\n}\n",
			"{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ],\n    \"sessionStart\": [{\"bash\": \"mine\"}]\n  }\n}\n",
		} {
			set, err := h.Set([]byte(before), `"/old path/copse" mcp hook --client `+id)
			if err != nil {
				t.Fatal(id, err)
			}
			if !strings.Contains(string(set), "mcp hook --client "+id) || strings.Count(string(set), "mine") != strings.Count(before, "mine") {
				t.Errorf("%s: %q became %s", id, before, set)
			}
			if again, err := h.Set(set, `"/old path/copse" mcp hook --client `+id); err != nil || string(again) != string(set) {
				t.Errorf("%s: not the same twice: %v\n%s", id, err, again)
			}
			changed := strings.Replace(string(set), "10", "20", 1) // a person gives it more time
			moved, err := h.Set([]byte(changed), "/new/copse mcp hook --client "+id)
			if err != nil || strings.Contains(string(moved), "/old") || !strings.Contains(string(moved), "20") || strings.Count(string(moved), "mcp hook") != strings.Count(string(set), "mcp hook") {
				t.Errorf("%s: moved: %v\n%s", id, err, moved)
			}
			removed, err := h.Remove(moved)
			want := normal([]byte(before))
			if want == "" {
				want = "{}"
			}
			if err != nil || id != "copilot" && normal(removed) != want {
				t.Errorf("%s: %q became %q, %v", id, before, removed, err)
			}
			if again, err := h.Remove([]byte(before)); err != nil || string(again) != before {
				t.Errorf("%s: without hooks: %q became %q, %v", id, before, again, err)
			}
		}
	}
	if _, err := sessionhook.For("zed", "Zed"); err == nil || !strings.Contains(err.Error(), "claude-code, codex, gemini, or copilot") {
		t.Errorf("got %v", err)
	}
	h, err := sessionhook.For("copilot", "Copilot CLI")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Path(clientfile.Project, clientfile.Location{Dir: "/p"}); err == nil || !strings.Contains(err.Error(), "--client claude-code --scope project") {
		t.Errorf("got %v", err)
	}
}

// normal returns a text without the spaces and commas at line ends, which an editor may add.
func normal(text []byte) string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, " ,\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(lines, "\n"), "{\n}", "{}"), ",", "")
}
