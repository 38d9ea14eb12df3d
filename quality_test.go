package copse_test

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// A model chooses a tool by its name and the first sentence of its description, fills in its
// parameters by their names and descriptions, and continues after an error as its text says. These
// tests hold the tools to that.

// closest is how alike two tools may be: the cosine of the words of their names and first
// sentences, each weighted by how few tools have it. 1 is the same words.
const closest = 0.5

// TestToolsAreTold holds no two tools for alike.
func TestToolsAreTold(t *testing.T) {
	t.Parallel()
	var names []string
	var words []map[string]float64
	seen := make(map[string]float64)
	for _, set := range toolsets(t) {
		for _, tool := range set.Tools {
			first, _, _ := strings.Cut(tool.Description, ". ")
			of := make(map[string]float64)
			for _, w := range regexp.MustCompile(`[a-z]+`).FindAllString(strings.ToLower(strings.ReplaceAll(tool.Name, "_", " ")+" "+first), -1) {
				of[strings.TrimSuffix(w, "s")] = 1
			}
			for w := range of {
				seen[w]++
			}
			names, words = append(names, tool.Name), append(words, of)
		}
	}
	if len(names) != 41 {
		t.Fatalf("%d tools", len(names))
	}
	for _, of := range words {
		for w := range of {
			of[w] = math.Log(float64(len(names)) / seen[w])
		}
	}
	most, pair := 0.0, ""
	for i := range words {
		for j := range i {
			like := cosine(words[i], words[j])
			if like > most {
				most, pair = like, names[j]+" and "+names[i]
			}
			if like > closest {
				t.Errorf("%s and %s are alike: %.2f of at most %.2f", names[j], names[i], like, closest)
			}
		}
	}
	t.Logf("the closest are %s with %.2f", pair, most)
}

func cosine(a, b map[string]float64) float64 {
	var dot, na, nb float64
	for w, x := range a {
		dot += x * b[w]
		na += x * x
	}
	for _, y := range b {
		nb += y * y
	}
	return dot / math.Sqrt(na*nb)
}

// plainNames are parameters whose names say all there is to know to somebody who has read the
// tool's description.
var plainNames = []string{
	"id", "title", "description", "status", "type", "priority", "assignee", "labels", "label", "iteration", "parent", "text", "author", "name",
	"query", "cursor", "limit", "all", "path", "root", "agent", "state", "project", "options", "depends_on", "task_name",
	"depth", "max_tokens", "timeout_seconds", "arguments", "pr_number",
	"lease_minutes", "branches", "worktree",
}

// TestParametersAreTold requires each parameter to be described, here or in another tool of its
// toolset, bounded to values that tell, or plain by its name.
func TestParametersAreTold(t *testing.T) {
	t.Parallel()
	for _, set := range toolsets(t) {
		told := make(map[string]bool)
		for _, tool := range set.Tools {
			for name, p := range tool.Input().Properties {
				told[name] = told[name] || p.Description != ""
			}
		}
		for _, tool := range set.Tools {
			for name, p := range tool.Input().Properties {
				values := len(p.Enum) > 0 || p.Items != nil && len(p.Items.Enum) > 0
				if !told[name] && !values && !slices.Contains(plainNames, name) {
					t.Errorf("%s: %s (%s) is not described", tool.Name, name, p.Type)
				}
			}
		}
	}
}

// step is a text that says what is allowed or what to do.
var step = regexp.MustCompile(`(?i)(?:\b|^)(must|may|use|call|try|allowed|valid|required|takes no|restore|remove|correct|ask|pass|choose|raise|give|see|run|install|free|reload|search|add|check|needs?|name one|finds?|smaller|instead|shows?|is a whole number|its usage is|Tasks:|exit code)(?:\b|\s|$)`)

// TestErrorsNameANextStep looks at every error in the transcripts of conversations.
func TestErrorsNameANextStep(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	errors := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			said, ok := strings.CutPrefix(line, "ERROR ")
			if !ok {
				continue
			}
			errors++
			// Further blocks of an answer stand below the first.
			for _, more := range lines[i+1:] {
				if more == "" || strings.HasPrefix(more, "> ") || strings.HasPrefix(more, "-- ") {
					break
				}
				said += "\n" + more
			}
			if !namesAStep(said) {
				t.Errorf("%s:%d: no next step in %s", filepath.Base(file), i+1, said)
			}
		}
	}
	if errors < 100 {
		t.Errorf("only %d errors were found: has the form of transcripts changed?", errors)
	}
}

func namesAStep(said string) bool {
	first, _, _ := strings.Cut(said, "\n")
	var envelope struct {
		Error struct{ Message, Hint string }
	}
	if json.Unmarshal([]byte(first), &envelope) == nil {
		return envelope.Error.Hint != "" || step.MatchString(envelope.Error.Message)
	}
	var object struct{ Error, Details, Stderr, Hint string }
	if json.Unmarshal([]byte(first), &object) == nil {
		return object.Hint != "" || step.MatchString(object.Error) || step.MatchString(object.Details) || step.MatchString(object.Stderr)
	}
	return step.MatchString(said)
}

// budget is what an answer that nothing was asked beyond may take.
const budget = 10 << 10

// TestAnswersFitTheirBudget asks each reading tool of the demonstration's repository, with as
// little as it takes.
func TestAnswersFitTheirBudget(t *testing.T) {
	t.Parallel()
	d := demo.New(t)
	all := full.Find(t.Context(), d.Env(), "").Serve(slog.New(slog.DiscardHandler))
	defer all.Close()
	arguments := map[string]string{
		"get_branch_metadata": `{"branch":"main"}`, "list_jira_issues": `{"project":"SHOP"}`, "show_item": `{"id":2}`, "search_items": `{"query":"log"}`,
		"search": `{"query":"commit"}`, "search_all": `{"query":"a"}`, "describe": `{"c1":"git","c2":"write","c3":"commit-message"}`, "execute": `{"agent":"climpt","c1":"git","c2":"write","c3":"commit-message"}`,
		"read_file": `{"path":"README.md"}`, "list_directory": `{"path":"."}`, "get_children": `{"id":1}`, "get_dependents": `{"id":2}`,
	}
	asked := 0
	for _, set := range all.Toolsets {
		for _, tool := range set.Tools {
			if !tool.Hints.ReadOnly && tool.Name != "execute" {
				continue
			}
			if tool.Name == "get_task" { // it answers about a run, and the demonstration has none
				continue
			}
			args := json.RawMessage("{}")
			if text, ok := arguments[tool.Name]; ok {
				args = json.RawMessage(text)
			}
			asked++
			result := tool.Call(t.Context(), args)
			if result.IsError {
				t.Errorf("%s: %v", tool.Name, result.Text)
			}
			if n := size(result); n > budget {
				t.Errorf("%s answers with %d bytes of at most %d", tool.Name, n, budget)
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d tools were asked", asked)
	}
}

// size returns the larger half of a result: hosts show a model one of the two.
func size(r toolset.Result) int {
	n := 0
	for _, text := range r.Text {
		n += len(text)
	}
	return max(n, len(r.Structured))
}
