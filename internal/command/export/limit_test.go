package export_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/export"
)

// prompt returns a command whose template has some quotes, which TOML doubles.
func prompt(word string, quotes int) export.Command {
	return export.Command{
		Agent: "climpt", Command: command.Command{ID: command.ID{C1: "git", C2: "write", C3: word}, Description: "d"},
		Prompt: func(context.Context, map[string]string) (string, error) { return strings.Repeat(`"`, quotes), nil },
	}
}

// A prompt that no file can hold keeps its old file, and blocks no other prompt.
func TestRefusedPrompt(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	gemini, err := export.ByName("gemini")
	if err != nil {
		t.Fatal(err)
	}
	at := func(word string) string { return filepath.Join(base, ".gemini", "commands", "git-write-"+word+".toml") }
	write := func(commands ...export.Command) *export.Plan {
		t.Helper()
		plan, err := export.New(t.Context(), gemini, base, commands)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Write(true); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	if n := write(prompt("b", 1)).Refused(); n != 0 {
		t.Errorf("%d refused", n)
	}
	before, err := os.ReadFile(at("b"))
	if err != nil {
		t.Fatal(err)
	}
	broken := prompt("c", 1)
	broken.Prompt = func(context.Context, map[string]string) (string, error) { return "", errors.New("a reason") }
	plan := write(prompt("a", 1), prompt("b", 600_000), broken)
	if n := plan.Refused(); n != 2 {
		t.Errorf("%d refused: %v", n, plan.Files)
	}
	if f := plan.Files[1]; f.State != export.Refused || !strings.HasPrefix(f.Problem, "the file would have 1200") || !strings.Contains(f.Problem, "the limit is 1048576") {
		t.Errorf("a large prompt: %s, %s", f.State, f.Problem)
	}
	if f := plan.Files[2]; f.State != export.Refused || f.Problem != "a reason" {
		t.Errorf("a prompt with an error: %s, %s", f.State, f.Problem)
	}
	if after, err := os.ReadFile(at("b")); err != nil || string(after) != string(before) {
		t.Errorf("the old file: %q, %v", after, err)
	}
	if _, err := os.Stat(at("a")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(at("c")); err == nil {
		t.Error("a refused prompt has a file")
	}
}

// A file above the limit, which an earlier version or a person wrote, blocks no other file.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	gemini, err := export.ByName("gemini")
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	at := func(word string) string { return filepath.Join(base, ".gemini", "commands", "git-write-"+word+".toml") }
	states := func(commands ...export.Command) (*export.Plan, string) {
		t.Helper()
		plan, err := export.New(t.Context(), gemini, base, commands)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range plan.Files {
			all = append(all, string(f.State))
		}
		return plan, strings.Join(all, " ")
	}
	write := func(commands ...export.Command) {
		t.Helper()
		plan, _ := states(commands...)
		if err := plan.Write(false); err != nil {
			t.Fatal(err)
		}
	}
	a, b := prompt("a", 1), prompt("b", 1)
	write(a, b)
	grown, err := os.ReadFile(at("a"))
	if err != nil {
		t.Fatal(err)
	}
	large := append(make([]byte, 5<<20), grown...)
	if err := os.WriteFile(at("a"), large, 0o600); err != nil {
		t.Fatal(err)
	}
	plan, got := states(a, b)
	if got != "edited current" {
		t.Errorf("a large file of a person: %s", got)
	}
	if err := plan.Write(true); err != nil {
		t.Errorf("with force: %v", err)
	}
	if text, err := os.ReadFile(at("a")); err != nil || string(text) != string(grown) {
		t.Errorf("with force, %d bytes, %v", len(text), err)
	}
	// Earlier versions wrote files of this size, with the mark.
	if err := os.WriteFile(at("a"), []byte(export.Marked(strings.Repeat("x", 2<<20))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got := states(a, b); got != "stale current" {
		t.Errorf("a large file of copse: %s", got)
	}
	removal, err := export.Removal(t.Context(), gemini, base)
	if err != nil {
		t.Fatal(err)
	}
	if err := removal.Write(false); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("a removal leaves %v, %v", left, err)
	}
}
