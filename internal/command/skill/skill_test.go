package skill_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/skill"
)

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word-", 20)
	var names skill.Names
	var got []string
	for _, words := range [][]string{
		{"git", "write", "commit-message"},
		{"git", "write-commit", "message"},
		{"Git", "Write", "Commit_Message"},
		{"--a--", "", "b/../c"},
		{"課題", "分割", "今"},
		{long, "a", "b"},
		{long, "a", "c"},
		{"\n", "\x00", "\u202e"},
	} {
		got = append(got, names.Of(words...))
	}
	want := []string{
		"git-write-commit-message", "git-write-commit-message-2", "git-write-commit-message-3", "a-b-c",
		"command-05a9a0bd", strings.TrimRight(long[:64], "-"), strings.TrimRight(long[:62], "-") + "-2", "command-",
	}
	for i := range want { // those without a letter have a digest for a name
		if strings.HasPrefix(want[i], "command-") {
			want[i] = got[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A name costs the same however many commands have an equal one.
func TestManyEqualNames(t *testing.T) { //nolint:paralleltest // counts allocations
	const commands, each = 2000, 50
	long := strings.Repeat("x", 60)
	for name, word := range map[string]func(i int) string{
		"one name":       func(int) string { return long + "xxxx" },
		"one beginning":  func(i int) string { return fmt.Sprintf("%s%04d", long, i/2) },
		"one short name": func(int) string { return "x" },
	} {
		allocations := testing.AllocsPerRun(1, func() {
			var names skill.Names
			for i := range commands {
				names.Of(word(i))
			}
		})
		if allocations > commands*each {
			t.Errorf("%s: %v allocations for %d names", name, allocations, commands)
		}
	}
}

// Equal names get the lowest free number.
func TestNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var names skill.Names
		taken := map[string]bool{}
		word := rapid.SampledFrom([]string{"a", "a-2", "a-10", strings.Repeat("b", 64), strings.Repeat("b", 62) + "-2", strings.Repeat("b", 61) + "-1", strings.Repeat("b", 61)})
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			w := word.Draw(t, "word")
			want := w
			for i := 2; taken[want]; i++ {
				suffix := fmt.Sprintf("-%d", i)
				want = strings.TrimRight(w[:min(len(w), 64-len(suffix))], "-") + suffix
			}
			taken[want] = true
			if got := names.Of(w); got != want {
				t.Fatalf("%q is named %q, want %q", w, got, want)
			}
		}
	})
}

// Whatever a registry says, a name is one that clients accept, and none comes twice.
func FuzzNames(f *testing.F) {
	f.Add("git", "write", "x")
	f.Add("a-", "-", "--b")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var names skill.Names
		first, second := names.Of(a, b, c), names.Of(a, b, c)
		rule := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
		for _, name := range []string{first, second} {
			if !rule.MatchString(name) || len(name) > 64 {
				t.Errorf("%q, %q and %q are called %q", a, b, c, name)
			}
		}
		if first == second {
			t.Errorf("two skills are called %q", first)
		}
	})
}

// The front matter is the name and the description, whatever is in them.
func FuzzDocument(f *testing.F) {
	f.Add("Say \"hello\" \\ <world>", "text")
	f.Add("a\n---\nname: other\n", "---\nx")
	f.Add("\u2028 \x7f \x00 {a}: [b] # c", "")
	f.Fuzz(func(t *testing.T, description, prompt string) {
		c := command.Command{ID: command.ID{C1: "a", C2: "b", C3: "c"}, Description: description}
		text := skill.Document("a-b-c", c, render.Result{Prompt: prompt, Missing: []string{"uv-x"}})
		_, rest, _ := strings.Cut(text, "---\n")
		head, _, ok := strings.Cut(rest, "\n---\n")
		var got map[string]string
		if err := yaml.Unmarshal([]byte(head), &got); err != nil || !ok {
			t.Fatalf("%v in\n%s", err, text)
		}
		want := map[string]string{"name": "a-b-c", "description": skill.Description(c)}
		if diff := cmp.Diff(want, got); diff != "" || len([]rune(want["description"])) > 1024 || want["description"] == "" {
			t.Errorf("%s\n%s", diff, text)
		}
		if !strings.HasSuffix(text, prompt) {
			t.Errorf("the instructions are not whole:\n%s", text)
		}
	})
}
